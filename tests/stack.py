"""The maximal stack use of each entry point of the headers: gcc -fcallgraph-info=su reports the stack of every function and its calls; the
deepest path from each function that is not static must not exceed the promise.  A call through a pointer may reach any static function
that is not called by name.  Functions of the C library are leaves with a fixed allowance.

    python3 tests/stack.py [-v] [gcc options...]        prints the deepest paths; ends with "N passed, N failed" """
import os
import re
import subprocess
import sys
import tempfile

from support.counting import check, checked

POINTER = "__indirect_call"        # gcc's name for the target of a call through a pointer
MOST = 32 * 1024
LIBRARY = 256                      # bytes allowed for a function of the C library, and for one that gcc -Os has folded into an equal one


def call_graph(options):
    with tempfile.TemporaryDirectory() as folder:
        unit = os.path.join(folder, "headers.o")
        subprocess.run(["gcc", "-std=c99", *options, "-fcallgraph-info=su", "-c", "tests/support/headers.c", "-o", unit], check=True)
        with open(os.path.join(folder, "headers.ci")) as f:
            text = f.read()
    size, calls, known = {}, {}, set()
    for title, label in re.findall(r'node: { title: "([^"]*)" label: "([^"]*)"', text):
        used = re.search(r"(\d+) bytes", label)
        size[title] = int(used.group(1)) if used else LIBRARY
        if used:
            known.add(title)
    for source, target in re.findall(r'edge: { sourcename: "([^"]*)" targetname: "([^"]*)"', text):
        calls.setdefault(source, set()).add(target)
    called = {target for targets in calls.values() for target in targets}
    is_static = {title for title in known if ":" in title}
    calls[POINTER] = {title for title in is_static if title not in called}
    size[POINTER] = 0
    return size, calls, known - is_static


def deepest(size, calls):
    """function -> (bytes, path).  The few recursive functions recurse once: a second call is counted, no third."""
    done = {}

    def way(function, above):
        if function in done:
            return done[function]
        below = (0, ())
        for g in calls.get(function, ()):
            if above.count(g) < (1 if g == POINTER else 2):
                below = max(below, way(g, above + (function,)))
        result = size.get(function, LIBRARY) + below[0], (function,) + below[1]
        if function not in above:
            done[function] = result
        return result
    return lambda function: way(function, ())


def main():
    arguments = sys.argv[1:]
    verbose = "-v" in arguments
    options = [a for a in arguments if a != "-v"]
    size, calls, entries = call_graph(options)
    way = deepest(size, calls)
    ways = sorted((way(f) for f in entries), reverse=True)
    for total, path in ways:
        told = f"{total} bytes: " + " > ".join(f"{f.split(':')[-1]} {size.get(f, LIBRARY)}" for f in path)
        if check(f"more than {MOST} bytes of stack", total <= MOST, told) and verbose and total > MOST / 4:
            print(told)
    print(f"deepest: {ways[0][1][0]}, {ways[0][0]} bytes")


sys.exit(checked(main))
