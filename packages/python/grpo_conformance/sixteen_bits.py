"""Numbers of 16 bits: bfloat16, with the exponents of binary32, and float16."""

from __future__ import annotations

import numpy as np

BFLOAT16, FLOAT16 = 8, 11  # the bits of their mantissa, the first 1 included
NAMES = {BFLOAT16: "bfloat16", FLOAT16: "float16"}


def sixteen_bits(x: np.ndarray, bits: int) -> np.ndarray:
    """The nearest of these numbers, halves to even; beyond the largest: infinite."""
    least, most = (-126, 255.0 * 2.0**120) if bits == BFLOAT16 else (-14, 65504.0)  # least: the exponent of the smallest normal number
    with np.errstate(all="ignore"):
        unit = np.ldexp(1.0, np.maximum(np.frexp(x)[1] - 1, least) - (bits - 1))
        near = np.rint(x / unit) * unit
        found: np.ndarray = np.where(np.isfinite(x) & (x != 0), np.where(np.abs(near) > most, np.copysign(np.inf, x), near), x)
    return found
