"""Checks that count, as check.h has them in C and counting.sh in shell:

    check(WHAT, OK, FOUND)    one check: passed if OK, else prints WHAT and what was found
    count(RIGHT, WRONG)       adds checks that were counted elsewhere
    attempt(TEST, ...)        calls the test; if it raises, that is a failed check, with where and why
    checked(TEST, ...)        attempts each, and prints the last line, "N passed, N failed": sys.exit(checked(main))

The exit status is 1 if a check failed, or if there was none."""
import traceback

passed = failed = 0


def count(right, wrong):
    global passed, failed
    passed, failed = passed + right, failed + wrong


def check(what, ok, found=None):
    """Whether it passed."""
    count(bool(ok), not ok)
    if not ok:
        print(f"FAIL {what}" if found is None else f"FAIL {what}: {found}", flush=True)
    return bool(ok)


def attempt(test, *arguments):
    try:
        return test(*arguments)
    except Exception:                              # not SystemExit, by which a script says that it is skipped
        check(" ".join(map(repr, [test, *arguments]))[:200], False, traceback.format_exc())


def summary():
    print(f"{passed} passed, {failed} failed", flush=True)
    return failed > 0 or passed == 0


def checked(*tests):
    for test in tests:
        attempt(test)
    return summary()
