#!/usr/bin/env python3
"""tampered.py CHANGE PROGRAM [ARGUMENT...]: an adapter that passes requests on to PROGRAM and changes its replies, for tests of the runner.
CHANGE is Python: statements about `reply` (a dict), `case` (None at the start) and `seq` (0 at the start)."""

import json
import subprocess
import sys


def main():
    change = compile(sys.argv[1], "CHANGE", "exec")
    program = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for line in sys.stdin:
        request = json.loads(line)
        program.stdin.write(line)
        program.stdin.flush()
        if request["cmd"] == "stop":
            break
        names = {"reply": json.loads(program.stdout.readline()), "case": request.get("case"), "seq": request.get("seq", 0)}
        exec(change, names)
        print(json.dumps(names["reply"]), flush=True)
    program.stdin.close()
    program.wait()


if __name__ == "__main__":
    main()
