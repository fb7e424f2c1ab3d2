"""The protocol of ../PROTOCOL.md, for adapters in Python: `serve` is the loop, an adapter is the function that it calls.

    serve(name, release, {"f64": numpy.float64}, ["loss", "dlogp"], answer)

`answer(case, real)` returns {"loss": ...}, nested lists of numbers with real infinities, or raises Skip("why").
"""
import json
import math
import os
import sys

# Import this before anything that might print: what others write to standard output goes to standard error from here on.
ANSWERS = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)


class Skip(Exception):
    """This program cannot express the case; the text says why."""


def plain(x):
    """What JSON can say: its infinities are strings."""
    if isinstance(x, dict):
        return {key: plain(value) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [plain(value) for value in x]
    if isinstance(x, bool):
        return x
    x = float(x)
    return x if math.isfinite(x) else "NaN" if math.isnan(x) else "Infinity" if x > 0 else "-Infinity"


def result_of(answer, case, real):
    try:
        return {"result": plain(answer(case, real))}
    except Skip as reason:
        return {"skip": str(reason)}
    except Exception as e:  # one bad case must not end the run
        return {"error": f"{type(e).__name__}: {e}".replace("\n", " ")}


def serve(name, release, precisions, outputs, answer):
    real = None
    for line in sys.stdin:
        request = json.loads(line)
        if request["cmd"] == "stop":
            return
        if request["cmd"] == "run":
            reply = {"seq": request["seq"], **result_of(answer, request["case"], real)}
        elif request["precision"] in precisions:
            real = precisions[request["precision"]]
            reply = {"version": 1, "name": name, "language": "python", "release": release, "precision": request["precision"], "outputs": outputs}
        else:
            reply = {"error": "only " + ", ".join(precisions)}
        print(json.dumps(reply), file=ANSWERS, flush=True)
