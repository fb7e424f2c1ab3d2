"""The vectors: cases of one objective on a small batch, with exact answers."""

from __future__ import annotations

import dataclasses
import difflib
import fnmatch
import functools
import json
import pathlib
from typing import Any, Iterable, List, Mapping, Optional, Set, Tuple, cast

import numpy as np

from .batch import Batch, TorchBatch, numpy_batch, ragged_rows, torch_batch

KINDS = ("objective", "split", "logits", "hidden", "call")  # cases of other kinds are left out
_FROM_LOGITS = ("logits", "hidden", "weight", "target", "banned", "dlogp", "dentropy")
Json = Mapping[str, Any]
_HERE = pathlib.Path(__file__).resolve().parent


def vectors_directory() -> pathlib.Path:
    """The folder of the JSON files: inside the installed package, or that of the checkout."""
    inside = _HERE / "vectors"
    return inside if inside.is_dir() else _HERE.parents[2] / "tests" / "vectors"


@dataclasses.dataclass(frozen=True)
class Case:
    """One batch and the exact answers. Per-token arrays are padded [N, T]: response i has length[i] tokens, then padding."""

    id: str
    variant: str  # the row: "gspo"
    kind: str  # "objective", "split", "logits", "hidden" or "call"
    comment: str  # what the batch is made to show
    flags: Tuple[str, ...]
    paper: str
    equations: str
    evidence: str  # what the row rests on: "paper", "framework default", ...
    raw: Json = dataclasses.field(repr=False)  # the case as it stands in the file
    precision: str = "f64"  # of the arrays, and of the comparison: "f64" or "f32"

    # ---- the parts of the file
    @property
    def objective(self) -> Json:
        return cast(Json, self.raw.get("objective", {}))

    @property
    def expect(self) -> Json:
        return cast(Json, self.raw["expect"])

    @property
    def scale(self) -> Json:
        return cast(Json, self.raw["scale"])

    @property
    def defects(self) -> Json:
        return cast(Json, self.raw.get("defects", {}))

    @property
    def batch(self) -> Json:
        """The arrays as in the file, with `advantage` the given ones or, where there are none, the exact answer."""
        batch = dict(self.raw.get("batch", {}))
        if self.kind in ("logits", "hidden"):
            batch.update({name: self.raw[name] for name in _FROM_LOGITS if name in self.raw})
            batch.setdefault("length", [len(row) for row in batch["target"]])
            batch.setdefault("group", [0] * len(batch["length"]))
        if "advantage" not in batch and "advantage" in self.expect:
            batch["advantage"] = self.expect["advantage"]
        return batch

    def setting(self, path: str) -> Any:
        """A choice or a number of the objective, `surrogate.eps_low` say; its default where the case leaves it out."""
        axis, field = path.split(".")
        value = self.objective.get(axis, {}).get(field)
        if value is None:
            return _default(axis, field)
        return float(value) if value in ("Infinity", "-Infinity") else value

    @property
    def temperature(self) -> float:
        """Of the kinds "logits" and "hidden"."""
        return float(self.raw.get("temperature", 1))

    # ---- arrays
    def numpy(self, pad: float = 0.0) -> Batch:
        """All arrays, padded, in new NumPy arrays of the case's precision."""
        return numpy_batch(self.batch, np.dtype({"f64": "float64", "f32": "float32"}[self.precision]), pad)

    @functools.cached_property
    def _torch(self) -> TorchBatch:
        return torch_batch(self.numpy())

    def torch(self) -> TorchBatch:
        """The same as tensors. `logp`, `entropy`, `log_partition`, `logits`, `hidden` and `weight` require a gradient: return the scalar
        loss and it is taken for you."""
        return self._torch

    def ragged(self, name: str) -> List[np.ndarray]:
        """A per-token array as a list with one array for each response, without padding."""
        array = self._array(name)
        return [array[i, :n] for i, n in enumerate(self.batch["length"])]

    def _array(self, name: str) -> np.ndarray:
        array: Optional[np.ndarray] = getattr(self.numpy(), name)
        if array is None:
            raise AttributeError(f"{self.id} has no {name}: getattr(case, {name!r}, None), where a case may lack it")
        return array

    @property
    def group(self) -> np.ndarray:
        """[N] the prompt of each response, from 0, ascending."""
        return self._array("group")

    @property
    def length(self) -> np.ndarray:
        """[N] tokens of each response, masked ones included."""
        return self._array("length")

    @property
    def reward(self) -> np.ndarray:
        """[N]"""
        return self._array("reward")

    @property
    def logp(self) -> np.ndarray:
        """[N, T] log-probabilities under the policy that is trained."""
        return self._array("logp")

    @property
    def logp_old(self) -> np.ndarray:
        """[N, T] under the policy at the start of the update."""
        return self._array("logp_old")

    @property
    def logp_ref(self) -> np.ndarray:
        """[N, T] under the frozen reference."""
        return self._array("logp_ref")

    @property
    def advantage(self) -> np.ndarray:
        """[N, T] given with the case, or the exact ones of the objective: so the loss is judged apart from them."""
        return self._array("advantage")

    @property
    def mask(self) -> np.ndarray:
        """[N, T] true where the token counts; false in the padding. Other arrays may hold NaN where it is false."""
        return self._array("mask")

    def fits(self) -> bool:
        """Do the advantages fit the precision? Rewards like 1e7 in binary64 may give some that binary32 does not hold."""
        given = [float(x) for row in ragged_rows(self.batch.get("advantage", [])) for x in row]
        if self.precision == "f64":
            return True
        with np.errstate(over="ignore", under="ignore"):
            return all((np.isfinite(np.float32(x)) and np.float32(x) != 0) or x == 0 or not np.isfinite(x) for x in given)


@functools.lru_cache(maxsize=None)
def _schema() -> Json:
    with open(vectors_directory() / "schema.json", encoding="utf-8") as file:
        return cast(Json, json.load(file)["$defs"])


def report_keys() -> Tuple[str, ...]:
    """The metrics of a report. A case leaves out those that are 0."""
    return tuple(_schema()["report_key"]["enum"])


def flags() -> Tuple[str, ...]:
    """What kinds of cases there are: the flags that `without` takes."""
    return tuple(_schema()["flag"]["enum"])


def _flags(without: Iterable[str]) -> Set[str]:
    given = [without] if isinstance(without, str) else list(without)
    for flag in given:
        if flag not in flags():
            near = difflib.get_close_matches(flag, flags(), n=3)
            raise ValueError(
                f"without: no flag {flag!r}; " + (f"did you mean {', '.join(near)}?" if near else f"there are {', '.join(flags())}")
            )
    return set(given)


def _default(axis: str, field: str) -> Any:
    axes = _schema()["objective"]["properties"]
    try:
        return axes[axis]["properties"][field].get("enum", [0])[0]
    except KeyError:
        paths = [f"{name}.{of_axis}" for name, kind in axes.items() for of_axis in kind.get("properties", {})]
        near = difflib.get_close_matches(f"{axis}.{field}", paths, n=3)
        raise KeyError(f"no axis or field {axis}.{field}" + (f"; did you mean {', '.join(near)}?" if near else "")) from None


@functools.lru_cache(maxsize=None)
def _file(variant: str) -> Json:
    with open(vectors_directory() / f"{variant}.json", encoding="utf-8") as file:
        return cast(Json, json.load(file))


@functools.lru_cache(maxsize=None)
def variants() -> Tuple[str, ...]:
    """The names of all rows, "gspo" and so on."""
    return tuple(sorted(path.stem for path in vectors_directory().glob("*.json") if path.stem != "schema"))


def _named(name: str) -> List[str]:
    found = fnmatch.filter(variants(), name)
    if not found:
        near = difflib.get_close_matches(name, variants(), n=3)
        raise ValueError(f"no vectors {name!r}" + (f"; did you mean {', '.join(near)}?" if near else ""))
    return found


def cases(
    *names: str, kind: str = "objective", only: Optional[str] = None, without: Iterable[str] = (), precision: str = "f64"
) -> List[Case]:
    """The cases of rows by name or pattern ("gspo", "trl-*"): of one kind, with ids that match the pattern `only`, without any that has one
    of the flags `without`; at least one."""
    if kind not in KINDS or precision not in ("f64", "f32"):
        raise ValueError(f"kind is one of {', '.join(KINDS)}; precision is f64 or f32")
    left_out, found = _flags(without), []
    for variant in dict.fromkeys(variant for name in names for variant in _named(name)):
        file = _file(variant)
        head = {key: file.get(key, "") for key in ("variant", "paper", "equations", "evidence")}
        for raw in file["cases"]:
            if (
                raw.get("kind", "objective") == kind
                and not left_out & set(raw["flags"])
                and fnmatch.fnmatchcase(raw["id"], only or "*")
            ):
                found.append(
                    Case(
                        id=raw["id"],
                        kind=kind,
                        comment=raw["comment"],
                        flags=tuple(raw["flags"]),
                        raw=raw,
                        precision=precision,
                        **head,
                    )
                )
    if not found:
        raise ValueError(f"no {kind} case of {', '.join(names)} is left by only = {only!r} and without = {tuple(sorted(left_out))}")
    return found
