"""Cases and checks of distill_divergence."""
from fractions import Fraction

import reals
from functions.arithmetic import BANNED, real
from functions.comparing import TINY, cases_of, every, exactly, near, rational, values
from functions.critic import generalised_jsd
from functions.distill_divergence import KINDS, log_softmax, logs_of
from functions.registry import answers, cases, checks, exact
from reals import inf, mpf
from scenarios import Dice, binary32

def thrown_rows(seed, n, vocabulary, far=2):
    dice = Dice(seed)
    return [[dice.signed(0, far, 64) for _ in range(vocabulary)] for _ in range(n)]


def likeliest(row, k):
    return sorted(sorted(range(len(row)), key=lambda v: (-row[v], v))[:k])


def top_of(rows, k, temperature=1):
    """The k likeliest tokens of each row and their log-probabilities, as binary32: what a server of the teacher sends."""
    ids = [likeliest(row, k) for row in rows]
    logp = [log_softmax(logs_of(row, temperature)) for row in rows]
    return dict(ids=ids, teacher=[[binary32(float(logp[r][v])) for v in own] for r, own in enumerate(ids)])


PLAIN = dict(temperature=1, teacher_temperature=1, beta=0.5, tail="left_out", clip=0, logp_min=0, divergence_max=0)
STUDENT = [[0.5, -1, 2, 0.25, 0], [1, 0.75, -0.5, -2, 1.5], [-0.25, 0.5, 0, 3, -1]]
TEACHER = [[1, -0.5, 0.75, -2, 0.5], [1.25, 0.5, -1, 0, 1.5], [0, 0.25, -0.75, 1, 2]]
BOTH = dict(student=STUDENT, teacher=TEACHER, weight=[1, -0.5, 2])
TOP = {**BOTH, **top_of(TEACHER, 2)}
OWN_TOP = {**BOTH, "ids": [likeliest(row, 3) for row in STUDENT],
           "teacher": [[row[v] for v in likeliest(own, 3)] for own, row in zip(STUDENT, TEACHER)]}
BANS = dict(student=[[0.5, BANNED, 2, BANNED], [1, 0, 0.5, -1]], teacher=[[1, -0.5, 0, BANNED], [0.25, 1, BANNED, BANNED]],
            weight=[1, 0.5])


def of_the_vocabulary(distill):
    distill("forward", "KL(teacher || student) of three rows of logits", "forward")
    distill("reverse", "KL(student || teacher) of three rows of logits", "reverse")
    distill("half", "Jensen-Shannon divergence with beta 0.5: teacher and student have equal weight", "jensen_shannon")
    distill("quarter", "Jensen-Shannon divergence with beta 0.25: a quarter of the mixture is the teacher",
            "jensen_shannon", beta=0.25)
    distill("tenths", "Jensen-Shannon divergence with beta 0.9: nine tenths of the mixture are the teacher",
            "jensen_shannon", beta=0.9)
    distill("beta-0", "Jensen-Shannon divergence with beta 0: it is KL(teacher || student)", "jensen_shannon", beta=0)
    distill("beta-1", "Jensen-Shannon divergence with beta 1: it is KL(student || teacher)", "jensen_shannon", beta=1)
    for kind in KINDS:
        name = kind.replace("_", "-")
        distill(f"{name}-temperature", "student and teacher at a temperature of 2",
                kind, temperature=2, teacher_temperature=2, beta=0.25)
        distill(f"{name}-temperatures", "the student at temperature 0.5, the teacher at 1.5",
                kind, temperature=0.5, teacher_temperature=1.5, beta=0.75)
        distill(f"{name}-equal", "the teacher's logits are the student's plus 2: divergence and gradient are exactly 0",
                kind, beta=0.25,
                teacher=[[x + 2 for x in row] for row in STUDENT])
        distill(f"{name}-close", "teacher and student are nearly equal: divergences of 1e-9 and less", kind, beta=0.75,
                teacher=[[x + y * 2 ** -14 for x, y in zip(*rows)] for rows in zip(STUDENT, TEACHER)])
        distill(f"{name}-close-clip", "nearly equal, and a clip of 0.05, which no token reaches: as precise as without it", kind, clip=0.05,
                teacher=[[x + y * 2 ** -20 for x, y in zip(*rows)] for rows in zip(STUDENT, TEACHER)])
        distill(f"{name}-many", "a vocabulary of 60", kind, beta=0.25, student=thrown_rows(1, 2, 60), teacher=thrown_rows(2, 2, 60),
                weight=[0.5, 3])
        distill(f"{name}-masked", "the middle row is masked: its divergence and gradient are 0",
                kind, mask=[True, False, True], temperature=2,
                teacher_temperature=2)
        distill(f"{name}-one", "a vocabulary of one token: divergence and gradient are 0",
                kind, student=[[3]], teacher=[[-2]], weight=[1])
    distill("masked-anything", "a masked row bans every token, which would otherwise be refused: it is not read",
            "forward", mask=[True, False, True],
            student=[STUDENT[0], [BANNED] * 5, STUDENT[2]], teacher=[TEACHER[0], [BANNED] * 5, TEACHER[2]])
    distill("weight-0", "rows of weight 0: their gradient is 0, their divergence is returned", "reverse", weight=[0, 0, 1])


def at_the_edges(distill):
    distill("far", "logits hundreds apart: probabilities of e^-900", "jensen_shannon", student=[[0, -900, 3]], teacher=[[-800, 0, 1]],
            weight=[1])
    distill("far-forward", "the student gives the teacher's second likeliest token a probability of e^-63",
            "forward", student=[[0, -60, 3]], teacher=[[-50, 0, 1]], weight=[1])
    distill("banned", "tokens that are banned for the student, for the teacher or for both", "jensen_shannon", BANS)
    distill("forward-banned", "KL(teacher || student): a token that only the teacher bans costs nothing",
            "forward", BANS, student=[[0.5, 1, 2, BANNED], [1, 0, 0.5, -1]])
    distill("reverse-banned", "KL(student || teacher): a token that only the student bans costs nothing",
            "reverse", BANS, teacher=[[1, -0.5, 0, 2], [0.25, 1, 0, -1]])
    distill("forward-infinite", "KL(teacher || student): a token that only the student bans makes it infinite",
            "forward", BANS)
    distill("reverse-infinite", "KL(student || teacher): a token that only the teacher bans makes it infinite",
            "reverse", BANS)
    distill("reverse-infinite-bounded", "an infinite KL(student || teacher) bounded by 10: the gradient of its row is 0",
            "reverse", BANS, divergence_max=10)
    distill("apart", "no token is allowed on both sides: the entropy of beta, with a gradient of 0",
            "jensen_shannon", student=[[0.5, 1, BANNED]],
            teacher=[[BANNED, BANNED, 3]], beta=0.25, weight=[1])
    distill("clip", "clip 0.0625 as in OPSD: no token of KL(teacher || student) costs more", "forward", clip=0.0625)
    distill("reverse-clip", "clip 0.25: no token of KL(student || teacher) costs more", "reverse", clip=0.25)
    distill("half-clip", "clip 0.03125 of a token's Jensen-Shannon term: its two halves count as one",
            "jensen_shannon", clip=0.03125)
    distill("clip-wide", "a clip of 64, which no token reaches: as without a clip", "reverse", clip=64)
    distill("clip-infinite", "a token whose term is infinite costs the clip of 0.5", "forward", BANS, clip=0.5)
    distill("bounded", "rows with a divergence beyond 0.5 cost 0.5 and have no gradient", "forward", divergence_max=0.5)
    distill("not-negative", "an infinite divergence_max: rows may not be below 0, and have no upper bound",
            "reverse", divergence_max="Infinity")


def on_ids(distill):
    for kind in KINDS:
        name = kind.replace("_", "-")
        distill(f"{name}-left-out", "the teacher's top two tokens, the others left out (verl)", kind, TOP)
        distill(f"{name}-renormalised", "the student's top three tokens, both sides normalised over them (SDFT)", kind, OWN_TOP,
                tail="renormalised", beta=0.25, temperature=2, teacher_temperature=2)
        distill(f"{name}-bucket", "the teacher's top two tokens, and one bucket for all others (SDPO)",
                kind, TOP, tail="bucket", beta=0.75)
        distill(f"{name}-bucket-temperature", "the student at temperature 2, the teacher's log-probabilities at 1.5, with a bucket",
                kind,
                {**BOTH, **top_of(TEACHER, 3, Fraction(3, 2))}, tail="bucket", temperature=2)
        distill(f"{name}-bucket-everything", "the ids hold every token: the bucket has its minimum, 1 - e^-1e-7, on both sides",
                kind,
                {**BOTH, **top_of(TEACHER, 5)}, tail="bucket", beta=0.25)
        distill(f"{name}-bucket-bounded", "divergence_max 0.25: rows beyond it cost 0.25 and have no gradient",
                kind, TOP, tail="bucket", divergence_max=0.25)
        distill(f"{name}-floor", "logp_min -1.5: log-probabilities below it are raised to it",
                kind, {**BOTH, **top_of(TEACHER, 4)}, logp_min=-1.5)
        distill(f"{name}-bucket-clip", "clip 0.125: neither an id nor the bucket costs more", kind, TOP, tail="bucket", clip=0.125)
        distill(f"{name}-one-id", "a single id, normalised over itself: divergence and gradient are 0",
                kind, {**OWN_TOP, "ids": [[2], [0], [4]], "teacher": [[1], [0.5], [2]]},
                tail="renormalised")
        distill(f"{name}-left-out-close", "the teacher's log-probabilities are the student's, rounded: log p - log q cancels",
                kind, {**TOP, **top_of(STUDENT, 3)}, beta=0.25)
    distill("verl", "verl's settings: logp_min -10, rows between 0 and 10, one of them below 0",
            "forward", {**BOTH, **top_of(TEACHER, 3)}, logp_min=-10,
            divergence_max=10, student=[STUDENT[0], [1.25, 0.75, -3, 0, 1.5], [-8, 0.5, 0, 3, -13]])
    distill("left-out-negative", "the student is surer of the teacher's top two than the teacher: sums below 0", "forward", TOP,
            student=[[5, 1, 4, 0, 2], [4, 1, 0, 0, 4], [0, 1, 0, 4, 6]])
    distill("left-out-bounded", "sums below 0 with an infinite divergence_max: they are 0, without a gradient",
            "forward", TOP, student=[[5, 1, 4, 0, 2], [4, 1, 0, 0, 4], [0, 1, 0, 4, 6]],
            divergence_max="Infinity")
    distill("floor-banned", "tokens banned for the student are raised to logp_min: they cost, but have no gradient", "forward",
            {**TOP, "student": [[BANNED, -1, BANNED, 0.25, 0], STUDENT[1], STUDENT[2]]}, logp_min=-8)
    distill("bucket-nothing", "the teacher gives ids no probability: the bucket gets it", "forward",
            {**TOP, "teacher": [[BANNED, BANNED], [BANNED, -0.5], [-0.25, BANNED]]}, tail="bucket")
    distill("bucket-unlikely", "all tokens but the ids together have 1e-6, or less than the bucket's minimum of 1e-7",
            "reverse", tail="bucket", beta=0,
            rows=dict(student=[[8, 9, -6], [8, 9, -12]], ids=[[0, 1], [0, 1]], teacher=[[-1, -0.75], [-0.6875, -0.71875]], weight=[1, 1]))
    distill("top-many", "six ids of a vocabulary of 96, and the bucket (SDPO)", "jensen_shannon",
            {**top_of(thrown_rows(4, 2, 96, 4), 6), "student": thrown_rows(3, 2, 96, 4), "weight": [1, 0.25]}, tail="bucket")
    distill("ids-masked", "the ids of a masked row are not ascending: they are not read",
            "forward", {**TOP, "ids": [TOP["ids"][0], [4, 1], TOP["ids"][2]]},
            tail="renormalised", mask=[True, False, True])


@cases("distill_divergence")
def distill_divergence_cases(case):
    def distill(label, comment, kind, rows=BOTH, **other):
        case(label, comment, None, **{**PLAIN, **rows, "kind": kind, **other})

    of_the_vocabulary(distill)
    at_the_edges(distill)
    on_ids(distill)


# ---- checks

def ask(given, **other):
    return exactly("distill_divergence", **{**given, **other})


def divergences(given, **other):
    return values(ask(given, **other)["divergence"])


def paid(given):
    """sum of weight times divergence"""
    return sum((real(Fraction(w)) * x for w, x in zip(given["weight"], divergences(given)) if w), mpf(0))


def moved(given, r, v, step):
    rows = [list(row) for row in exact(given["student"])]
    rows[r][v] += step
    return {**given, "student": rows}


@checks("distill_divergence")
def check_slopes(check):
    h = Fraction(1, 10 ** 18)
    for label, given, _, found in every("distill_divergence"):
        if "dlogits" not in found:
            check(f"no slopes where a divergence is infinite: {label}", inf in values(found["divergence"]))
            continue
        V, slopes = len(given["student"][0]), values(found["dlogits"])
        for r, row in enumerate(given["student"]):
            own, read = slopes[V * r:V * r + V], given.get("mask", [True] * (r + 1))[r]
            check(f"a shift of all logits of a row changes nothing: {label}", near(sum(own), 0))
            for v in sorted({0, 1 % V, V // 2, V - 1}) if read else ():
                if row[v] != BANNED:
                    slope = (paid(moved(given, r, v, h)) - paid(moved(given, r, v, -h))) / (2 * real(h))
                    check(f"the slope: {label} row {r} token {v}", abs(slope - own[v]) < mpf(10) ** -20)
        check(f"what is banned has none: {label}", all(x == 0 for z, x in zip(sum(given["student"], []), slopes) if z == BANNED))


@checks("distill_divergence")
def check_against_vocabulary(check):
    """Of all tokens: the divergence of the critic's page, written apart; the other way round; any set that is everything."""
    for label, given, _, found in every("distill_divergence"):
        if "ids" in given or given["clip"] or given["divergence_max"] or "mask" in given:
            continue
        one = {**given, "temperature": 1, "teacher_temperature": 1}
        beta = {"forward": 0, "reverse": 1}.get(given["kind"], given["beta"])
        for z, t, value in zip(given["student"], given["teacher"], divergences(one)):
            other = generalised_jsd(exact(z), exact(t), Fraction(1), Fraction(beta))["value"].value
            check(f"as generalised_jsd: {label}", value == other or abs(value - other) < TINY)
        swapped = {**given, "student": given["teacher"], "teacher": given["student"], "temperature": given["teacher_temperature"],
                   "teacher_temperature": given["temperature"], "kind": "jensen_shannon", "beta": 1 - Fraction(beta)}
        check(f"student and teacher change places: {label}", all(
            x == y or near(x, y) for x, y in zip(values(found["divergence"]), divergences(swapped))))
        end = {**given, "kind": "jensen_shannon", "beta": beta}
        check(f"the ends of the mixtures are both directions: {label}", ask(end) == found)
        ids = [list(range(len(row))) for row in given["student"]]
        check(f"normalised over all tokens is all tokens: {label}", ask(given, ids=ids, tail="renormalised") == found)
        logp = [[rational(x) if x > -inf else BANNED for x in log_softmax(logs_of(row, Fraction(given["teacher_temperature"])))]
                for row in given["teacher"]]
        for tail in ("left_out", "bucket"):
            same = ask(given, ids=ids, tail=tail, teacher=logp, teacher_temperature=1)
            pairs = [(x.value, y.value) for key in found for x, y in zip(found[key], same[key])]
            check(f"all tokens as a set, {tail}: {label}", all(x == y or near(x, y) for x, y in pairs))


@checks("distill_divergence")
def check_sets(check):
    """A bucket sees no more than the whole does, and no less than nothing; a mixture no more than the entropy of beta."""
    for k in (1, 2, 3, 4):
        for kind in KINDS:
            whole = {**PLAIN, **BOTH, "kind": kind, "beta": 0.25}
            ids = [likeliest(row, k) for row in TEACHER]
            logp = [[rational(log_softmax(logs_of(row))[v]) for v in own] for row, own in zip(TEACHER, ids)]
            inside = {**whole, "ids": ids, "teacher": logp}
            full, lumped = divergences(whole), divergences(inside, tail="bucket")
            check(f"a bucket of {kind} sees less: {k}", all(0 <= x <= y + TINY for x, y in zip(lumped, full)))
            check(f"all of it where the rest is one token: {kind}", k != 4 or all(abs(x - y) < TINY for x, y in zip(lumped, full)))
    for label, given, _, found in every("distill_divergence"):
        b = Fraction(given["beta"])
        if given["kind"] == "jensen_shannon" and 0 < b < 1 and "ids" not in given:
            most = -sum(real(x) * reals.log(real(x)) for x in (b, 1 - b))
            check(f"at most the entropy of beta: {label}", all(0 <= x.value <= most + TINY for x in found["divergence"]))
    apart = divergences(next(given for label, given, _ in cases_of("distill_divergence") if label.endswith("-apart")))
    check("it is that where no token is in common", near(apart[0], real(Fraction(1, 4)) * reals.log(4) + real(Fraction(3, 4)) * reals.log(
        real(Fraction(4, 3)))))


def bernoulli(p):
    return [rational(reals.log(real(p))), rational(reals.log(real(1 - p)))]


@checks("distill_divergence")
def check_bernoulli(check):
    """Two tokens, a half against a quarter, by hand; the tail of one id likewise."""
    q, p, log = Fraction(1, 4), Fraction(1, 2), lambda x: reals.log(real(Fraction(x)))
    pair = {**PLAIN, "student": [bernoulli(q)], "teacher": [bernoulli(p)], "weight": [1], "beta": Fraction(1, 2)}
    hand = {"forward": log(2) / 2 + log(Fraction(2, 3)) / 2, "reverse": log(Fraction(1, 2)) / 4 + 3 * log(Fraction(3, 2)) / 4,
            "jensen_shannon": sum(w * log(x) / 8 for w, x in ((2, Fraction(4, 3)), (2, Fraction(4, 5)), (1, Fraction(2, 3)),
                                                               (3, Fraction(6, 5))))}
    first = {"forward": log(2) / 2, "reverse": log(Fraction(1, 2)) / 4,
             "jensen_shannon": log(Fraction(4, 3)) / 4 + log(Fraction(2, 3)) / 8}
    one = {**pair, "ids": [[0]], "teacher": [bernoulli(p)[:1]]}
    for kind in KINDS:
        check(f"two tokens, {kind}", near(divergences(pair, kind=kind)[0], hand[kind]))
        check(f"the first alone, {kind}", near(divergences(one, kind=kind)[0], first[kind]))
        check(f"the first and the rest, {kind}", near(divergences(one, kind=kind, tail="bucket")[0], hand[kind]))
        check(f"the first by itself is sure, {kind}", divergences(one, kind=kind, tail="renormalised")[0] == 0)
    slope = values(ask(pair, kind="forward")["dlogits"])
    check("the slope of the forward one is q - p", near(slope[0], q - p) and near(slope[1], p - q))
    clipped = ask(pair, kind="forward", clip=Fraction(1, 4))
    check("a term beyond the clip is the clip", near(clipped["divergence"][0].value, Fraction(1, 4) + log(Fraction(2, 3)) / 2))
    check("and only the other one pulls", near(clipped["dlogits"][1].value, -p + p * (1 - q)))
    warm = ask({**pair, "student": [[2 * x for x in bernoulli(q)]], "teacher": [[3 * x for x in bernoulli(p)]]}, kind="reverse",
               temperature=2, teacher_temperature=3)
    cold = ask(pair, kind="reverse")
    check("logits over their temperature", near(warm["divergence"][0].value, cold["divergence"][0].value)
          and near(2 * warm["dlogits"][0].value, cold["dlogits"][0].value))


@checks("distill_divergence")
def check_bounds(check):
    named = {label: (given, found) for label, given, _, found in every("distill_divergence")}
    case = lambda name: named[f"distill_divergence-{name}"]
    for kind in KINDS:
        given, _ = case(f"{kind.replace('_', '-')}-equal")
        check(f"the same is exactly 0: {kind}", all(x == 0 for found in answers("distill_divergence", given)[0].values() for x in found))
        given, found = case(f"{kind.replace('_', '-')}-masked")
        check(f"padding is exactly 0: {kind}", found["divergence"][1] == (0, 0) and set(found["dlogits"][5:10]) == {(0, 0)})
    wide, plain = case("clip-wide")[1], case("reverse")[1]
    check("a clip that nothing reaches is none", wide["divergence"] == plain["divergence"] and wide["dlogits"] == plain["dlogits"])
    check("a sum below 0 exists", min(values(case("left-out-negative")[1]["divergence"])) < 0)
    check("and is 0 where it may not", min(values(case("left-out-bounded")[1]["divergence"])) == 0)
    bounded = values(case("reverse-infinite-bounded")[1]["divergence"])
    check("a bound holds infinities", 0 < bounded[0] < bounded[1] == 10)
    check("so does the clip", max(values(case("clip-infinite")[1]["divergence"])) < inf)
