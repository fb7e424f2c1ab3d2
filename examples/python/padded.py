"""padded.py - the objectives with PyTorch, from padded tensors: the library does advantages, loss and d loss / d logp by ctypes, PyTorch
the rest, here from logits in bfloat16.  Checks itself against GSPO written in PyTorch, and the parts of a batch against the whole.  Needs
torch and a C compiler.  trl_loss.py and verl_loss.py put it into trainers.

    python3 examples/python/padded.py
"""
import sys
import warnings
from ctypes import POINTER, Structure, byref, c_char_p, c_double, c_int, c_int64, c_size_t, c_void_p, create_string_buffer
import torch
import gspo



class Finding(Structure):                        # grpo_objective_finding
    _fields_ = [('rule', c_int), ('level', c_int), ('status', c_int64), ('what', c_char_p), ('value', c_double), ('other', c_double),
                ('row', c_int)]


LIB, OBJECTIVE, BATCH, OUTPUT = gspo.library(), c_void_p, POINTER(gspo.Batch), POINTER(gspo.Output)
for _name, _arguments in {
        'grpo_objective_choose': [OBJECTIVE, c_char_p, c_char_p], 'grpo_objective_set': [OBJECTIVE, c_char_p, c_double],
        'grpo_totals_add': [OBJECTIVE, BATCH, c_void_p, c_void_p], 'gspo_scratch': [OBJECTIVE, BATCH],
        'gspo_loss_add': [OBJECTIVE, BATCH, c_void_p, c_void_p, OUTPUT, c_void_p], 'grpo_partial_merge': [c_void_p, c_void_p],
        'grpo_partial_report': [c_void_p, POINTER(gspo.Report)], 'grpo_context_needs_groups': [OBJECTIVE],
        'grpo_context_array_use': [OBJECTIVE, c_int, c_char_p]}.items():
    getattr(LIB, _name).argtypes = _arguments
    getattr(LIB, _name).restype = c_int if 'context' in _name else c_int64
LIB.grpo_lint_objective.argtypes = [OBJECTIVE, BATCH, POINTER(Finding), c_int]
LIB.grpo_objective_finding_message.argtypes = [POINTER(Finding), c_char_p, c_size_t]
LIB.grpo_objective_finding_message.restype = c_char_p
LIKELY, MOST = 1, 256                           # GRPO_LINT_LIKELY, GRPO_LINT_OBJECTIVE_MOST
LIB.grpo_presets.argtypes, LIB.grpo_presets.restype = [POINTER(c_int)], POINTER(c_char_p)
RANKS = 5                                        # totals[RANKS]: over how many ranks the gradients will be averaged
gspo.check(LIB, LIB.grpo_layout_check(byref(gspo.Layout(b'grpo_totals', b'ranks', 8 * RANKS, 8)), 1))
FLOAT = torch.float32                           # the library's element; torch's default may be another
PER_ROW, PER_GROUP = ('reward', 'truncated', 'excluded'), ('baseline', 'log_partition')
INTEGERS = dict.fromkeys(('mask', 'selected', 'kl_mask', 'nll_mask', 'marked', 'shaping_mask', 'step_end', 'segment_end', 'truncated',
                          'excluded'), torch.uint8) | dict.fromkeys(('state', 'token_id'), torch.int64)


def rows():
    """The names of OBJECTIVES.md."""
    count = c_int()
    presets = LIB.grpo_presets(byref(count))
    return [presets[4 * k].decode() for k in range(count.value)]        # of four strings each, the name first


def paths(fields):
    """{'surrogate': {'eps_high': 0.3}}, as the test vectors write it, or {'surrogate.eps_high': 0.3}: the latter."""
    return {path: x for axis, of in dict(fields).items() for path, x in
            ({f'{axis}.{name}': x for name, x in of.items()} if isinstance(of, dict) else {axis: of}).items()}


def objective(name, fields=()):
    """A row of OBJECTIVES.md with some fields changed: {'surrogate.eps_high': 0.3, 'weight.truncated': 'mask'}; or, in place of its name,
    all that is not the first choice or 0: {'surrogate': {'kind': 'ppo_clip', ...}, ...}.  Warns of changes without effect."""
    obj = (c_int64 * (LIB.grpo_sizeof(b'grpo_objective') // 8))()
    status = {name: LIB.grpo_objective_named(name.encode(), obj)} if isinstance(name, str) else {}
    given = paths(fields if status else {**paths(name), **paths(fields)})
    for path, x in given.items():
        status[f'{path}={x}'] = (LIB.grpo_objective_choose(obj, path.encode(), x.encode()) if isinstance(x, str) else
                                 LIB.grpo_objective_set(obj, path.encode(), x))
    for asked, found in status.items():
        if found:
            raise ValueError(f'{asked}: {gspo.message(LIB, found)}')
    for told in findings(obj, given):
        warnings.warn(told, stacklevel=2)
    return obj


def findings(obj, given):
    """What is probably a mistake, if fields were given; and which of those have no effect."""
    finding, text = (Finding * MOST)(), create_string_buffer(400)
    told = finding[:LIB.grpo_lint_objective(obj, None, finding, MOST)] if given else []
    return [LIB.grpo_objective_finding_message(byref(f), text, len(text)).decode() for f in told
            if f.level <= LIKELY or (f.what or b'').decode() in given]


def zeros(structure):
    """A 'grpo_totals' or 'grpo_partial'.  Totals of micro-batches and ranks are added up, as integers; partials are merged."""
    return torch.zeros(LIB.grpo_sizeof(structure.encode()) // 8, dtype=torch.int64)


def batch_of(group, response, arrays):
    """The batch, and the tensors it points into, which must live until the call returns.  response (rows, columns): 1 from the first to the
    last token of a response; group: responses of each prompt, or a list, where the groups begin, and the number of rows; arrays: members of
    grpo_batch, from any device."""
    response = response.int().cpu()
    rows, columns = response.shape
    begin = torch.tensor(group) if isinstance(group, list) else torch.arange(0, rows + 1, group)
    assert begin[-1] == rows, 'whole groups'
    first = response.argmax(1)
    length = (response * torch.arange(1, columns + 1)).amax(1) - first  # 0 in a row without a response
    held = {name: x.detach().to('cpu', INTEGERS.get(name, FLOAT)).contiguous() for name, x in arrays.items()}
    n = held['rewards'].shape[1] if 'rewards' in held else 0
    shape = {**dict.fromkeys(PER_ROW, (rows,)), **dict.fromkeys(PER_GROUP, (len(begin) - 1,)), 'rewards': (rows, n), 'reward_weight': (n,)}
    for name, x in held.items():
        assert x.shape == shape.get(name, (rows, columns)), name
    held.update(offset=first + columns * torch.arange(rows), length=length, group_begin=begin)
    numbers = {name: x.data_ptr() for name, x in held.items()}
    return gspo.Batch(n_groups=len(begin) - 1, n_tokens=rows * columns, n_rewards=n, **numbers), held


def advantages(obj, group, response, arrays):
    """Of whole groups, and of all that are sampled where the objective has statistics of the batch."""
    batch, held = batch_of(group, response, arrays)
    advantage = torch.zeros(response.shape, dtype=FLOAT)                # zeros: padding is not written
    gspo.check(LIB, LIB.grpo_advantages(obj, byref(batch), advantage.data_ptr()))
    del held
    return advantage


def count(obj, group, response, arrays, advantage, totals):
    """Adds the counts that the loss is divided by; they need no log-probabilities of the policy."""
    batch, held = batch_of(group, response, arrays)
    advantage = advantage.to('cpu', FLOAT).contiguous()
    assert advantage.shape == response.shape
    gspo.check(LIB, LIB.grpo_totals_add(obj, byref(batch), advantage.data_ptr(), totals.data_ptr()))
    del held


class Attached(torch.autograd.Function):
    """A number with its derivatives."""
    @staticmethod
    def forward(ctx, logp, entropy, number, dlogp, dentropy):
        ctx.save_for_backward(dlogp.to(logp), None if entropy is None else dentropy.to(entropy))
        return torch.tensor(number, device=logp.device, dtype=FLOAT)

    @staticmethod
    def backward(ctx, upstream):
        return *(None if x is None else (x * upstream).to(x) for x in ctx.saved_tensors), None, None, None


def loss(obj, group, response, arrays, advantage, logp, entropy=None, totals=None, partial=None):
    """The loss of a batch; with totals, in which all parts were counted, the share of a part: shares and their gradients are added up.
    entropy: if the objective reads it, or for the report.  partial: collects the report."""
    batch, held = batch_of(group, response, {**arrays, 'logp': logp, **({} if entropy is None else {'entropy': entropy})})
    own, dlogp, dentropy = zeros('grpo_partial'), *(torch.zeros(logp.shape, dtype=FLOAT) for _ in range(2))
    advantage = advantage.to('cpu', FLOAT).contiguous()
    assert advantage.shape == response.shape
    scratch = torch.empty(LIB.gspo_scratch(obj, byref(batch)), dtype=torch.float64)      # where the responses of a group are coupled
    out = gspo.Output(dlogp=dlogp.data_ptr(), dentropy=None if entropy is None else dentropy.data_ptr(), scratch=scratch.data_ptr(),
                      scratch_size=len(scratch))
    whole = None if totals is None else totals.data_ptr()
    gspo.check(LIB, LIB.gspo_loss_add(obj, byref(batch), advantage.data_ptr(), whole, byref(out), own.data_ptr()))
    del held
    if partial is not None:
        merge(partial, own)
    return Attached.apply(logp, entropy, report(own).loss, dlogp, dentropy)


def merge(into, partial):
    gspo.check(LIB, LIB.grpo_partial_merge(into.data_ptr(), partial.data_ptr()))


def report(partial):
    found = gspo.Report()
    LIB.grpo_partial_report(partial.data_ptr(), byref(found))
    return found


def reads(obj, reader, use=2):
    """The members of grpo_batch without which advantages (0), totals (1) or loss (2) refuse a batch; use=1: those that may be missing."""
    return {name for name, _ in gspo.Batch._fields_ if LIB.grpo_context_array_use(obj, reader, name.encode()) == use
            and name not in ('group_begin', 'offset', 'length')}


def in_torch(logp, logp_old, trained, reward, group, low=3e-4, high=4e-4):      # GSPO
    r = reward.view(-1, group)
    A = ((r - r.mean(1, True)) / r.std(1, keepdim=True)).nan_to_num(0, 0, 0).flatten()
    w = (torch.where(trained, logp - logp_old, 0.0).sum(1) / trained.sum(1)).exp()
    return torch.maximum(-w * A, -w.clamp(1 - low, 1 + high) * A).mean()


def in_parts(obj, group, response, arrays, advantage, logp, parts):
    """Loss and gradient of a batch cut into some rows each; group: 1, if they are any, and the objective allows that."""
    some = lambda rows: (response[rows], {name: x[rows] for name, x in arrays.items()}, advantage[rows])
    totals, partial, logp = zeros('grpo_totals'), zeros('grpo_partial'), logp.detach().requires_grad_()
    for rows in parts:
        count(obj, group, *some(rows), totals)
    for rows in parts:
        loss(obj, group, *some(rows), logp[rows], totals=totals, partial=partial).backward()
    return report(partial).loss, logp.grad


def main():
    torch.manual_seed(2)
    rows, columns, group, vocabulary = 8, 14, 4, 50
    place, begin, end = torch.arange(columns), torch.randint(1, 5, (rows, 1)), torch.randint(8, columns + 1, (rows, 1))
    response = (place >= begin) & (place < end)
    trained = response & ((place != begin + 1) | (begin % 2 == 0))      # in some responses the second token is a tool's
    token, reward = torch.randint(vocabulary, (rows, columns)), torch.rand(rows).round()
    response, trained, wrong, gspo_row = response[:, 1:], trained[:, 1:], 0, objective('gspo')       # of tokens 1 .., as logp is
    for dtype in (torch.float32, torch.bfloat16):
        logits, gradient, value, partial = (2 * torch.randn(rows, columns, vocabulary)).to(dtype), [], [], zeros('grpo_partial')
        for ours in (True, False):
            x = logits.clone().requires_grad_()
            logp = x.float().log_softmax(-1)[:, :-1].gather(2, token[:, 1:, None])[..., 0]
            logp_old = torch.where(response, logp + 0.001 * torch.sin(7 * place[1:]), float('nan')).detach()
            arrays = dict(logp_old=logp_old, reward=reward, mask=trained)
            A = advantages(gspo_row, group, response, arrays)
            value.append(loss(gspo_row, group, response, arrays, A, logp, partial=partial) if ours else
                         in_torch(logp, logp_old, trained, reward, group))
            value[-1].backward()
            gradient.append(x.grad.float())
        error = (gradient[0] - gradient[1]).abs().max() / gradient[1].abs().max()
        clipped = 100 * report(partial).clip_fraction
        print(f'{dtype}: loss {value[0]:.6f}, in PyTorch {value[1]:.6f}; {clipped:.0f} % of the tokens clipped')
        near = 1e-4 if dtype == torch.float32 else 2 ** -7                   # bfloat16: one rounding of a number next to the largest
        wrong += not (error < near and abs(value[0] - value[1]) < 1e-6 and gradient[1].any())

    whole, groups = [torch.arange(rows)], torch.arange(rows).split(group)
    for name, parts, size in (('gspo', torch.randperm(rows).split(3), 1), ('gvpo', groups, group)):
        obj = objective(name)
        A = advantages(obj, group, response, arrays)
        (one, d_one), (added, d_added) = (in_parts(obj, n, response, arrays, A, logp, p) for n, p in ((group, whole), (size, parts)))
        same = one == added and torch.equal(d_one, d_added) and bool(d_one.any())
        wrong += not same or LIB.grpo_context_needs_groups(obj) != (size > 1)
        print(f'{name} in {len(parts)} parts: ' + ('every bit' if same else 'other numbers'))

    entropy = torch.rand(response.shape).requires_grad_()
    loss(objective('gspo', {'penalty.entropy_coef': 0.5}), group, response, arrays, A, logp.detach(), entropy).backward()
    wrong += not torch.allclose(entropy.grad, -0.5 * trained / trained.sum(1, keepdim=True) / rows)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter('always')
        one, other = objective({'surrogate': {'kind': 'cispo', 'weight_max': 5}}), objective('reinforce', {'surrogate.weight_max': 5})
        objective('cispo', {'surrogate.weight_max': 0})
        objective('cispo', {'surrogate': {'eps_high': 0.3}})
    print(*(x.message for x in told), sep='\n')
    wrong += len(told) != 3 or 'weight_max is 0' not in str(told[1].message) or 'eps_high is 0.3' not in str(told[2].message)
    LIB.grpo_objective_choose(other, b'surrogate.kind', b'cispo')
    LIB.grpo_objective_choose(other, b'aggregation.kind', b'token_sum')
    wrong += bytes(one) != bytes(other)
    wrong += [reads(objective('grpo'), reader) for reader in (0, 1, 2)] != [{'reward'}, set(), {'logp', 'logp_old', 'logp_ref'}]
    return wrong


if __name__ == '__main__':
    sys.exit(main())
