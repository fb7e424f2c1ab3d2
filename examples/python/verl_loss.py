"""verl_loss.py - objectives of OBJECTIVES.md in verl (written for verl 0.9.1): verl's registries get advantage estimators and policy losses
that are the library's.  Every row is there as grpo.h/ROW; the module is one that verl imports:

    VERL_USE_EXTERNAL_MODULES=verl_loss python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo.h/gspo \\
        actor_rollout_ref.actor.policy_loss.loss_mode=grpo.h/gspo ...

To change fields of a row, write a module, and name that one; what it registers is chosen as adv_estimator=wide and loss_mode=wide:

    import verl_loss
    verl_loss.register('wide', 'dapo', {'surrogate.eps_high': 0.3, 'aggregation.kind': 'token_mean'})

What verl hands over decides what can be computed; anything else is refused by name, and before a run by

    python3 examples/python/verl_loss.py [ROW [FIELD=VALUE ...]]        # what verl lacks for it, or for which rows nothing

- An advantage estimator gets rewards, masks and groups of all responses of the step.  The reward of a response is the sum over its tokens,
  with verl's KL if use_kl_in_reward.  A response ends at its last token that counts.  Those that verl adds to fill a batch are left out.
- A policy loss gets a micro-batch: logp, logp_old, mask, advantages, rollout_is_weights (weight.external policy), and of the whole
  mini-batch, over all ranks, two counts: of responses (ppo_mini_batch_size * rollout.n, fillers included) and of tokens (before
  rollout_rs rejects some), by which verl's own losses are divided too.  So gradient and loss are those of the mini-batch, however it is cut
  into micro-batches and ranks.  Not there: the groups, rewards, other counts (of tokens with A > 0 ...), segments, selections (Clip-Cov
  and KL-Cov choose among all tokens of the mini-batch).
- The loss of verl's actor has more than it passes on: call verl_loss.pass_on() in your module for logp_ref (use_kl_loss=True,
  kl_loss_coef=0), logp_rollout (rollout.calculate_log_probs=True), and entropy (actor.calculate_entropy=True), where verl computes them.
- A row's own rollout weights (truncate, mask, rejection) take pass_on, and no rollout_is of verl beside them.  What they reject has to stay
  in the divisor: weight.rollout_rejected=zero_weight, as in verl, or a mean over responses.  verl counts no tokens after a rejection, and
  adds up no weights: in place of weight.rollout_is_norm, algorithm.rollout_correction.rollout_is_batch_normalize hands over weights.
- verl adds its own KL (use_kl_loss) and entropy bonus (entropy_coeff) to any policy loss, divided as loss_agg_mode says.  A row with
  its own KL can leave it to that: {'penalty.kl': 'none', 'penalty.kl_coef': 0}.  Metrics are means over micro-batches.
"""
import dataclasses
import functools
import sys
from ctypes import byref
import torch
import gspo
import padded
from verl.trainer.config import AlgoConfig
from verl.trainer.ppo import core_algos
from verl.workers.config import ActorConfig

ADVANTAGES, LOSS = 'an advantage estimator', 'a policy loss'
GIVEN = {ADVANTAGES: {'reward', 'mask'}, LOSS: {'logp', 'logp_old', 'mask'}}
COUNTS = ('tokens', 'sequences', 'sequences_nonempty', 'groups', 'groups_nonempty', 'ranks', 'positive_tokens', 'positive_sequences',
          'nonzero_std_tokens', 'nll_tokens', 'preference_pairs', 'rollout_is_count')
for _k, _name in enumerate(COUNTS):
    gspo.check(padded.LIB, padded.LIB.grpo_layout_check(byref(gspo.Layout(b'grpo_totals', _name.encode(), 8 * _k, 8)), 1))
# options of verl that the objective takes the place of; the last two, unless verl's own KL or entropy bonus uses them
REPLACED = ('clip_ratio', 'clip_ratio_low', 'clip_ratio_high', 'clip_ratio_c', 'tau_pos', 'tau_neg', 'loss_agg_mode', 'loss_scale_factor')
REPLACED_ADVANTAGES = ('gamma', 'lam', 'norm_adv_by_std_in_grpo')
PASSED_ON = {}                                                          # arrays of the micro-batch at hand, after pass_on()


def has(obj, path, choice):
    other = type(obj).from_buffer_copy(obj)
    gspo.check(padded.LIB, padded.LIB.grpo_objective_choose(other, path.encode(), choice.encode()))
    return bytes(other) == bytes(obj)


def lacks(obj, hook, given):
    """What the objective reads that is not given."""
    if hook == ADVANTAGES:
        return sorted((padded.reads(obj, 0) | {'truncated'} & padded.reads(obj, 0, use=1)) - given)
    missing = sorted((padded.reads(obj, 1) | padded.reads(obj, 2)) - given)
    if padded.LIB.grpo_context_needs_groups(obj):
        missing.append('group_begin')
    if missing:
        return missing
    counted = counts(obj)                                               # a response with A > 0
    missing = [f'totals.{COUNTS[k]}' for k in range(padded.RANKS + 1, len(COUNTS)) if counted[k]]
    missing += ['totals.sequences_nonempty'] * has(obj, 'aggregation.empty_sequences', 'drop')
    return missing + ['totals.tokens, after a rejection'] * (rejects(obj) and divides_by_tokens(obj))


def counts(obj, q=0):
    """Of one token, of which logp_old is q above logp_rollout."""
    one, counted = torch.ones(1, 1), padded.zeros('grpo_totals')
    log_ratio = {'logp_old': min(q, 0) * one, 'logp_rollout': min(-q, 0) * one}
    padded.count(obj, 1, one, {name: log_ratio[name] for name in padded.reads(obj, 1)}, one, counted)
    return counted


def rejects(obj):
    """Does some probability of the sampler take a token out of the counts?  Bounds are intervals: one of these is outside, if any is."""
    return any(counts(obj, q)[0] == 0 for q in (0, 700, -700))


def divides_by_tokens(obj):
    """Does the loss of a token depend on how many there are, apart from rejection?"""
    obj, one, values = type(obj).from_buffer_copy(obj), torch.ones(1, 1), []
    for path in ('weight.rollout_is', 'weight.rollout_rs'):
        gspo.check(padded.LIB, padded.LIB.grpo_objective_choose(obj, path.encode(), b'none'))
    gspo.check(padded.LIB, padded.LIB.grpo_objective_set(obj, b'weight.rollout_veto', 0))
    arrays = {name: -(k + 1) * one for k, name in enumerate(('logp_old', 'logp_ref', 'logp_rollout')) if name in padded.reads(obj, 2)}
    for tokens in (2, 4):
        totals = torch.cat([torch.tensor([tokens, 2, 2, 2, 2, 1]), padded.zeros('grpo_totals')[padded.RANKS + 1:]])
        values.append(padded.loss(obj, 1, one, arrays, one, -one, one, totals))
    return values[0] != values[1]


HELP = {'logp_rollout': 'call pass_on(), with rollout.calculate_log_probs=True', 'logp_ref': 'call pass_on(), with use_kl_loss=True',
        'entropy': 'call pass_on(), with actor.calculate_entropy=True',
        'selected': 'it is chosen among all tokens of the mini-batch, of which verl gives a part',
        'kl_mask': 'it is chosen among all tokens of the mini-batch, of which verl gives a part',
        'totals.rollout_is_count': "leave weight.rollout_is_norm and rollout_is to verl's rollout_correction",
        'totals.tokens, after a rejection': 'choose weight.rollout_rejected=zero_weight, or a mean over responses'}


def refuse(name, obj, hook, given, config, default, options):
    missing = lacks(obj, hook, given)
    if missing:
        how = '; '.join(f'{x}: {HELP[x]}' for x in missing if x in HELP) or 'see the first lines of verl_loss.py'
        raise ValueError(f'{name} reads {", ".join(missing)}, which verl does not give to {hook} ({how})')
    default = {f.name: f.default for f in dataclasses.fields(default)}
    changed = [x for x in options if config is not None and config.get(x, default[x]) != default[x]]
    if changed:
        raise ValueError(f'{name} takes the place of {", ".join(changed)}: change fields of it instead')


def advantage_estimator(name, obj, token_level_rewards, response_mask, index, config=None, **_):
    """verl's hook: of all responses of the step, in any order; index: the group of each."""
    refuse(name, obj, ADVANTAGES, GIVEN[ADVANTAGES], config, AlgoConfig, REPLACED_ADVANTAGES)
    number, mask = {}, response_mask.bool().cpu()
    filler = [str(uid).startswith('pad') and not row.any() for uid, row in zip(index, mask)]    # verl's uids are hexadecimal numbers
    group = [number.setdefault(uid, len(number)) for uid in index]
    order = sorted((i for i in range(len(group)) if not filler[i]), key=group.__getitem__)
    begin = [k for k, i in enumerate(order) if k == 0 or group[i] != group[order[k - 1]]] + [len(order)]
    arrays = {'mask': mask[order], 'reward': token_level_rewards.sum(1)[order]}
    advantage = torch.zeros_like(token_level_rewards)
    advantage[order] = padded.advantages(obj, begin, responses(mask[order]), arrays).to(advantage)
    return advantage, advantage


def responses(mask):
    """1 from column 0 to the last token that counts."""
    return mask.flip(1).cumsum(1).flip(1) > 0


# pylint: disable-next=unused-argument
def policy_loss(name, obj, old_log_prob, log_prob, advantages, response_mask, loss_agg_mode=None, config=None, rollout_is_weights=None):
    """verl's hook: the share of a micro-batch in the loss of its mini-batch, times dp_size, by which FSDP divides gradients."""
    arrays, info = {'mask': response_mask, 'logp_old': old_log_prob, **PASSED_ON}, config.global_batch_info
    own = config.get('use_kl_loss') or config.get('entropy_coeff')
    refuse(name, obj, LOSS, {'logp', *arrays}, config, ActorConfig, REPLACED[:-2 if own else None])
    entropy = arrays.pop('entropy', None)
    if entropy is not None and 'entropy' not in padded.reads(obj, 2):   # for the report only
        entropy = entropy.detach()
    unknown = [x for x in ('dp_size', 'batch_num_tokens', 'global_batch_size') if info.get(x) is None]
    if unknown:
        raise ValueError(f'{name} is of the whole mini-batch, of which verl does not give {", ".join(unknown)} here')
    totals, partial = padded.zeros('grpo_totals'), padded.zeros('grpo_partial')
    totals[:padded.RANKS + 1] = torch.tensor([info['batch_num_tokens'], *[info['global_batch_size']] * 4, info['dp_size']])
    if rollout_is_weights is not None:
        if not has(obj, 'weight.rollout_is', 'none'):
            raise ValueError(f'{name} has rollout weights of its own: leave algorithm.rollout_correction.rollout_is null')
        obj, arrays['external_weight'] = type(obj).from_buffer_copy(obj), rollout_is_weights
        gspo.check(padded.LIB, padded.LIB.grpo_objective_choose(obj, b'weight.external', b'policy'))
    value = padded.loss(obj, 1, responses(response_mask), arrays, advantages, log_prob, entropy, totals, partial)
    found = padded.report(partial)
    return value, {'actor/pg_clipfrac': found.clip_fraction, 'actor/pg_clipfrac_lower': found.clip_fraction_dual,
                   'actor/ppo_kl': found.approx_kl_k1, 'actor/ess': found.ess}


def register(name, row, fields=()):
    """adv_estimator=NAME and loss_mode=NAME: a row of OBJECTIVES.md with some fields changed."""
    obj = padded.objective(row, fields)
    core_algos.register_adv_est(name)(functools.partial(advantage_estimator, name, obj))
    core_algos.register_policy_loss(name)(functools.partial(policy_loss, name, obj))


def pass_on():
    """Replaces verl's ppo_loss by one that calls it, and keeps for policy_loss what it does not pass on."""
    if 'verl.workers.engine_workers' in sys.modules:
        raise RuntimeError('verl has taken its loss already: call pass_on in a module of VERL_USE_EXTERNAL_MODULES')
    from verl.workers.utils import losses
    its = losses.ppo_loss

    @functools.wraps(its)
    def ppo_loss(config, model_output, data, dp_group=None):
        names = {theirs: name for theirs, name in (('ref_log_prob', 'logp_ref'), ('rollout_log_probs', 'logp_rollout')) if theirs in data}
        rows = data.select(*names).to_padded_tensor()
        PASSED_ON.update({name: rows[theirs] for theirs, name in names.items()})
        if model_output.get('entropy') is not None:
            PASSED_ON['entropy'] = losses.no_padding_2_padding(model_output['entropy'], data)
        try:
            return its(config, model_output, data, dp_group)
        finally:
            PASSED_ON.clear()
    losses.ppo_loss = ppo_loss
    GIVEN[LOSS] |= {'logp_ref', 'logp_rollout', 'entropy'}


def main(arguments):
    fields = dict(pair.split('=') for pair in arguments[1:])
    fields = {path: float(x) if x[-1].isdigit() and x[0] in '-.0123456789' else x for path, x in fields.items()}
    if arguments:
        found = {hook: lacks(padded.objective(arguments[0], fields), hook, GIVEN[hook]) for hook in GIVEN}
        for hook, missing in found.items():
            print(f'{arguments[0]} as {hook}: ' + ('lacks ' + ', '.join(missing) if missing else 'ready'))
        return any(found.values())
    rows = {name: padded.objective(name) for name in padded.rows()}
    for hook, given in GIVEN.items():
        ready = [name for name, obj in rows.items() if not lacks(obj, hook, given)]
        print(f'{len(ready)} of {len(rows)} rows as {hook}:', *ready)
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
for _name in padded.rows():
    register('grpo.h/' + _name, _name)
