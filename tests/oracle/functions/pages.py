"""The pages vectors/functions/*.md, from the functions' docstrings."""
import importlib
import inspect
import re

from functions import FUNCTIONS
from functions.mistakes import MISTAKES

SUBJECTS = {
    "selection": "which tokens, responses and prompts are trained on, kept or sampled",
    "control": "coefficients, clips and state that adapt to measured values",
    "credit": "advantages that the advantage axis does not have",
    "rewards": "rewards of a response, a group or a list",
    "weights": "weights of tokens, responses and prompts",
    "critic": "the value loss, the proximal policy, distances from a teacher",
    "flow": "steps of a sampler of images or video as tokens, and losses on what a denoiser predicts",
    "distill": "divergences of next-token distributions from a teacher, and functions for self-distillation",
}


def module_of(name):
    return FUNCTIONS[name].__module__.rpartition(".")[2]


def subject_of(name):
    return module_of(name).partition("_")[0]


def wrapped(text, width=136):
    """Wraps text such that no line begins with a Markdown mark."""
    words, line = re.sub(r" ([-+*=#<>]|\d+[.)])(?= )", "\0\\1", " ".join(text.split())).split(" "), ""
    lines = []
    for word in words:
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return "\n".join(lines + [line]).replace("\0", " ")


def told_mistakes(name):
    """The known mistakes of the function."""
    known = [wrapped("- " + what) for what, _ in MISTAKES.get(name, ())]
    return ["Mistakes that its cases detect:\n\n" + "\n".join(known)] if known else []


def entry(name):
    """`Source:`, `Takes:`, `Gives:` and what follows of a docstring, the summary left out."""
    page, _, more = inspect.getdoc(FUNCTIONS[name]).split("\n\n", 1)[1].partition("\n\n")
    source, takes, gives = re.fullmatch(r"(?:Source: (.*?)\n)?Takes: (.*?)\nGives: (.*)", page, re.DOTALL).groups()
    title = f"### `{name}`" + (f" ({' '.join(source.split())})" if source else "")
    return "\n\n".join([title, wrapped("Takes: " + takes), wrapped("Gives: " + gives)] + [more] * bool(more) + told_mistakes(name))


def page(subject):
    parts = [f"# {subject.capitalize()}: {SUBJECTS[subject]}",
             "Written by `tests/oracle/functions/write.py`. [The README](../README.md#functions) defines the terms; the cases are in\n"
             "[`calls.json`](../calls.json)."]
    names = [name for name in FUNCTIONS if subject_of(name) == subject]
    for module in dict.fromkeys(map(module_of, names)):
        parts.append("## " + importlib.import_module("functions." + module).__doc__.strip().rstrip("."))
        parts += [entry(name) for name in names if module_of(name) == module]
    return "\n\n".join(parts) + "\n"


def pages():
    """{file in vectors: text}"""
    return {f"functions/{subject}.md": page(subject) for subject in SUBJECTS}
