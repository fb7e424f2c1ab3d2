"""train.py - the task of ../train.c in small, with PyTorch: a transformer learns to reverse lists of one or two digits by the objective
of the reference, whose gradient goes into autograd.  Needs torch, numpy, cffi and a C compiler; ten seconds.

    python3 examples/python/train.py [OBJECTIVE [STEPS]]             # gspo, 100; ends with status 1 if it has not learnt
"""
import copy, pathlib, sys
import torch
from torch import nn
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "packages" / "python"))
from grpo_conformance import reference

PROMPTS, GROUP, DIGITS, LIMIT, UPDATES = 24, 16, 2, 3, 4
END, PAD, V, D = 10, 11, 12, 16  # the token '.', padding left of the prompt, vocabulary, width

class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.token, self.position = nn.Embedding(V, D), nn.Parameter(0.1 * torch.randn(DIGITS + LIMIT, D))
        self.block, self.head = nn.TransformerEncoderLayer(D, 1, 2 * D, dropout=0.0, batch_first=True), nn.Linear(D, V - 1)

    def forward(self, x):  # log-probabilities of the next token, after '.' and after each token of the response
        past = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        hidden = self.block(self.token(x) + self.position[: x.shape[1]], past)
        return self.head(hidden[:, DIGITS:]).log_softmax(-1)

    def of(self, x, response):
        return self(x).gather(2, response[..., None])[..., 0]

def score(prompt, response):  # the square of the fraction of correct positions
    right = [d for d in reversed(prompt) if d != PAD] + [END]
    return (sum(a == b for a, b in zip(right, response)) / max(len(right), len(response))) ** 2

@torch.no_grad()
def sample(policy):
    digits = torch.randint(10, (PROMPTS, DIGITS))
    digits[torch.rand(PROMPTS) < 0.5, 0] = PAD  # one digit
    x = torch.cat([digits, torch.full((PROMPTS, 1), END)], 1).repeat_interleave(GROUP, 0)
    for _ in range(LIMIT):
        x = torch.cat([x, torch.multinomial(policy(x)[:, -1].exp(), 1)], 1)
    response = x[:, DIGITS + 1 :]
    mask = ((response == END).cumsum(1) - (response == END).long()) == 0  # up to the first '.'
    reward = torch.tensor([score(p[:DIGITS], r[:n]) for p, r, n in zip(x.tolist(), response.tolist(), mask.sum(1).tolist())])
    return x[:, :-1], response, mask, reward

torch.set_num_threads(1), torch.manual_seed(1)
objective, steps = (sys.argv[1:] + ["gspo", "100"][len(sys.argv) - 1 :])[:2]
policy, curve, group = Policy(), [], torch.arange(PROMPTS).repeat_interleave(GROUP)
untrained, adam = copy.deepcopy(policy), torch.optim.Adam(policy.parameters(), 5e-3)
for step in range(int(steps)):
    x, response, mask, reward = sample(policy)
    arrays = dict(logp_old=policy.of(x, response).detach(), logp_ref=untrained.of(x, response).detach(), mask=mask, reward=reward)
    advantage = reference.advantages(objective, logp=arrays["logp_old"], group=group, **arrays)
    for part in torch.arange(PROMPTS * GROUP).chunk(UPDATES):  # whole groups
        few = dict({name: x[part] for name, x in arrays.items()}, group=group[part] - group[part[0]], advantage=advantage[part])
        loss = reference.torch_loss(objective, logp=policy.of(x[part], response[part]), **few)
        adam.zero_grad(), loss.backward(), adam.step()
    curve.append(reward.mean().item())
    if step % 10 == 9:
        print(f"step {step + 1:3}  reward {sum(curve[-10:]) / 10:.2f}  {'#' * round(40 * sum(curve[-10:]) / 10)}")
sys.exit(sum(curve[-10:]) / 10 < 0.9)
