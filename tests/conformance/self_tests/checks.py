"""Checks that count, as check.h has them in C: a test ends with sys.exit(summary()), which prints "N passed, N failed"."""
import os

HERE = os.path.dirname(os.path.abspath(__file__))
KIT = os.path.dirname(HERE)                 # adapters, profiles, results, the runner
ADAPTERS = os.path.join(KIT, "adapters")
counts = {True: 0, False: 0}


def check(what, ok, found=""):
    counts[bool(ok)] += 1
    if not ok:
        print(f"FAIL {what}: {found}", flush=True)


def summary():
    print(f"{counts[True]} passed, {counts[False]} failed")
    return counts[False] > 0
