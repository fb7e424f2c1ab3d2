"""padded.py - the objectives as a torch.autograd.Function, from padded tensors: the library does the loss and d loss / d logp by ctypes,
PyTorch the rest, here from logits in bfloat16.  Checks itself against GSPO written in PyTorch.  Needs torch and a C compiler.

    python3 examples/python/padded.py
"""
import sys
from ctypes import byref, c_int64
import torch
import gspo

LIB = gspo.library()


def objective(name, choices=(), numbers=()):
    obj = (c_int64 * (LIB.grpo_sizeof(b'grpo_objective') // 8))()
    gspo.check(LIB, LIB.grpo_objective_named(name.encode(), obj))
    for path, choice in choices:
        gspo.check(LIB, LIB.grpo_objective_choose(obj, path.encode(), choice.encode()))
    for path, number in numbers:
        gspo.check(LIB, LIB.grpo_objective_set(obj, path.encode(), number))
    return obj


def batch_of(group, response, arrays):
    """The batch, and the tensors it points into, which must live until the call returns.  response (rows, columns): 1 from the first to the
    last token of a response; group: responses of each prompt; arrays: members of grpo_batch, float32 or uint8, on the CPU."""
    rows, columns = response.shape
    response, place = response.int(), torch.arange(columns)
    first = response.argmax(1)
    length = (response * (place + 1)).amax(1) - first                   # 0 in a row without a response
    held = {name: x.detach().contiguous() for name, x in arrays.items()}
    for name, x in held.items():
        assert x.dtype in (torch.float32, torch.uint8) and x.device.type == 'cpu' and x.shape in ((rows, columns), (rows,)), name
    held.update(offset=first + columns * torch.arange(rows), length=length, group_begin=torch.arange(0, rows + 1, group))
    numbers = {name: x.data_ptr() for name, x in held.items()}
    return gspo.Batch(n_groups=rows // group, n_tokens=rows * columns, **numbers), held


class Loss(torch.autograd.Function):
    """The loss of the whole batch.  Its report is in Loss.report."""
    report = None

    @staticmethod
    def forward(ctx, logp, obj, group, response, arrays):
        batch, held = batch_of(group, response, dict(arrays, logp=logp.float()))
        advantage, dlogp = (torch.zeros(logp.shape) for _ in range(2))       # zeros: padding is not written
        out, report = gspo.Output(dlogp=dlogp.data_ptr()), gspo.Report()
        gspo.check(LIB, LIB.grpo_advantages(obj, byref(batch), advantage.data_ptr()))
        gspo.check(LIB, LIB.gspo_loss(obj, byref(batch), advantage.data_ptr(), None, byref(out), byref(report)))
        del held
        ctx.save_for_backward(dlogp)
        ctx.dtype, Loss.report = logp.dtype, report
        return torch.tensor(report.loss)

    @staticmethod
    def backward(ctx, upstream):
        return (ctx.saved_tensors[0] * upstream).to(ctx.dtype), None, None, None, None


def in_torch(logp, logp_old, trained, reward, group, low=3e-4, high=4e-4):      # GSPO
    r = reward.view(-1, group)
    A = ((r - r.mean(1, True)) / r.std(1, keepdim=True)).nan_to_num(0, 0, 0).flatten()
    w = (torch.where(trained, logp - logp_old, 0.0).sum(1) / trained.sum(1)).exp()
    return torch.maximum(-w * A, -w.clamp(1 - low, 1 + high) * A).mean()


def main():
    torch.manual_seed(2)
    rows, columns, group, vocabulary = 8, 14, 4, 50
    place, begin, end = torch.arange(columns), torch.randint(1, 5, (rows, 1)), torch.randint(8, columns + 1, (rows, 1))
    response = (place >= begin) & (place < end)
    trained = response & ((place != begin + 1) | (begin % 2 == 0))      # in some responses the second token is a tool's
    token, reward = torch.randint(vocabulary, (rows, columns)), torch.rand(rows).round()
    wrong = 0
    for dtype in (torch.float32, torch.bfloat16):
        logits, gradient, loss = (2 * torch.randn(rows, columns, vocabulary)).to(dtype), [], []
        for ours in (True, False):
            x = logits.clone().requires_grad_()
            logp = x.float().log_softmax(-1)[:, :-1].gather(2, token[:, 1:, None])[..., 0]        # of tokens 1 ..: so are the masks
            logp_old = torch.where(response[:, 1:], logp + 0.001 * torch.sin(7 * place[1:]), float('nan')).detach()
            arrays = dict(logp_old=logp_old, reward=reward, mask=trained[:, 1:].to(torch.uint8))
            loss.append(Loss.apply(logp, objective('gspo'), group, response[:, 1:], arrays) if ours else
                        in_torch(logp, logp_old, trained[:, 1:], reward, group))
            loss[-1].backward()
            gradient.append(x.grad.float())
        error = (gradient[0] - gradient[1]).abs().max() / gradient[1].abs().max()
        print(f'{dtype}: loss {loss[0]:.6f}, in PyTorch {loss[1]:.6f}; {100 * Loss.report.clip_fraction:.0f} % of the tokens clipped')
        near = 1e-4 if dtype == torch.float32 else 2 ** -7                   # bfloat16: one rounding of a number next to the largest
        wrong += not (error < near and abs(loss[0] - loss[1]) < 1e-6 and gradient[1].any())
    return wrong


if __name__ == '__main__':
    sys.exit(main())
