#!/usr/bin/env python3
"""Tests `translate`: every framework's defaults translate into an objective that the vectors' rules allow; a planted difference is found
and shown; a misspelt key and a value that no field expresses are reported; all formats of a configuration give the same objective;
configurations as users write them (examples/: YAML, and shell commands with flags or Hydra's overrides) give the objectives in
expected.json."""
import ast
import glob
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path[:0] = [HERE, os.path.join(HERE, os.pardir, "oracle"), os.path.join(HERE, os.pardir, "conformance", "adapters")]
import objectives  # noqa: E402
import published  # noqa: E402
from axes.allowed import check_loss  # noqa: E402
from options import translate as translator  # noqa: E402


def translate(*arguments):
    """(exit status, standard output, standard error)"""
    done = subprocess.run([sys.executable, os.path.join(HERE, "translate"), *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def written(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def defaults(name):
    status, out, told = translate("--framework", name)
    check_loss(objectives.filled(json.loads(out)))
    return status == 0 and "cannot be expressed" not in told


def shown():
    """--diff prints the field that differs, and a batch with both objectives and their different losses."""
    with tempfile.TemporaryDirectory() as folder:
        status, out, _ = translate("--diff", "trl", "trl:" + written(folder, "a", "epsilon = 0.3\n"))
    first, second = json.loads(out[out.index("[{"):])
    return (status == 1 and "surrogate.eps_low: 0.2 | 0.3" in out and first["batch"] == second["batch"]
            and first["expect"]["loss"] != second["expect"]["loss"])


def no_divisor():
    """--diff of a configuration whose loss is divided by a constant that nobody has given."""
    with tempfile.TemporaryDirectory() as folder:
        asked = "actor_rollout_ref.actor.loss_agg_mode = seq-mean-token-sum-norm\n"
        status, out, _ = translate("--diff", "trl", "verl:" + written(folder, "a", asked))
    return status == 1 and "no batch can show it before aggregation.constant" in out


def told(text, status, words):
    with tempfile.TemporaryDirectory() as folder:
        found = translate("--framework", "trl", written(folder, "a", text))
    return found[0] == status and words in found[2]


def translate_text(framework, text):
    with tempfile.TemporaryDirectory() as folder:
        return translate("--framework", framework, written(folder, "a", text))[2]


def same_in_every_form():
    forms = ("loss_type: cispo\nepsilon_high: 5.0\n", "loss_type = cispo\nepsilon_high = 5.0\n",
             '{"loss_type": "cispo", "epsilon_high": 5.0}', "trl grpo --loss_type cispo \\\n  --epsilon_high 5.0 --bf16\n",
             "train.py loss_type=cispo \\\n  +epsilon_high=5.0\n")
    with tempfile.TemporaryDirectory() as folder:
        found = [translate("--framework", "trl", written(folder, "a", text))[1] for text in forms]
    return len(set(found)) == 1 and json.loads(found[0])["surrogate"] == {"kind": "cispo", "weight_max": 5.0}


# a configuration and the values of some fields: one for each way in which a value becomes a number or a choice
MADE = (
    ("1- and 1+, from nested YAML", "verl",
     "actor_rollout_ref:\n  actor:\n    policy_loss:\n      loss_mode: cispo\n    clip_ratio_low: 0.1\n    clip_ratio_high: 0.3\n",
     {"surrogate": {"kind": "cispo", "weight_min": 0.9, "weight_max": 1.3}}),
    ("1/ of two numbers", "verl", "algorithm.rollout_correction.rollout_rs = seq_mean_k1\n"
     "algorithm.rollout_correction.rollout_rs_threshold = 0.5_4.0\n", {"weight": {"rollout_rs_low": 0.25, "rollout_rs_high": 2.0}}),
    ("two numbers", "openrlhf", '{"actor.eps_clip_low_high": [0.1, 0.3]}', {"surrogate": {"eps_low": 0.1, "eps_high": 0.3}}),
    ("2*", "prime_rl", "trainer.loss.kl_tau = 0.002\n", {"penalty": {"kl_coef": 0.004}}),
    ("-", "areal", "actor.reward_clip = 5\n", {"reward": {"map_low": -5, "map_high": 5}}),
    ("fields of an object, which is null without them", "areal",
     "actor:\n  reward_norm:\n    mean_level: group\n    std_level: null\n    group_size: 8\n",
     {"advantage": {"baseline": "group_mean", "scale": "none"}}),
    ("another option's value", "trl", "epsilon = 0.1\n", {"surrogate": {"eps_low": 0.1, "eps_high": 0.1}}),
    ("two conditions", "trl", "loss_type = vespo\nbeta = 0.1\n",
     {"ratio": {"level": "sequence_sum"}, "penalty": {"kl": "k3", "kl_importance_weight": "token"}}),
    ("null, by another option", "ms_swift", "advantage_estimator: rloo\n",
     {"advantage": {"baseline": "leave_one_out", "scale": "none"}, "reward": {"kl": "k1", "kl_coef": 0.04}}))


def made(framework, text, expected):
    with tempfile.TemporaryDirectory() as folder:
        found = json.loads(translate("--framework", framework, written(folder, "a", text))[1])
    return all(found[axis].get(field) == x for axis, fields in expected.items() for field, x in fields.items())


OVERLONG = "".join("reward_model.reward_kwargs." + line for line in (
    "overlong_buffer_cfg.enable: true\n", "overlong_buffer_cfg.len: 64\n", "overlong_buffer_cfg.penalty_factor: 1\n", "max_resp_len: 99\n"))
LINEAR = {"reward": {"overlong": "linear", "overlong_cache": 64, "overlong_factor": 1, "overlong_max": 99}}


def overlong_alone():
    """verl's default reward manager does not read it."""
    with tempfile.TemporaryDirectory() as folder:
        status, out, words = translate("--framework", "verl", written(folder, "a", OVERLONG))
    return status == 0 and "reward" not in json.loads(out) and "without effect: only the reward manager dapo reads it" in words


PARENTS = {
    "below.yaml": "grpo:\n  leave_out: true\n  adv_estimator:\n    use_leave_one_out_baseline: ${grpo.leave_out}\n"
                  "loss_fn:\n  ratio_clip_min: 0.1\n",
    "beside/other.yaml": "defaults: ../below.yaml\nloss_fn:\n  ratio_clip_min: 0.3\n  ratio_clip_max: 0.4\n"}


def inherits(own, expected, words=""):
    """A configuration of NeMo-RL with `defaults`."""
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "beside"))
        for name, text in PARENTS.items():
            written(folder, name, text)
        status, out, told_ = translate("--framework", "nemo_rl", written(folder, "own.yaml", own))
    return status == 0 and words in told_ and all(json.loads(out)[axis].get(field) == x for (axis, field), x in expected.items())


LEAVE_OUT, LOW, HIGH = ("advantage", "baseline"), ("surrogate", "eps_low"), ("surrogate", "eps_high")
INHERITED = (
    ("a parent", "defaults: below.yaml\nloss_fn:\n  ratio_clip_max: 0.2\n", {LEAVE_OUT: "leave_one_out", LOW: 0.1, HIGH: 0.2}),
    ("a grandparent", "defaults: beside/other.yaml\n", {LEAVE_OUT: "leave_one_out", LOW: 0.3, HIGH: 0.4}),
    ("the last of several parents wins", "defaults: [beside/other.yaml, below.yaml]\n", {LOW: 0.1, HIGH: 0.4}),
    ("a key of the parent's expressions", "defaults: below.yaml\ngrpo:\n  leave_out: false\n", {LEAVE_OUT: "group_mean"}),
    ("a section in place of the parent's", "defaults: below.yaml\nloss_fn:\n  _override_: true\n  ratio_clip_max: 0.4\n",
     {LOW: 0.2, HIGH: 0.4}),
    ("a group of Hydra", "defaults:\n  - base\n  - _self_\nloss_fn:\n  ratio_clip_min: 0.1\n", {LOW: 0.1},
     "own defaults: defaults: base\n"))


BETA = ("penalty", "kl_coef")
# a shell script for TRL: the values of some fields, words of the messages, the exit status
SCRIPTS = (
    ("# within a word", "train.py --dataset sums#100 \\\n  --beta 0.5 --epsilon 0.1\n", {BETA: 0.5, LOW: 0.1}),
    ("a comment in a continued command ends it", "train.py --beta 0.5 \\\n# --epsilon 0.3 \\\n  --epsilon 0.1\n", {BETA: 0.5},
     "epsilon = $(not given to any command: 0.1)", 1),
    ("a line that does not go on", "A=(--epsilon 0.1)\ntrain.py --beta 0.5\n  ${A[@]} \\\n --delta 3\n", {BETA: 0.5},
     "not given to any command, as the line before does not go on: --epsilon 0.1 --delta 3", 1),
    ("a variable of the script is no option", "epsilon=0.3\ntrain.py --beta 0.5\n", {BETA: 0.5, LOW: 0.2}),
    ("variables", "a=0.1\nexport B=\"${a}\"\ntrain.py --epsilon $a --epsilon_high \"$B\" --beta=${B}\n", {BETA: 0.1, LOW: 0.1, HIGH: 0.1}),
    ("the value at the time", "a=0.1\ntrain.py --epsilon $a\na=0.4\n", {LOW: 0.1}),
    ("a default for what the script is not given", "beta=${BETA:-0.5}\ntrain.py --beta $beta --epsilon ${1:-0.1} \"$@\"\n",
     {BETA: 0.5, LOW: 0.1},
     "taken as not set when the script starts: $1 $@ $BETA\n"),
    ("a default that the script's own value replaces", "beta=0.5\ntrain.py --beta ${beta:-0.1}\n", {BETA: 0.5}),
    ("arithmetic", "a=3\ntrain.py --beta $((a * (2 + 1) - 8))\n", {BETA: 1}),
    ("an array, with comments", "A=(\n  --beta 0.5  # low\n  # --beta 3\n)\nA+=(--epsilon 0.1)\ntrain.py \"${A[@]}\"\n",
     {BETA: 0.5, LOW: 0.1}),
    ("an array that may be empty",
     "A=(--beta 0.5)\ntrain.py ${A[@]+\"${A[@]}\"} \"${A[@]+\"${A[@]}\"}\" --epsilon 0.1\n", {BETA: 0.5, LOW: 0.1}),
    ("an array that no command gets", "A=(--beta 0.5)\ntrain.py --epsilon 0.1\n", {BETA: None, LOW: 0.1}),
    ("options in a string", "A='--beta 0.5 --epsilon 0.1'\ntrain.py $A\n", {BETA: 0.5, LOW: 0.1}),
    ("a list without double quotes", "train.py files=['$A','b'] loggers=[console,file] beta=0.5\n", {BETA: 0.5}),
    ("a redirection and a pipe", "train.py --beta 0.5 2>&1 >log | tee \"$(date +%s)\"\n", {BETA: 0.5}),
    ("what is echoed", "echo --beta 0.5\ntrain.py --epsilon 0.1\n", {BETA: None, LOW: 0.1}),
    ("a text for a command", "cat >a.txt <<'END'\ntrain.py --beta 0.5 it's\nEND\ntrain.py --epsilon 0.1\n",
     {BETA: None, LOW: 0.1}, "not read: the lines up to END"),
    ("the output of a command", "a=$(cat a.txt)\ntrain.py --beta $a\n", {}, "cannot be expressed: beta = $(cat a.txt)", 1),
    ("a variable set under a condition", "if [ $1 = x ]; then a=0.1; else a=0.2; fi\ntrain.py --beta $a\n",
     {}, "cannot be expressed: beta = $a", 1),
    ("a variable set under a condition, with &&", "a=1\n[ $1 = x ] && a=0.1\ntrain.py --beta $a\n",
     {}, "cannot be expressed: beta = $a", 1),
    ("a variable of a loop", "a=0.3\nfor a in 0.1 0.2; do train.py --beta $a; done\n", {}, "cannot be expressed: beta = $a", 1),
    ("a variable that is read", "read -r a <file\ntrain.py --beta ${a:-0.1}\n", {}, "cannot be expressed: beta = ${a:-0.1}", 1),
    ("a variable that is printed", "printf -v a %s 0.3\ntrain.py --beta ${a:-0.1}\n", {}, "cannot be expressed: beta = ${a:-0.1}", 1),
    ("quoted assignments", "export 'a=0.1' \"b=0.5\"\ntrain.py --beta ${b:-1} --epsilon ${a:-1}\n", {BETA: 0.5, LOW: 0.1}),
    ("bash -c", "a='train.py --beta 0.5'\nsrun --nodes 1 bash -c \"cd /x && $a --epsilon 0.1\"\n", {BETA: 0.5, LOW: 0.1}),
    ("eval", "a='train.py --beta 0.5'\neval \"$a --epsilon 0.1\"\n", {BETA: 0.5, LOW: 0.1}),
    ("options under a condition", "A=()\nif [ $1 = x ]; then A+=(--beta 0.5); fi\ntrain.py ${A[@]}\n",
     {}, "beta = $(under a condition: 0.5)", 1),
    ("options in a string, under a condition", "A=\nif [ $1 = x ]; then A='--beta 0.5'; fi\ntrain.py $A\n",
     {}, "beta = $(under a condition: 0.5)", 1),
    ("a variable after a value is not a second value", "train.py --beta 0.5 $MORE\n", {BETA: 0.5}, "not read: $MORE"),
    ("commands with different values", "train.py --beta 0.5\ntrain.py --beta 0.1\n", {}, "beta = $(several commands: 0.5, 0.1)", 1),
    ("another script", "source \"$(dirname \"$0\")\"/more.sh\ntrain.py $MORE --epsilon 0.1\n", {BETA: 0.5, LOW: 0.1}),
    ("--no_NAME", "train.py --beta 0.5 --no_use_bias_correction_kl\n", {BETA: 0.5, ("penalty", "kl_importance_weight"): None}),
    ("--config with a file", "train.py --config more.yaml --epsilon 0.1\n", {BETA: 0.5, LOW: 0.1}),
    ("--config with a file that is not there", "train.py --config-name nothing --epsilon 0.1\n", {BETA: None, LOW: 0.1},
     "not read, taken as the framework's own defaults: --config-name nothing"),
    ("Hydra's --config-path", "train.py --config-path=$HERE/beside --config-name=own delta=3\n", {BETA: 0.3, LOW: 0.2}),
    ("Hydra's ~key", "train.py epsilon=0.1 ~beta ~report_to=none\n", {LOW: 0.1}, "cannot be expressed: beta = $(deleted)", 1),
    ("a here-document that is read into a variable",
     "a=0.1\nread -r -d '' options <<EOF\ntrain.py \\\n  --beta 0.5 \\\n  --epsilon $a\nEOF\npython -m $options --delta 3\n",
     {BETA: 0.5, LOW: 0.1}),
    ("a here-document that is read as it is",
     "read -r -d '' options <<'EOF'\n--beta 0.5 --epsilon $a it's\nEOF\ntrain.py $options\n", {BETA: 0.5},
     "cannot be expressed: epsilon = $a", 1),
    ("the output of a command among options", "flags() { echo --beta 0.5; }\ntrain.py --epsilon 0.1 $(flags)\n", {LOW: 0.1},
     "not read: $(flags)"),
    ("three commands with different values", "for x in 1; do train.py --beta 0.5; done\ntrain.py --beta 0.1\ntrain.py --beta 0.2\n", {},
     "beta = $(several commands: 0.5, 0.1, 0.2)", 1),
    ("@ FILE", "train.py @ more.yaml --epsilon 0.1\n", {BETA: 0.5, LOW: 0.1}),
    ("a script that another one names", "source beside/second.sh\ntrain.py $MORE\n", {BETA: 0.1}),
    ("scripts that name each other", "source again.sh\ntrain.py --beta 0.5\n", {BETA: 0.5}),
    ("another script that is not there", "source $HERE/nothing.sh\ntrain.py --epsilon 0.1\n", {LOW: 0.1}, "not read: $HERE/nothing.sh"))


def script(text, values, words="", status=0):
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "beside"))
        written(folder, "more.sh", "MORE='--beta 0.5'\n")
        written(folder, "again.sh", "source run.sh\n")
        written(folder, "beside/third.sh", "MORE='--beta 0.1'\n")
        written(folder, "beside/second.sh", "source $(dirname $0)/third.sh\n")
        written(folder, "more.yaml", "beta: 0.5\nepsilon: 0.3\n")
        written(folder, "beside/own.yaml", "beta: 0.3\n")
        found, out, told_ = translate("--framework", "trl", written(folder, "run.sh", text))
    objective = {"penalty": {}, **json.loads(out)}
    return found == status and words in told_ and all(objective[axis].get(field) == x for (axis, field), x in values.items())


def positional():
    """swift rlhf FILE"""
    with tempfile.TemporaryDirectory() as folder:
        written(folder, "more.yaml", "beta: 0.5\nepsilon: 0.3\n")
        out = translate("--framework", "ms_swift", written(folder, "run.sh", "swift rlhf more.yaml --epsilon 0.1\n"))[1]
    return (json.loads(out)["penalty"]["kl_coef"], json.loads(out)["surrogate"]["eps_low"]) == (0.5, 0.1)


def python():
    with tempfile.TemporaryDirectory() as folder:
        status, out, words = translate("--framework", "trl", written(folder, "run.py", "# run.py --beta 0.5 \\\n#  --epsilon 1\n"))
    return (status, out) == (2, "") and "Python is not read" in words


def toml():
    with tempfile.TemporaryDirectory() as folder:
        text = "max_steps = 5\n[trainer.loss]\nkl_tau = 0.002\n[[orchestrator.train.source]]\nname = 'sums'\n"
        found = json.loads(translate("--framework", "prime_rl", written(folder, "rl.toml", text))[1])
    return found["penalty"]["kl_coef"] == 0.004


def kl_ratios():
    """The ratio by which use_bias_correction_kl multiplies, according to the data, is the one for which the adapters turn it on."""
    from options import corrects_kl
    for loss_type, level in (("grpo", "token"), ("grpo", "sequence"), ("sapo", "token"), ("vespo", "token")):
        text = f"loss_type: {loss_type}\nimportance_sampling_level: {level}\nbeta: 0.1\nuse_bias_correction_kl: "
        with tempfile.TemporaryDirectory() as folder:
            on, off = (json.loads(translate("--framework", "trl", written(folder, "a", text + x))[1]) for x in ("true", "false"))
        level = on["ratio"]["level"]
        other = {"kl_importance_weight": {"token": "level", "level": "token"}[on["penalty"]["kl_importance_weight"]]}
        off = {"kl_importance_weight": "none", **off["penalty"]}
        if (corrects_kl(on["penalty"], level), corrects_kl(off, level)) != (True, False):
            return False
        if corrects_kl(other, level) is not (True if level == "token" else None):  # at the level of tokens the two are the same
            return False
    return True


def expected():
    with open(os.path.join(HERE, "examples", "expected.json"), encoding="utf-8") as f:
        return json.load(f)


def example(name, objective):
    """The example translates completely, to the expected objective."""
    status, out, _ = translate("--framework", name.split(".")[0], os.path.join(HERE, "examples", name))
    return status == 0 and json.loads(out) == objective


def cuts_page():
    done = subprocess.run([sys.executable, os.path.join(HERE, "cuts.py"), "--check"], stdout=subprocess.DEVNULL, check=False)
    return done.returncode == 0


ACTOR = "actor_rollout_ref.actor"
VERL_GSPO = f"""algorithm.adv_estimator: grpo
{ACTOR}.policy_loss.loss_mode: gspo
"""


def nearest(text, *words):
    said = "\n" + translate_text("verl", text)
    return all(word in said for word in words)


def rows_are_found():
    defaults, rows = translator.defaults_of_fields(), published.rows()
    for name, (_, _, fields) in rows.items():
        with open(os.path.join(HERE, os.pardir, "vectors", f"{name}.json"), encoding="utf-8") as f:
            objective = json.load(f)["cases"][0]["objective"]
        same = objectives.filled(translator.objective_of(fields)) == objectives.filled(objective)
        if not same or published.nearest(fields, defaults)[3]:
            return False
    return len(rows) > 250


def pitfall(name, case):
    """It is said where it holds, and not where one of its conditions does not."""
    data, said = translator.data_of(name), lambda config: case["says"] in "".join(translator.said_of(data, config, "pitfalls"))
    given = {option: 5 if x == "*" else x for option, (x, *_) in case["when"].items()}
    others = {option: "another" for option, values in case.get("unless", {}).items()}
    spoilt = [{**given, **others, option: None if values == ["*"] else "another"} for option, values in case["when"].items()]
    spoilt += [{**given, **others, option: values[0]} for option, values in case.get("unless", {}).items()]
    known = translator.values_of(data, {})[0]
    return {**given, **others}.keys() <= known.keys() and said({**given, **others}) and not any(map(said, spoilt))


def pitfalls_are_shown():
    """pitfall_*.py have a function for each, and no other one."""
    functions = set()
    for path in glob.glob(os.path.join(HERE, "pitfall_*.py")):
        with open(path, encoding="utf-8") as f:
            functions |= {node.name for node in ast.parse(f.read()).body if isinstance(node, ast.FunctionDef)}
    named = {f"{name}_{case['name']}" for name, case in PITFALLS}
    return named == {x for x in functions if x.startswith(tuple(name + "_" for name in translator.frameworks()))}


PITFALLS = [(name, case) for name in translator.frameworks() for case in translator.data_of(name).get("pitfalls", ())]


def of_pitfalls():
    """Pitfalls, options without effect, and cuts of verl."""
    return {
        "pitfalls have a program that shows them": pitfalls_are_shown,
        "a pitfall is printed": lambda: "\npitfall: algorithm.adv_estimator = opo: the baseline of a group" in translate_text(
            "verl", "algorithm.adv_estimator: opo\n") and "pitfall" not in translate_text("verl", "algorithm.adv_estimator: remax\n"),
        "a given option without effect": lambda: "\nwithout effect in this configuration: delta\n" in translate_text(
            "trl", "loss_type: cispo\ndelta: 3\nepsilon_high: 4\nbeta: 0\n"),
        "an option that other options read has an effect": lambda: "without effect" not in translate_text(
            "verl", "trainer.use_v1: false\nalgorithm:\n  rollout_correction:\n    bypass_mode: true\n    loss_type: reinforce\n"
            "    rollout_is: token\n    rollout_is_threshold: 3\n") + translate_text("trl", "epsilon: 0.1\n"),
        "what cannot be expressed may read an option": lambda: "without effect" not in translate_text(
            "trl", "loss_type: vespo\nuse_vllm: true\nvllm_importance_sampling_mode: token_mask\n"),
        "verl's cuts": lambda: ["is cut" in translate_text("verl", text) for text in (
            LOSS_MODE + "geo_mean\n", AGGREGATION + "seq-mean-token-sum-norm\n", AGGREGATION + "seq-mean-token-mean\n",
            AGGREGATION + "seq-mean-token-sum-norm\nactor_rollout_ref.actor.loss_scale_factor: 6\n")] == [True, True, False, False],
        **{f"pitfall {name} {n} {case['name']}": (lambda name=name, case=case: pitfall(name, case))
           for n, (name, case) in enumerate(PITFALLS)}}


CUT = "steps_per_generation: 8\ngradient_accumulation_steps: "
LOSS_MODE = "actor_rollout_ref.actor.policy_loss.loss_mode: "
AGGREGATION = "actor_rollout_ref.actor.loss_agg_mode: "


# ---- checks by their names

# published objectives that a configuration is, or is nearest to; differences
OF_ROWS = {
    "the nearest published objective": lambda: nearest(
        f"{VERL_GSPO}{ACTOR}.clip_ratio_low: 3e-4\n", "\nnearest published: verl-gspo (2507.18071: ",
        "; there surrogate.eps_low is 0.2, here 0.0003\n"),
    "a published objective": lambda: nearest(VERL_GSPO, "\npublished: verl-gspo (2507.18071: "),
    "published, but for what cannot be expressed": lambda: "\npublished, as far as it can be expressed: trl-bnpo (" in (
        "\n" + translate_text("trl", "use_adaptive_entropy: true\n")),
    "rows are those of the vectors, and each is nearest to itself": rows_are_found,
    "a difference from a row": lambda: translate("--diff", "row:gspo", "row:gspo-token")[:2] == (
        1, "ratio.gradient: full | token\nno batch was found on which the losses differ\n"),
    "no such row": lambda: translate("--diff", "row:gspo", "row:gsp")[0] == 2,
    "a planted difference": shown,
    "a divisor that is not given": no_divisor,
    "no difference": lambda: translate("--diff", "trl", "trl")[0] == 0,
}
# which cuts of a batch change the gradient
OF_CUTS = {
    "a cut that changes the gradient": lambda: "is cut: steps_per_generation = 8, gradient_accumulation_steps = 4: the divisor" in (
        translate_text("trl", CUT + "4\n")) and "cut" not in (
        translate_text("trl", CUT + "8\n") + translate_text("trl", CUT + "4\nloss_type: grpo\n")),
    "a cut by the size of the generation": lambda: "cut: loss_type = dapo, generation_batch_size = 64: if it is not" in translate_text(
        "ms_swift", "loss_type: dapo\ngeneration_batch_size: 64\n"),
    "Liger's loss and split rows": lambda: ["is cut" in translate_text("ms_swift", text) for text in (
        "loss_type: dapo\nuse_liger_kernel: true\n", "sequence_parallel_size: 4\n", "sequence_parallel_size: 4\npadding_free: true\n",
        "use_liger_kernel: true\n")] == [True, True, False, False],
    "dynamic batches": lambda: ["is cut" in translate_text("openrlhf", f"train.dynamic_batch_enable: true\nds.zero_stage: {stage}\n")
                                for stage in (2, 3)] == [True, False],
    "CUTS.md is current": cuts_page,
}
# values: those without fields, notes on them, variables
OF_VALUES = {
    "a value of another key": lambda: "cannot be expressed" not in translate_text(
        "nemo_rl", "grpo:\n  baseline: false\n  adv_estimator:\n    use_leave_one_out_baseline: ${grpo.baseline}\n"),
    "a shell variable is no number": lambda: told("epsilon=$EPS \\\nbeta=0\n", 1, "cannot be expressed: epsilon = $EPS"),
    "an option made of no number": lambda: "cannot be expressed: max_completion_length" in translate_text(
        "ms_swift", "max_completion_length: $LENGTH\nloss_type: dr_grpo\n"),
    "a default for which an array is another one": lambda: "note: ref = null" in translate("--framework", "areal")[2],
    "a note is of the value that is given": lambda: "note" not in translate_text("verl", LOSS_MODE + "gspo\n") and all(
        (words in translate_text("verl", LOSS_MODE + "clip_cov\n")) == said
        for words, said in (("is drawn", True), ("the caller's array", True), ("chosen in each micro-batch", False))),
    "defaults have no notes": lambda: "note" not in translate("--framework", "verl")[2],
    "a trainer that the data are not of": lambda: "cannot be expressed: rlhf_type = dpo" in translate_text(
        "ms_swift", "rlhf_type: dpo\n"),
    "a command that starts another trainer": lambda: "the command is megatron rlhf: " in translate_text(
        "ms_swift", "megatron rlhf \\\n  --rlhf_type grpo\n"),
    "another trainer's section": lambda: "cannot be expressed: ppo = set: " in translate_text("nemo_rl", "ppo:\n  seed: 1\n"),
    "a value without fields under a condition": lambda: told(
        "loss_type: vespo\nbeta: 0.1\nimportance_sampling_level: sequence\n", 1, "cannot be expressed: use_bias_correction_kl = true"),
    "a value without fields": lambda: told("use_adaptive_entropy: true\n", 1, "cannot be expressed: use_adaptive_entropy"),
    "a variable where any value is the same": lambda: "cannot be expressed: top_entropy_quantile = $Q" in translate_text(
        "trl", "top_entropy_quantile: $Q\n"),
    "an overlong penalty without its reward manager": overlong_alone,
    "the ratio of a corrected KL, as adapters have it": kl_ratios,
}
# names: misspelt ones, former ones
OF_NAMES = {
    "a misspelt key": lambda: told("loss_typ: dapo\n", 1, "did you mean loss_type?"),
    "a former name without sections": lambda: "did you mean algo.advantage.estimator?" in translate_text(
        "openrlhf", "advantage_estimator: rloo\n"),
    "a name of an earlier release": lambda: "did you mean actor.entropy_coef?" in translate_text("openrlhf", "entropy_loss_coef: 1\n"),
    "no misspelt key: a common last name, and one of a key that is given": lambda: told(
        "logger.type: x\nrun.epsilon: 1\nepsilon: 0.2\n", 0, "or unknown: logger.type, run.epsilon\n"),
    "no misspelt key: a likeness of the sections alone": lambda: "did you mean" not in translate_text(
        "verl", "actor_rollout_ref.actor.strategy: fsdp\n") + translate_text("prime_rl", "orchestrator.algo.length_penalty.type: x\n"),
    "a misspelt section: the option of the same last name": lambda: "(did you mean actor_rollout_ref.actor.tau_pos?)" in translate_text(
        "verl", "actor_rollout_ref.actor.policy_loss.tau_pos: 1\n"),
    "a misspelt section: not an option of a similar last name": lambda: "policy_loss.clip_cov_ratio?)" in translate_text(
        "verl", "actor_rollout_ref.actor.clip_cov_ratio: 1\n"),
    "former names": lambda: made("verl", OVERLONG + "reward_model.reward_manager: dapo\nreward.reward_manager.name: naive\n", LINEAR),
    "a former name that is null": lambda: made(
        "verl", OVERLONG + "reward.reward_manager.name: dapo\nreward_model.reward_manager: null\n", LINEAR),
    "a key that is not of the loss": lambda: told("learning_rate: 1e-6\n", 0, "no options of the loss, or unknown: learning_rate\n"),
}
# files, commands, pages
OF_FORMS = {
    "there are frameworks": lambda: len(translate("--list")[1].splitlines()) >= 10,
    "examples are expected": lambda: {*expected(), "expected.json"} == {*os.listdir(os.path.join(HERE, "examples"))},
    "a file without --config": positional,
    "a configuration of the framework": lambda: "not read" not in translate_text(
        "verl", "main_ppo --config-name=ppo_megatron_trainer.yaml \\\n  data.x=1\n"),
    "a Python program": python,
    "YAML with a command in a comment": lambda: made("trl", "# train.py \\\n#  --config this.yaml\nbeta: 0.5\n",
                                                     {"penalty": {"kl_coef": 0.5}}),
    "TOML": toml,
    "a parent that is not there": lambda: told("defaults: nothing.yaml\n", 2, "nothing.yaml"),
    "JSON, YAML, lines and commands": same_in_every_form,
    "OPTIONS.md is current": lambda: translate("--check")[0] == 0,
}


def main():
    names = [line.split()[0] for line in translate("--list")[1].splitlines()]
    checks = {f"defaults of {name}": (lambda name=name: defaults(name)) for name in names}
    checks.update(of_pitfalls())
    checks.update({f"{how} ({case[0]})": (lambda case=case: made(*case)) for how, *case in MADE})
    checks.update({f"example {name}": (lambda name=name, x=x: example(name, x)) for name, x in expected().items()})
    checks.update({f"defaults, {how}": (lambda case=case: inherits(*case)) for how, *case in INHERITED})
    checks.update({f"script: {how}": (lambda case=case: script(*case)) for how, *case in SCRIPTS})
    for singles in (OF_ROWS, OF_CUTS, OF_VALUES, OF_NAMES, OF_FORMS):
        checks.update(singles)
    failed = 0
    for name, check in checks.items():
        try:
            passed = check()
        except Exception as why:  # counted and named
            passed, name = False, f"{name} ({type(why).__name__}: {why})"
        failed += not passed
        print(("PASS " if passed else "FAIL ") + name)
    print(f"{len(checks) - failed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
