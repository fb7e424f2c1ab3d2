"""The reference implementation, grpo.h and gspo.h, from Python, with cffi (pip install .[reference]) and a C compiler (CC, or cc).

    from grpo_conformance import reference

    found = reference.loss("gspo", logp=logp, logp_old=logp_old, advantage=advantage, mask=mask, group=group)
    found["loss"], found["dlogp"], found["report"]["clip_fraction"]

    loss = reference.torch_loss("gspo", settings={"surrogate.eps_high": 5e-4}, logp=logp, logp_old=logp_old, ...)
    loss.backward()

The first import compiles the headers, a few seconds, into the user's cache folder (or GRPO_CONFORMANCE_CACHE); nothing is compiled when the
package is installed. Arithmetic is binary64.
"""

from __future__ import annotations

import functools
import getpass
import hashlib
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Union

import numpy as np

from .batch import FLAGS, PER_GROUP, WHOLE

try:
    import cffi
except ImportError as error:
    raise ImportError("the reference needs cffi: pip install cffi") from error

if TYPE_CHECKING:
    import torch

Row = Union[str, Mapping[str, Mapping[str, Any]]]  # a name, "gspo", or choices as in the objective of a case
_HERE = pathlib.Path(__file__).resolve().parent
_HEADERS = _HERE / "include" if (_HERE / "include").is_dir() else _HERE.parents[2]
_SOURCE = """#define GRPO_DOUBLE
#define GSPO_IMPLEMENTATION
#include "gspo.h"
#define GRPO_LAYOUT_IMPLEMENTATION
#include "extra/grpo_layout.h"
"""
_READ = ("grpo.h", "grpo_blocks.h", "grpo_rows.h", "gspo.h", "extra/grpo_layout.h")


# ---- the library


def _cache() -> pathlib.Path:
    given = os.environ.get("GRPO_CONFORMANCE_CACHE")
    home = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    for folder in (
        pathlib.Path(given) if given else home / "grpo-conformance",
        pathlib.Path(tempfile.gettempdir()) / f"grpo-conformance-{getpass.getuser()}",
    ):
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if os.access(folder, os.W_OK):
                return folder
        except OSError:
            pass
    raise OSError("no folder can be written for the compiled reference: set GRPO_CONFORMANCE_CACHE")


def _compiled() -> pathlib.Path:
    """The library, compiled unless these headers have been by this compiler."""
    command = [*shlex.split(os.environ.get("CC", "cc")), "-std=c99", "-O2", "-fPIC", "-shared", "-x", "c", "-"]
    texts = [_SOURCE, " ".join(command), *((_HEADERS / name).read_text(encoding="utf-8") for name in _READ)]
    key = hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]
    library = _cache() / f"gspo-{key}{'.dylib' if sys.platform == 'darwin' else '.so'}"
    if not library.exists():
        with tempfile.TemporaryDirectory(dir=library.parent) as folder:
            made = pathlib.Path(folder) / library.name
            try:
                subprocess.run(
                    [*command, "-I", str(_HEADERS), "-o", str(made), "-lm"],
                    input=_SOURCE,
                    text=True,
                    check=True,
                    capture_output=True,
                )
            except FileNotFoundError:
                raise ImportError(
                    f"the reference needs a C compiler, and there is no {command[0]}: install one, or set CC"
                ) from None
            except subprocess.CalledProcessError as error:
                raise ImportError(f"{' '.join(command)} fails:\n{error.stderr}") from None
            os.replace(made, library)
    return library


@functools.lru_cache(maxsize=None)
def _library() -> Any:
    ffi = cffi.FFI()
    ffi.cdef((_HEADERS / "extra" / "grpo_declarations.h").read_text(encoding="utf-8"))
    library = ffi.dlopen(str(_compiled()))
    if library.grpo_version_f64() != library.GRPO_VERSION_NUMBER:
        raise ImportError("grpo_declarations.h is of another version than grpo.h")
    return ffi, library


ffi, _c = _library()


def _check(status: int) -> None:
    if status:
        text = ffi.new("char[]", _c.GRPO_MESSAGE_SIZE)
        raise ValueError(ffi.string(_c.grpo_status_message_f64(status, text, _c.GRPO_MESSAGE_SIZE)).decode())


# ---- the objective and the batch


def _set(objective: Any, path: str, value: Any) -> None:
    if isinstance(value, str) and value not in ("Infinity", "-Infinity"):
        _check(_c.grpo_objective_choose_f64(objective, path.encode(), value.encode()))
    else:
        _check(_c.grpo_objective_set_f64(objective, path.encode(), float(value)))


def _objective(row: Row, settings: Optional[Mapping[str, Any]]) -> Any:
    objective = ffi.new("grpo_objective *")
    if isinstance(row, str):
        _check(_c.grpo_objective_named_f64(row.encode(), objective))
    else:
        for axis, fields in row.items():
            for name, value in fields.items():
                _set(objective, f"{axis}.{name}", value)
    for path, value in (settings or {}).items():
        _set(objective, path, value)
    return objective


def _contiguous(name: str, value: Any) -> np.ndarray:
    dtype = np.int64 if name in WHOLE else np.uint8 if name in FLAGS else np.float64
    return np.ascontiguousarray(np.asarray(value).astype(bool) if name in FLAGS else value, dtype=dtype)


class _Batch:
    """grpo_batch over padded arrays: response i begins at i * T."""

    def __init__(self, arrays: Mapping[str, Any]) -> None:
        given = {name: _contiguous(name, value) for name, value in arrays.items() if value is not None}
        if given.get("logp") is None or given["logp"].ndim != 2:
            raise ValueError("logp has the shape [N, T]")
        self.rows, self.width = given["logp"].shape
        group = given.pop("group", np.zeros(self.rows, np.int64))
        if len(group) != self.rows or (self.rows and (group[0] != 0 or not set(np.diff(group)) <= {0, 1})):
            raise ValueError("group is the prompt of each response: from 0, ascending, none left out")
        given["group_begin"] = np.append(np.flatnonzero(np.diff(group, prepend=-1)), self.rows).astype(np.int64)
        given["offset"] = np.arange(self.rows, dtype=np.int64) * self.width
        given.setdefault("length", np.full(self.rows, self.width, np.int64))
        self.groups = len(given["group_begin"]) - 1
        self.advantage = given.pop("advantage", None)
        self.arrays = given
        self.c = self._filled(given)

    def _filled(self, given: Mapping[str, np.ndarray]) -> Any:
        c = ffi.new("grpo_batch_f64 *")
        fields = dict(ffi.typeof("grpo_batch_f64").fields)
        for name, array in given.items():
            if name not in fields:
                raise ValueError(f"a batch has no {name}")
            shape = self._shape(name, array)
            if array.shape != shape:
                raise ValueError(f"{name} has the shape {array.shape}, not {shape}")
            setattr(c, name, ffi.cast(fields[name].type, array.ctypes.data))
        c.n_groups, c.n_tokens = self.groups, self.rows * self.width
        c.n_rewards = given["rewards"].shape[1] if "rewards" in given else 0
        return c

    def _shape(self, name: str, array: np.ndarray) -> Any:
        if name in ("rewards", "reward_weight"):
            return (self.rows, array.shape[-1]) if name == "rewards" else array.shape
        if name == "group_begin":
            return (self.groups + 1,)
        if name in PER_GROUP:
            return (self.groups,)
        return (self.rows,) if name in ("reward", "truncated", "excluded", "offset", "length") else (self.rows, self.width)

    def tokens(self) -> np.ndarray:
        return np.zeros((self.rows, self.width))


def _doubles(array: Optional[np.ndarray]) -> Any:
    return ffi.NULL if array is None else ffi.cast("double *", array.ctypes.data)


# ---- the functions


def advantages(row: Row, settings: Optional[Mapping[str, Any]] = None, **arrays: Any) -> np.ndarray:
    """[N, T] the advantages. Arrays are those of `Batch`, padded; without `group` all responses are of one prompt."""
    batch, objective = _Batch(arrays), _objective(row, settings)
    found = batch.tokens()
    _check(_c.grpo_advantages_f64(objective, batch.c, _doubles(found)))
    return found


def loss(row: Row, settings: Optional[Mapping[str, Any]] = None, **arrays: Any) -> Dict[str, Any]:
    """The outputs loss, term, dlogp and report; dentropy, ddivergence_ref and dlog_partition where their arrays are given. `advantage` is
    [N, T]."""
    batch, objective = _Batch(arrays), _objective(row, settings)
    if batch.advantage is None:
        batch.advantage = advantages(row, settings, **arrays)
    if batch.advantage.shape != (batch.rows, batch.width):
        raise ValueError(f"advantage has the shape {batch.advantage.shape}, not {(batch.rows, batch.width)}")
    written: Dict[str, np.ndarray] = {"term": batch.tokens(), "dlogp": batch.tokens()}
    if "entropy" in batch.arrays:
        written["dentropy"] = batch.tokens()
    if "divergence_ref" in batch.arrays:
        written["ddivergence_ref"] = batch.tokens()
    if "log_partition" in batch.arrays:
        written["dlog_partition"] = np.zeros(batch.groups)
    scratch = np.zeros(max(_c.gspo_scratch_f64(objective, batch.c), 1))
    out, report = ffi.new("grpo_output_f64 *"), ffi.new("grpo_report *")
    for name, array in written.items():
        setattr(out, name, _doubles(array))
    out.scratch, out.scratch_size = _doubles(scratch), len(scratch)
    _check(_c.gspo_loss_f64(objective, batch.c, _doubles(batch.advantage), ffi.NULL, out, report))
    metrics = {name: getattr(report, name) for name, _ in ffi.typeof("grpo_report").fields if name not in ("loss", "overflow")}
    return {"loss": report.loss, **written, "report": metrics}


_DIFFERENTIATED = ("logp", "entropy", "divergence_ref", "log_partition")


@functools.lru_cache(maxsize=None)
def _autograd() -> Any:
    import torch

    class Loss(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, evaluate: Any, *leaves: Any) -> Any:
            found = evaluate()
            gradients = [found.get(f"d{name}") for name in _DIFFERENTIATED]
            ctx.gradients = [
                None if x is None or y is None else torch.as_tensor(x, dtype=y.dtype, device=y.device)
                for x, y in zip(gradients, leaves)
            ]
            return torch.as_tensor(found["loss"], dtype=leaves[0].dtype, device=leaves[0].device)

        @staticmethod
        def backward(ctx: Any, *gradient: Any) -> Any:
            return (None, *(None if x is None else gradient[0] * x for x in ctx.gradients))

    return Loss


def torch_loss(row: Row, settings: Optional[Mapping[str, Any]] = None, **arrays: Any) -> "torch.Tensor":
    """The loss as a scalar tensor, for `backward()`: its gradients by logp, entropy, divergence_ref and log_partition are those of
    the reference, exact."""
    plain = {name: x.detach().cpu().double().numpy() if hasattr(x, "detach") else x for name, x in arrays.items()}
    leaves: List[Any] = [arrays.get(name) for name in _DIFFERENTIATED]
    found: "torch.Tensor" = _autograd().apply(lambda: loss(row, settings, **plain), *leaves)
    return found
