# Tests loss_of, an implementation of GRPO and GSPO, on every case whose objective it knows: python3 check.py
import glob, json, math, sys

KNOWN = {"level token", "level sequence_mean", "kind ppo_clip", "kl k3", "kind seq_mean_token_mean"}
NUMBERS = {"eps_low", "eps_high", "kl_coef"}

def known(case):  # what an objective does not name is at its default; -inf log-probabilities need a rule of their own
    axes = [fields for axis, fields in case.get("objective", {}).items() if axis not in ("reward", "advantage")]
    fields, usual = [field for axis in axes for field in axis.items()], "kind" not in case and "NegInf" not in case["flags"]
    return usual and all(name in NUMBERS or f"{name} {value}" in KNOWN for name, value in fields)

def grow(f, x):
    return f(x) if x < 709.78 else math.inf  # Python's exp and expm1 raise

def loss_of(objective, batch, advantage):  # your implementation goes here
    sequence, beta = objective["ratio"]["level"] == "sequence_mean", objective.get("penalty", {}).get("kl_coef", 0)
    low, high = 1 - objective["surrogate"].get("eps_low", 0), 1 + objective["surrogate"].get("eps_high", 0)
    terms, dlogp = [], [[0.0] * length for length in batch["length"]]
    for i, row in enumerate(dlogp):
        active = [t for t in range(len(row)) if "mask" not in batch or batch["mask"][i][t]]  # other slots may hold "NaN"
        ratios = {t: batch["logp"][i][t] - batch["logp_old"][i][t] for t in active}
        n, through = max(len(active), 1), {}
        mean = math.fsum(ratios.values()) / n
        for t in active:
            A, w = advantage[i][t], grow(math.exp, mean if sequence else ratios[t])
            plain, clipped = -w * A if A else 0.0, -min(max(w, low), high) * A  # 0 times infinity is 0
            D = batch["logp"][i][t] - batch["logp_ref"][i][t] if beta else 0.0
            terms.append((max(plain, clipped) + beta * (grow(math.expm1, -D) + D)) / n / len(dlogp))
            through[t] = plain / n / len(dlogp) if plain >= clipped else 0.0
            row[t] = -beta * grow(math.expm1, -D) / n / len(dlogp)
        shared = math.fsum(through.values()) / n
        for t in active:
            row[t] += shared if sequence else through[t]
    return {"loss": math.fsum(terms), "dlogp": dlogp}

def numbers(answer):  # under the names of their places; "Infinity" and "-Infinity" are strings
    rows = enumerate(answer["dlogp"])
    return {"loss": float(answer["loss"]), **{f"dlogp[{i}][{t}]": float(x) for i, row in rows for t, x in enumerate(row)}}

def right(found, expected, scale):
    return found == expected or abs(found - expected) <= 64 * 2**-52 * scale + 5e-324 < math.inf

passed = failed = skipped = 0
for case in [case for path in sorted(glob.glob("../*.json")) for case in json.load(open(path)).get("cases", [])]:
    if not known(case):
        skipped += 1
        continue
    given = case["batch"].get("advantage") or case["expect"]["advantage"]
    found, expect, scale = map(numbers, (loss_of(case["objective"], case["batch"], given), case["expect"], case["scale"]))
    wrong = [f"{case['id']}: {at} {found[at]}, expected {x}" for at, x in expect.items() if not right(found[at], x, scale[at])]
    print(*wrong[:1], sep="", end="\n" if wrong else "")
    passed, failed = passed + (not wrong), failed + bool(wrong)
print(f"{passed} passed, {failed} failed, {skipped} skipped")
sys.exit(failed > 0 or passed == 0)
