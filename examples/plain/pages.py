"""What the runner knows of the pages: where the vectors keep their numbers, and how a line that fails on extreme input is repaired."""

LOG_PROBABILITIES = ["logp", "logp_old", "logp_ref", "logp_rollout"]

# page: [row, advantage function, loss function, parameter: what it is]; that is a field of the row's objective (what a third
# member says is subtracted), an array of the batch, or a number
PAGES = {
    "reinforce": [["reinforce", "reinforce_advantage", "reinforce_loss", {}]],
    "rloo": [["rloo", "rloo_advantage", "rloo_loss", {"beta": ("reward", "kl_coef")}]],
    "ppo": [["ppo", "ppo_advantage", "ppo_loss",
             {"epsilon": ("surrogate", "eps_low"), "gamma": ("advantage", "gamma"), "lambda": ("advantage", "lambda")}]],
    "grpo": [["grpo", "grpo_advantage", "grpo_loss", {"epsilon": ("surrogate", "eps_low"), "beta": ("penalty", "kl_coef")}]],
    "dr_grpo": [["dr-grpo", "dr_grpo_advantage", "dr_grpo_loss", {"epsilon": ("surrogate", "eps_low"), "budget": ("aggregation", "constant")}]],
    "dapo": [["dapo", "dapo_advantage", "dapo_loss", {"L_max": ("reward", "overlong_max"), "L_cache": ("reward", "overlong_cache"),
                                                      "epsilon_low": ("surrogate", "eps_low"), "epsilon_high": ("surrogate", "eps_high")}]],
    "reinforce_plus_plus": [["reinforce++", "reinforce_plus_plus_advantage", "reinforce_plus_plus_loss",
                             {"epsilon": ("surrogate", "eps_low"), "beta": ("reward", "kl_coef")}]],
    "remax": [["remax", "remax_advantage", "remax_loss", {"greedy_reward": ("batch", "baseline")}]],
    "opo": [["opo", "opo_advantage", "opo_loss", {}]],
    "gpg": [["gpg", "gpg_advantage", "gpg_loss", {}]],
    "gspo": [["gspo", "gspo_advantage", "gspo_loss", {"epsilon_low": ("surrogate", "eps_low"), "epsilon_high": ("surrogate", "eps_high")}]],
    "gspo_token": [["gspo-token", "gspo_token_advantage", "gspo_token_loss",
                    {"epsilon_low": ("surrogate", "eps_low"), "epsilon_high": ("surrogate", "eps_high")}]],
    "gmpo": [["gmpo", "gmpo_advantage", "gmpo_loss", {"epsilon": ("ratio", "token_clip_low")}]],
    "cispo": [["cispo", "cispo_advantage", "cispo_loss",
               {"epsilon_low": 1, "epsilon_high": ("surrogate", "weight_max", 1)}]],
    "sapo": [["sapo", "sapo_advantage", "sapo_loss", {"tau_pos": ("surrogate", "tau_pos"), "tau_neg": ("surrogate", "tau_neg")}]],
    "gppo": [["gppo", "gppo_advantage", "gppo_loss", {"epsilon_low": ("surrogate", "eps_low"), "epsilon_high": ("surrogate", "eps_high")}]],
    "topr": [["topr", "topr_advantage", "topr_loss", {}]],
    "dppo": [["dppo-tv", "dppo_advantage", "dppo_tv_loss", {"delta": ("weight", "trust_high")}],
             ["dppo-kl", "dppo_advantage", "dppo_kl_loss", {"delta": ("weight", "trust_high")}]],
    "tis": [["tis", "tis_advantage", "tis_loss", {"epsilon": ("surrogate", "eps_low"), "C": ("weight", "rollout_is_high")}]],
    "icepop": [["icepop", "icepop_advantage", "icepop_loss",
                {"epsilon": ("surrogate", "eps_low"), "alpha": ("weight", "rollout_is_low"), "beta": ("weight", "rollout_is_high")}]],
}

# A repair is a list of (line, line that does it right); the first line is the one to blame.
REPAIRS = [
    [("double ratio = exp(logp[i][t] - logp_old[i][t]);",
      "double ratio = logp[i][t] == logp_old[i][t] ? 1 : exp(logp[i][t] - logp_old[i][t]);")],
    [("log_ratio += logp[i][t] - logp_old[i][t];", "log_ratio += fmax(logp[i][t], -8192) - fmax(logp_old[i][t], -8192);")],
    [("double kl = exp(x) - x - 1;", "double kl = x > 700 ? exp(x) : exp(x) - x - 1;")],
    [("double x = logp_ref[i][t] - logp[i][t];", "double x = logp_ref[i][t] == logp[i][t] ? 0 : logp_ref[i][t] - logp[i][t];")],
    [("mean += reward[j];", "mean += reward[j] - reward[i];"), ("(reward[i] - mean)", "-mean"),
     ("(reward[j] - mean) * (reward[j] - mean)", "(reward[j] - reward[i] - mean) * (reward[j] - reward[i] - mean)")],
    [("mean += reward[j];", "mean += reward[j] - reward[i];"), ("reward[i] - mean", "-mean")],
    [("double R = reward[j];", "double R = reward[j] - reward[i];")],
    [("R[j] = reward[j] +", "R[j] = reward[j] - reward[i] +")],
    [("double remaining = reward[i];", "double remaining = reward[i] - reward[0];")],
    [("weighted += reward[j];", "weighted += reward[j] - reward[i];"), ("reward[i] - weighted", "-weighted")],
    [("beta * (logp_old[j][t] - logp_ref[j][t]);", "beta * (fmax(logp_old[j][t], -8192) - fmax(logp_ref[j][t], -8192));")],
    [("beta * (logp_old[i][t] - logp_ref[i][t]);", "beta * (fmax(logp_old[i][t], -8192) - fmax(logp_ref[i][t], -8192));")],
    [("double log_ratio = logp[i][t] - logp_old[i][t];", "double log_ratio = fmax(logp[i][t], -8192) - fmax(logp_old[i][t], -8192);"),
     ("sgn * (logp[i][t] - logp_old[i][t])", "sgn * (fmax(logp[i][t], -8192) - fmax(logp_old[i][t], -8192))")],
    [("exp(logp_old[i][t] - logp_rollout[i][t])", "(logp_old[i][t] == logp_rollout[i][t] ? 1 : exp(logp_old[i][t] - logp_rollout[i][t]))")],
    [("loss -= weight * A[i][t] * logp[i][t]", "if (weight != 0) loss -= weight * A[i][t] * logp[i][t]")],
    [("double f_grad = 4 * p * (1 - p) * ratio;", "double f_grad = isinf(ratio) ? 0 : 4 * p * (1 - p) * ratio;")],
    [("loss -= ", "exact -= "), ("double loss = 0", "long double exact = 0"), ("return loss;", "return (double)exact;")],
]
