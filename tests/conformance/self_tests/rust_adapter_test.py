#!/usr/bin/env python3
"""rust_adapter_test.py CONFORM VECTORS ADAPTER: builds adapter.rs with cargo, without network, and runs its rows; skipped (exit status 77)
where cargo or serde_json (Debian: librust-serde-json-dev) is missing."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

from kit import check, checked

CRATES = "/usr/share/cargo/registry"
PROJECT = '[package]\nname = "adapter"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\nserde_json = "1"\n'
SOURCE = f'[source.crates-io]\nreplace-with = "debian"\n[source.debian]\ndirectory = "{CRATES}"\n'
ROWS = (("grpo", 69), ("gspo", 36))  # answered at least


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def main():
    conform, vectors, adapter = map(os.path.abspath, sys.argv[1:4])
    crates = os.listdir(CRATES) if os.path.isdir(CRATES) else []
    if not shutil.which("cargo") or not any(name.startswith("serde_json-") for name in crates):
        print(f"skipped: cargo, or serde_json in {CRATES} (Debian: librust-serde-json-dev), is not here")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as directory:
        write(os.path.join(directory, "Cargo.toml"), PROJECT)
        write(os.path.join(directory, ".cargo", "config.toml"), SOURCE)
        os.makedirs(os.path.join(directory, "src"))
        shutil.copy(adapter, os.path.join(directory, "src", "main.rs"))
        subprocess.run(["cargo", "build", "--offline", "--quiet", "--target-dir", "target"], cwd=directory, check=True)
        for row, least in ROWS:
            program = os.path.join(directory, "target", "debug", "adapter")
            done = subprocess.run([conform, "--vectors", vectors, "--only", f"{row}-*", "--", program], capture_output=True, text=True)
            passed = re.search(r"^(\d+) passed, 0 failed", done.stdout, re.M)
            check(row, not done.returncode and passed and int(passed[1]) >= least, done.stdout[-2000:] + done.stderr[-500:])


if __name__ == "__main__":
    sys.exit(checked(main))
