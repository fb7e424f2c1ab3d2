"""Frameworks that are not installed: their definitions are taken from a clone of the repository, without importing it.

FOLDER has a folder for each of them (slime, nemo_rl, prime_rl, open_instruct, roll), cloned at the commit that the data name as their
release.
"""
import ast
import contextlib
import os
import subprocess
import sys
import types
from unittest import mock

import numpy as np
import torch

from options import translate

FOLDER = os.environ.get("SOURCES")


def path_of(name, *parts):
    return os.path.join(FOLDER, name, *parts)


def told_commit(name):
    """Says on standard error if the clone is at another commit than the data, or if that cannot be seen."""
    wanted = translate.data_of(name)["release"]
    done = subprocess.run(["git", "-C", path_of(name), "rev-parse", "--show-toplevel", "HEAD"], capture_output=True, text=True, check=False)
    found = done.stdout.split()
    if done.returncode or os.path.realpath(found[0]) != os.path.realpath(path_of(name)):
        print(f"{name}: no clone: whether it is commit {wanted} is not checked", file=sys.stderr)
    elif found[1] != wanted:
        print(f"{name}: the clone is at {found[1]}, the data are of {wanted}", file=sys.stderr)


def plain(node):
    """Functions without annotations, and without decorators but those of methods: both name what is not loaded here."""
    for part in ast.walk(node):
        if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)):
            part.returns = None
            part.decorator_list = [d for d in part.decorator_list if getattr(d, "id", None) in ("staticmethod", "classmethod", "property")]
            of = part.args
            for argument in of.posonlyargs + of.args + of.kwonlyargs + [x for x in (of.vararg, of.kwarg) if x]:
                argument.annotation = None
    return node


def definitions(path, names, **context):
    """The named functions, methods (of a class as functions), classes and constants of a file."""
    with open(path, encoding="utf-8") as f:
        tree = ast.parse(f.read())
    body = tree.body + [part for node in tree.body if isinstance(node, ast.ClassDef) for part in node.body]
    named = lambda node: getattr(node, "name", None) or getattr(node.targets[0] if isinstance(node, ast.Assign) else
                                                                getattr(node, "target", None), "id", None)
    found = {named(node): plain(node) for node in reversed(body) if named(node) in names}  # the first of several
    missing = [name for name in names if name not in found]
    if missing:
        raise LookupError(f"{path} does not define {' '.join(missing)}")
    context.setdefault("__name__", os.path.basename(path))
    exec(compile(ast.Module([found[name] for name in names], []), path, "exec"), context)
    return types.SimpleNamespace(**{name: context[name] for name in names})


def parser_defaults(path, calls=("add_argument", "reset_arg")):
    """{option: default} of the options of a parser; a switch that is not given is False, whatever it sets."""
    with open(path, encoding="utf-8") as f:
        nodes = [n for n in ast.walk(ast.parse(f.read())) if isinstance(n, ast.Call)]
    found = {}
    for call in nodes:
        name = next((a.value for a in call.args if isinstance(a, ast.Constant) and str(a.value).startswith("--")), None)
        if name and (getattr(call.func, "attr", None) or getattr(call.func, "id", None)) in calls:
            words = {k.arg: k.value for k in call.keywords}
            with contextlib.suppress(ValueError):  # a default that is computed: none of the options that are needed here
                switch = "action" in words and ast.literal_eval(words["action"]).startswith("store_")
                found[name[2:]] = False if switch else ast.literal_eval(words["default"]) if "default" in words else None
    return found


@contextlib.contextmanager
def doubles():
    """Code that asks for float32 gets float64."""
    with mock.patch.object(torch, "float32", torch.float64), mock.patch.object(torch, "float", torch.float64), \
            mock.patch.object(torch.Tensor, "float", torch.Tensor.double), mock.patch.object(np, "float32", np.float64):
        yield


def modules(**of):
    """Stand-ins for modules that functions import when they run; a_b.c as a_b__c."""
    return mock.patch.dict(sys.modules, {name.replace("__", "."): module for name, module in of.items()})


def rows(x, b):
    """The tokens of each response."""
    return [row[:n] for row, n in zip(x, b.length)]


def padded(parts, b):
    """Back from the tokens of each response."""
    out = torch.zeros_like(b.logp)
    for row, (part, n) in enumerate(zip(parts, b.length)):
        out[row, :n] = part
    return out
