#!/usr/bin/env python3
"""Makes explorer.html of explorer.c, policy.h, page.html and page.js: one file that needs no network.

    examples/explorer/build.py            writes it; needs clang, lld, wasi-libc and libclang-rt-14-dev-wasm32 (Debian packages)
    examples/explorer/build.py --check    is it made of what is there now?  Builds it again where that clang is, else compares checksums"""
import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
PAGE = os.path.join(HERE, "explorer.html")
INPUTS = ["grpo.h", "grpo_blocks.h", "grpo_rows.h", "gspo.h", "extra/grpo_context.h", "extra/grpo_shared.h",
          "extra/grpo_logits.h", "extra/grpo_shared_logits.h", "extra/grpo_shared_loops.h", "tests/framework_options/translate"] + [
    "examples/explorer/" + name for name in ("explorer.c", "policy.h", "page.html", "page.js", "build.py")]
TRANSLATE = [sys.executable, os.path.join(ROOT, "tests/framework_options/translate")]
COMPILE = ["clang", "--target=wasm32-wasi", "-std=c99", "-Os", "-mexec-model=reactor", "-DNDEBUG", "-Wl,--strip-all"]
# as a user writes them; what they come to is the translator's word
CONFIGURATIONS = [("trl", "loss_type = " + name) for name in ("grpo", "dr_grpo", "dapo", "bnpo", "cispo", "sapo", "luspo", "vespo")] + [
    ("trl", "loss_type = grpo\nimportance_sampling_level = sequence\nepsilon = 0.0003\nepsilon_high = 0.0004"),
    ("verl", ""), ("verl", "algorithm.adv_estimator = grpo"), ("verl", "algorithm.adv_estimator = rloo"),
    ("verl", "algorithm.adv_estimator = grpo\nactor_rollout_ref.actor.policy_loss.loss_mode = gspo"),
    ("verl", "algorithm.adv_estimator = grpo\nactor_rollout_ref.actor.use_kl_loss = true")]


def text(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def families():
    """[[title, rows], ...]: the sections of OBJECTIVES.md, and the rows of each in their order"""
    found = []
    for line in text("OBJECTIVES.md").split("## Arrays that rows need")[0].splitlines():
        row = re.match(r"\| ([a-z0-9+.-]+) \|(?: (?:[^|\\]|\\.)+\|){4}$", line)
        if line.startswith("##"):
            found.append([line.lstrip("# "), []])
        elif row and row[1] != "name" and row[1] not in found[-1][1]:                 # tables of settings name them again
            found[-1][1].append(row[1])
    return [family for family in found if family[1]]


def evidence():
    """{row: what it is, and which of its settings are somebody's restatement or were chosen here}, as its vectors say"""
    found = {}
    for _, rows in families():
        for row in rows:
            with open(os.path.join(ROOT, "tests", "vectors", row + ".json"), encoding="utf-8") as f:
                found[row] = re.search(r'"evidence": "([^"]*)"', f.readline())[1]
    return found


def checksum():
    parts = [text(path) for path in INPUTS] + [json.dumps(families()), json.dumps(evidence())]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def compiler():
    try:
        return subprocess.run(["clang", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    except FileNotFoundError:
        return "no clang"


def webassembly():
    """The bytes; None where a package lacks."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "explorer.wasm")
        try:
            done = subprocess.run([*COMPILE, os.path.join(HERE, "explorer.c"), "-o", out], capture_output=True, text=True, check=False)
        except FileNotFoundError:
            return None
        if done.returncode:
            print(done.stderr.strip().split("\n")[0], file=sys.stderr)
            return None
        with open(out, "rb") as f:
            return f.read()


def configurations():
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for framework, options in CONFIGURATIONS:
            path = os.path.join(folder, "options")
            with open(path, "w", encoding="utf-8") as f:
                f.write(options + "\n")
            done = subprocess.run([*TRANSLATE, "--framework", framework, *[path] * bool(options)],
                                  capture_output=True, text=True, check=False)
            if done.returncode == 0:
                words = options.replace("\n", ", ") or "defaults"
                found.append({"framework": framework, "options": words, "objective": json.loads(done.stdout)})
            else:
                raise SystemExit(f"{framework}: {options}: {done.stderr}")
    return found


def page(wasm):
    parts = {"@WASM@": base64.b64encode(wasm).decode(), "@CONFIGURATIONS@": json.dumps(configurations(), separators=(",", ":")),
             "@FAMILIES@": json.dumps(families(), separators=(",", ":")), "@EVIDENCE@": json.dumps(evidence(), separators=(",", ":")),
             "@SCRIPT@": text("examples/explorer/page.js").rstrip()}
    content = text("examples/explorer/page.html")
    for mark, part in parts.items():
        content = content.replace(mark, part)
    return f"{content}<!-- made by build.py with {compiler()} of {checksum()} -->\n"


def check():
    now = text("examples/explorer/explorer.html")
    wasm = webassembly() if f"with {compiler()} of" in now else None
    right = page(wasm) == now if wasm else checksum() in now
    if not right:
        print("FAIL: explorer.html is not made of these files: run examples/explorer/build.py")
    elif wasm:
        print("explorer.html is what build.py makes")
    else:
        print("explorer.html is made of these files (not built again: another clang, or no WebAssembly here)")
    print(f"{int(right)} passed, {int(not right)} failed")
    return not right


def main():
    if sys.argv[1:] == ["--check"]:
        return check()
    wasm = webassembly()
    if not wasm:
        raise SystemExit("needs the Debian packages clang lld wasi-libc libclang-rt-14-dev-wasm32")
    with open(PAGE, "w", encoding="utf-8") as f:
        f.write(page(wasm))
    return 0


if __name__ == "__main__":
    sys.exit(main())
