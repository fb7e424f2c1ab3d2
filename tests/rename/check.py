#!/usr/bin/env python3
"""check.py TREE [NAME...]: do the renamed oracle and the renamed vectors of a tree say the same? Mistakes (defects) are left out, for speed."""
import json, os, sys
sys.dont_write_bytecode = True
root = os.path.abspath(sys.argv[1])
sys.path.insert(0, os.path.join(root, "tests/oracle"))
os.chdir(os.path.join(root, "tests/oracle"))
import generate as g
def cases_of(name):
    if name in g.objectives.ROWS: return g.preset_cases(name)
    if name in g.OTHERS: return g.OTHERS[name]()
    return g.choice_cases(name if hasattr(g, "FILES") else name[len("choices-"):])
bad = 0
for name in sys.argv[2:] or g.names():
    with open(os.path.join(root, "tests/vectors", name + ".json")) as f:
        there = json.load(f)["cases"]
    found = [json.loads(json.dumps(g.thin(c))) for c in g.tidy(cases_of(name))]
    n = 0
    if len(there) != len(found):
        print(name, "cases", len(there), len(found)); bad += 1; continue
    for a, b in zip(there, found):
        for key in ("id", "objective", "batch", "expect", "scale", "function", "arguments", "parts", "logits", "target"):
            if a.get(key) != b.get(key):
                n += 1
                if n < 4:
                    x, y = a.get(key), b.get(key)
                    if isinstance(x, dict):
                        x, y = ({k: v for k, v in p.items() if q.get(k) != v} for p, q in ((x, y), (y, x)))
                    print(name, b["id"], key, str(x)[:300], "| oracle:", str(y)[:300])
    bad += n
    print(name, len(found), "cases", n, "differences", flush=True)
print(bad, "differences")
