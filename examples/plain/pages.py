"""What the runner knows of the pages: where the vectors keep their numbers, and how a line that fails on extreme input is repaired."""

LOG_PROBABILITIES = ["logp", "logp_old", "logp_ref", "logp_rollout"]

# page: [row, advantage function, loss function, parameter: the field of the row's objective that it is]
PAGES = {
    "reinforce": [["reinforce", "reinforce_advantage", "reinforce_loss", {}]],
    "ppo": [["ppo", "ppo_advantage", "ppo_loss", {"epsilon": "surrogate.eps_low", "gamma": "advantage.gamma", "lambda": "advantage.lambda"}]],
    "grpo": [["grpo", "grpo_advantage", "grpo_loss", {"epsilon": "surrogate.eps_low", "beta": "penalty.kl_coef"}]],
    "dr_grpo": [["dr-grpo", "dr_grpo_advantage", "dr_grpo_loss", {"epsilon": "surrogate.eps_low", "budget": "aggregation.constant"}]],
    "gspo": [["gspo", "gspo_advantage", "gspo_loss", {"epsilon_low": "surrogate.eps_low", "epsilon_high": "surrogate.eps_high"}]],
}

# A repair is a list of (line, line that does it right); the first line is the one to blame.
REPAIRS = [
    [("double ratio = exp(logp[i][t] - logp_old[i][t]);", "double ratio = logp[i][t] == logp_old[i][t] ? 1 : exp(logp[i][t] - logp_old[i][t]);")],
    [("log_ratio += logp[i][t] - logp_old[i][t];", "log_ratio += fmax(logp[i][t], -8192) - fmax(logp_old[i][t], -8192);")],
    [("double kl = exp(x) - x - 1;", "double kl = x > 700 ? exp(x) : exp(x) - x - 1;")],
    [("double x = logp_ref[i][t] - logp[i][t];", "double x = logp_ref[i][t] == logp[i][t] ? 0 : logp_ref[i][t] - logp[i][t];")],
    [("mean += reward[j];", "mean += reward[j] - reward[i];"), ("(reward[i] - mean)", "-mean"),
     ("(reward[j] - mean) * (reward[j] - mean)", "(reward[j] - reward[i] - mean) * (reward[j] - reward[i] - mean)")],
    [("mean += reward[j];", "mean += reward[j] - reward[i];"), ("reward[i] - mean", "-mean")],
    [("loss -= ", "exact -= "), ("double loss = 0", "long double exact = 0"), ("return loss;", "return (double)exact;")],
]
