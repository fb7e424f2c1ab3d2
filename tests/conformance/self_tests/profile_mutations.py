"""The installed frameworks pass with their profile, and fail when a line of their code is changed.

    python3 tests/conformance/self_tests/profile_mutations.py CONFORM PYTHON [trl|verl]

PYTHON is the interpreter of the environment that frameworks.sh makes. Each mutation names the rows that must fail, so that a run takes
seconds. A mutation counts as found if numbers are wrong; an adapter that stops does not count.
"""
import json
import os
import subprocess
import sys

from kit import ADAPTERS, KIT, attempt, check, checked

TRL, RLOO, VERL = "trl.trainer.grpo_trainer", "trl.trainer.rloo_trainer", "verl.trainer.ppo.core_algos"

MUTATIONS = {"trl": [  # what, rows, module, old, new
    ("another epsilon beside the deviation", "grpo-*", TRL, "advantages / (std_rewards + 1e-4)", "advantages / (std_rewards + 1e-6)"),
    ("the baseline is the batch's", "grpo-*", TRL, "advantages = rewards - mean_grouped_rewards", "advantages = rewards - rewards.mean()"),
    ("the clip without its minimum", "grpo-*", TRL, "-torch.min(per_token_loss1, per_token_loss2)", "-per_token_loss2"),
    ("one epsilon for both sides of the clip", "dapo-*", TRL,
     "1 - self.epsilon_low, 1 + self.epsilon_high)", "1 - self.epsilon_low, 1 + self.epsilon_low)"),
    ("k3 of the other direction", "grpo-*", TRL,
     "torch.exp(ref_per_token_logps - per_token_logps) - (ref_per_token_logps - per_token_logps) - 1",
     "torch.exp(per_token_logps - ref_per_token_logps) - (per_token_logps - ref_per_token_logps) - 1"),
    ("the ratio of a response is not length-normalised", "gspo-*", TRL,
     "(log_ratio * mask).sum(-1) / mask.sum(-1).clamp(min=1.0)\n            log_importance_weights",
     "(log_ratio * mask).sum(-1)\n            log_importance_weights"),
    ("one mean over all tokens for the mean over responses", "grpo-*", TRL,
     "((per_token_loss * mask).sum(-1) / mask.sum(-1).clamp(min=1.0)).mean()", "(per_token_loss * mask).sum() / mask.sum().clamp(min=1.0)"),
    ("the mask is forgotten in the sum", "dapo-*", TRL,
     "loss = (per_token_loss * mask).sum() / normalizer", "loss = per_token_loss.sum() / normalizer"),
    ("the number of processes is forgotten", "partition-ranks-*", TRL,
     ".clamp(min=1.0) / self.accelerator.num_processes", ".clamp(min=1.0)"),
    ("CISPO's weight is not detached", "trl-cispo-*", TRL,
     "torch.clamp(coef_1, max=self.epsilon_high).detach()", "torch.clamp(coef_1, max=self.epsilon_high)"),
    ("SAPO's temperatures are exchanged", "sapo-*", TRL, "self.args.sapo_temperature_pos, self.args.sapo_temperature_neg)",
     "self.args.sapo_temperature_neg, self.args.sapo_temperature_pos)"),
    ("the leave-one-out mean divides by the whole group", "rloo-*", RLOO, "/ (scorable_counts - 1)", "/ scorable_counts"),
], "verl": [
    ("another epsilon beside the deviation", "grpo-*", VERL,
     "epsilon: float = 1e-6,\n    norm_adv", "epsilon: float = 1e-4,\n    norm_adv"),
    ("the deviation has the divisor N", "grpo-*", VERL, "torch.std(scores_tensor)", "torch.std(scores_tensor, correction=0)"),
    ("another number is added to the tokens of a response", "grpo-*", VERL, "/ (seq_mask + 1e-8)", "/ (seq_mask + 1e-6)"),
    ("log-ratios are clamped at 10", "dapo-*", VERL,
     "torch.clamp(negative_approx_kl, min=-20.0, max=20.0)", "torch.clamp(negative_approx_kl, min=-10.0, max=10.0)"),
    ("minimum and maximum are exchanged in the clip", "dapo-*", VERL,
     "clip_pg_losses1 = torch.maximum(", "clip_pg_losses1 = torch.minimum("),
    ("the number of ranks is forgotten", "partition-ranks-*", VERL, "/ batch_num_tokens * dp_size", "/ batch_num_tokens"),
    ("k3 of the other direction", "grpo-*", VERL, "kl = ref_logprob - logprob\n", "kl = logprob - ref_logprob\n"),
    ("GSPO's gradient lacks the ratio", "gspo-*", VERL,
     "log_prob - log_prob.detach() + negative_approx_kl_seq", "log_prob - log_prob + negative_approx_kl_seq"),
    ("GSPO counts the padding", "gspo-*", VERL,
     "seq_lengths = torch.sum(response_mask, dim=-1).clamp(min=1)", "seq_lengths = response_mask.shape[-1]"),
    ("CISPO's weight is not detached", "trl-cispo-*", VERL,
     "clipped_ratio_sg = clipped_ratio.detach()", "clipped_ratio_sg = clipped_ratio"),
    ("SAPO's temperatures are exchanged", "sapo-*", VERL, "condition=advantages > 0", "condition=advantages < 0"),
    ("the leave-one-out mean divides by the whole group", "rloo-*", VERL, "/ (response_num - 1) - id2mean", "/ response_num - id2mean"),
]}
PROFILES = {"trl": "trl-1.16.0.json", "verl": "verl-0.9.1.json"}


def run(conform, name, command, only=None):
    """The numbers of cases with wrong numbers, of cases that failed otherwise, and of right or acceptable cases."""
    options = ["--only", only] if only else []
    profile = os.path.join(KIT, "profiles", PROFILES[name])
    done = subprocess.run([conform, "--timeout", "120", "--format", "json", "--profile", profile, *options, "--", *command],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{name}: conform ends with {done.returncode}")
    report = json.loads(done.stdout)
    wrong = sum(case["verdict"] == "failed" and bool(case["wrong"]) for case in report["cases"])
    return wrong, report["failed"] - wrong, report["passed"] + report["acceptable"], done.returncode


def check_framework(conform, python, name):
    adapter = os.path.join(ADAPTERS, name + "_adapter.py")
    wrong, broken, right, status = run(conform, name, [python, adapter])
    print(f"{name}: as installed: {right} right or acceptable, {wrong + broken} failed", flush=True)
    check(f"{name} as installed", status == 0 and right)
    for what, rows, module, old, new in MUTATIONS[name]:
        mutated = [python, os.path.join(ADAPTERS, "mutated.py"), adapter, module, old, new]
        wrong, broken, right, status = run(conform, name, mutated, rows)
        print(f"{name}: {what}: {wrong} of {wrong + broken + right} cases in {rows} have wrong numbers", flush=True)
        check(f"{name}: {what}: it is found", status == 1 and wrong)


def main():
    conform, python, *names = sys.argv[1:]
    for name in names or MUTATIONS:
        attempt(check_framework, conform, python, name)


if __name__ == "__main__":
    sys.exit(checked(main))
