"""Tests README.md: in a clone of this repository writes its files, runs its commands, and compares their output with what it shows.

    python3 tests/readme.py          ends with "N passed, N failed"

A mark above each block says what it is; a block without one fails, as does a README of more than 150 lines:
    <!-- file NAME -->   a file, written into the clone      <!-- run -->      commands, run one block after the other
    <!-- output -->      what the commands before it print   <!-- command 1 -->   as run, the first of the two commands
    <!-- command 2 -->   the tests themselves: not run here
"""
import os
import re
import subprocess
import sys
import tempfile
import time

from support.counting import check, checked

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir)
LONGEST = 150
BLOCK = re.compile(r"(?:^<!-- ([^\n]+?) -->\n)?^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run(what, commands, clone):
    start = time.monotonic()
    debian = {**os.environ, "PATH": "/usr/bin:" + os.environ["PATH"]}   # README names Debian's packages
    done = subprocess.run(["sh", "-ec", commands], cwd=clone, env=debian, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    print(f"{what} ({time.monotonic() - start:.0f} s): {commands.splitlines()[-1]}", flush=True)
    check(f"{what}: {commands}", done.returncode == 0, (done.stdout + done.stderr)[-2000:])
    return done.stdout


def main():
    with open(os.path.join(TOP, "README.md"), encoding="utf-8") as f:
        readme = f.read()
    check(f"README.md has at most {LONGEST} lines", readme.count("\n") <= LONGEST, readme.count("\n"))
    kinds = {mark.partition(" ")[0] for mark, _, _ in BLOCK.findall(readme)}
    check("README.md has blocks of every kind", kinds == {"file", "run", "output", "command"}, kinds)
    with tempfile.TemporaryDirectory() as folder:
        clone = os.path.join(folder, "clone")
        subprocess.run(["git", "clone", "-q", TOP, clone], check=True)
        printed = ""
        for mark, _, text in BLOCK.findall(readme):
            kind, _, name = mark.partition(" ")
            if kind == "file":
                with open(os.path.join(clone, name), "w", encoding="utf-8") as f:
                    f.write(text)
            elif kind == "run" or mark == "command 1":
                printed = run("README's commands", text, clone)
            elif kind == "output":
                check("what README shows is what its commands print", text == printed, f"shown:\n{text}printed:\n{printed[-2000:]}")
            elif mark != "command 2":
                check("a block that nothing tests", False, text)


if __name__ == "__main__":
    sys.exit(checked(main))
