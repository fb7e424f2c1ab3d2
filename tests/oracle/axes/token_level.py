"""Changes of the advantages of tokens after the credit: token baseline, entropy, teacher, marks, bounds."""

from autodiff import clamp
from axes.pool import Pool
from axes.sized import NOTHING, Sized, mean, sign_of, total
from limits import ONE, ZERO, Undefined, bound, exp, is_infinite, less, limit
from reals import mpf


def finite(x):
    if is_infinite(x):
        raise Undefined("an advantage made of infinities")
    return x


# ---- baseline of the token

def energies(sequence):
    """{token: W_t = sum over active j <= t of 1 - 2 p_j + sum_v p_jv^2}, the squared norm of the score up to t"""
    W, result = ZERO, {}
    for t in sequence.unmasked:
        W = W + 1 - 2 * limit(exp(t.o)) + t.sum_pi_squared
        result[t] = W
    return result


def optimal(found, batch, least=1):
    # OTB (2602.07078): B_t = sum_i A_it W_it / sum_i W_it over the responses of the prompt with an active token t, at least `least` of them
    result = {}
    for g in range(batch.groups):
        group = [s for s in batch.sequences if s.group == g]
        W = {t: w for s in group for t, w in energies(s).items()}
        for position in {t.t for t in W}:
            here = [t for t in W if t.t == position]
            weight = sum((W[t] for t in here), ZERO)
            b = total(found[t].times(W[t]) for t in here).times(ONE / weight) if weight != 0 else NOTHING
            result.update({t: found[t] if len(group) == 1 or len(here) < least else found[t] - b for t in here})
    return result


def optimal_shared(found, batch):
    # verl's handle_zero_tail: B = 0 beyond the second longest response of the prompt
    return optimal(found, batch, 2)


TOKEN_BASELINE = {"none": lambda found, batch: found, "optimal": optimal, "optimal_shared": optimal_shared}


# ---- entropy

def no_entropy(choice, found, items):
    return found


def bonus(choice, found, items):
    # 2506.14758: A_t + min(alpha H_t, |A_t| / kappa), H detached
    alpha, cap = mpf(choice["entropy_coef"]), mpf(choice["entropy_kappa"])
    result = {}
    for t, a in found.items():
        full, most = Sized(alpha * finite(t.entropy)), Sized(abs(a.settled()) / cap, a.size / cap)
        result[t] = a + (most if less(most.value, full.value) else full)
    return result


def zero_variance(choice, found, items):
    # RL-ZVP (2509.21880) eq. 5: alpha H_t for right answers, -alpha (max_k H_k - H_t) for wrong ones
    alpha, pool = mpf(choice["entropy_coef"]), Pool([i for i in items if choice["excluded"] == "none" or not i.sequence.outside])
    result = dict(found)
    for item in items:
        tokens = item.sequence.unmasked
        if not tokens or not pool.equal(item.sequence.group):
            continue
        top = max(finite(t.entropy) for t in tokens)
        right = sign_of(item.worth) > 0
        result.update({t: Sized(alpha * t.entropy if right else -alpha * (top - t.entropy)) for t in tokens})
    return result


def relative(choice, found, items):
    # textpolicy: A max(0, 1 + beta (H / mean H - 1))
    beta, mean_H = mpf(choice["entropy_coef"]), mean([Sized(finite(t.entropy)) for t in found]).value if found else ZERO
    if mean_H == 0:
        return found
    result = {}
    for t, a in found.items():
        r = t.entropy / mean_H
        result[t] = Sized(a.settled() * max(ZERO, 1 + beta * (r - 1)), a.size * (1 + abs(beta) * (abs(r) + 1)))
    return result


def of_response(choice, found, items):
    # GTPO (2508.03772): delta_i (A_i - gamma Hbar_i), delta_i = 1 where the mean entropy Hbar_i is at most ln 2
    coef, cap = mpf(choice["entropy_coef"]), mpf(choice["entropy_max"])
    result = {}
    for t, a in found.items():
        H = [finite(x.entropy) for x in t.sequence.unmasked]
        m = sum(H, ZERO) / len(H)
        result[t] = NOTHING if cap != 0 and less(cap, m) else a - Sized(coef * m)
    return result


ENTROPY = {"none": no_entropy, "bonus": bonus, "zero_variance": zero_variance, "relative": relative, "response": of_response}


# ---- a teacher

def above(t):
    """logp_teacher - logp_old"""
    return finite(t.teacher) - finite(t.o)


def trusted(choice, found):
    # RLSD (2604.03128) as ms-swift: A ((1 - s) + s clip((teacher / old)^sign(A), 1 - c, 1 + c))
    s, c = mpf(choice["teacher_share"]), mpf(choice["teacher_clip"])
    if s == 0:
        return found

    def factor(t, way):
        return (1 - s) + s * clamp(exp(way * above(t)), 1 - c, 1 + c)
    ways = {t: sign_of(a) for t, a in found.items()}
    return {t: a.times(factor(t, ways[t])) if ways[t] else a for t, a in found.items()}


def to_go(choice, tokens):
    """{token: sum over this and the later tokens of gamma^.. (teacher - old)}, MiniLLM (2306.08543); with `mean`, divided by the sum of
    gamma^.."""
    gamma, result, later, weights = mpf(choice["teacher_gamma"]), {}, NOTHING, ZERO
    for t in reversed(tokens):
        later, weights = Sized(above(t)) + later.times(gamma), ONE + weights * gamma
        result[t] = later.times(1 / weights) if choice["teacher_norm"] == "mean" else later
    return result


def taught(choice, found):
    """On-policy distillation: the reverse KL to the teacher at the sampled token."""
    coef = mpf(choice["teacher_coef"])
    if coef == 0:
        return found
    if choice["teacher_gamma"] == 0:
        return {t: a + Sized(coef * above(t)) for t, a in found.items()}
    terms = {}
    for sequence in {t.sequence: None for t in found}:
        terms.update(to_go(choice, sequence.unmasked))
    return {t: a + terms[t].times(coef) for t, a in found.items()}


def centred_kl(choice, found):
    # tinker-cookbook: c (mean of D - D), D = log-probability of the sampler over that of the base model
    coef = mpf(choice["kl_centred_coef"])
    if coef == 0 or not found:
        return found
    D = {t: Sized(finite(t.b) - finite(t.f)) for t in found}
    m = mean(list(D.values()))
    return {t: a + (m - D[t]).times(coef) for t, a in found.items()}


def fixed(value, a):
    # NeMo-RL: the tokens of a message get a fixed advantage
    return Sized(value)


def boost(value, a):
    # HICRA, as textpolicy: A + alpha |A| at planning tokens
    return Sized(a.settled() + value * abs(a.settled()), a.size * (1 + abs(value)))


MARKED = {"none": lambda value, a: a, "fixed": fixed, "boost": boost}


def marked(choice, found):
    mark, value = MARKED[choice["marked"]], mpf(choice["marked_value"])
    return {t: mark(value, a) if t.marked else a for t, a in found.items()}


def clamped(choice, found):
    low, high = bound(choice["clamp_low"]), bound(choice["clamp_high"])
    if low == 0 == high:
        return found
    return {t: Sized(clamp(a.settled(), low, high), a.size) for t, a in found.items()}


def adjusted(choice, found, items, batch):
    """{token: Sized}, from the advantages after the credit and whitening; items: those of the credit."""
    found = TOKEN_BASELINE[choice["token_baseline"]](found, batch)
    found = ENTROPY[choice["entropy"]](choice, found, items)
    for step in (trusted, taught, centred_kl, marked, clamped):
        found = step(choice, found)
    return found
