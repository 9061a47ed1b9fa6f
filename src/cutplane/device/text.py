"""The text of the kernels: a prelude, the losses of the core, and the sums over them.

NVRTC has no standard headers. The losses' header is free of these but for a few names, which the prelude has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files

#: Losses by the names that the prover has for them, and the order of their parameters.
LOSSES = {
    "hinge": ("HingeLoss", ()),
    "squared_hinge": ("cutplane::SquaredHingeLoss", ()),
    "logistic": ("cutplane::LogisticLoss", ()),
    "tube": ("cutplane::TubeLoss", ("above", "below", "epsilon")),
    "squared_tube": ("cutplane::SquaredEpsilonLoss", ("epsilon",)),
    "huber": ("cutplane::HuberLoss", ("delta",)),
}
#: Types of targets: labels are bytes.
TARGETS = {"int8": "signed char", "float64": "double"}
#: Types of entries, by the names of their dtypes.
ENTRIES = {
    "float32": "float",
    "float64": "double",
    "float16": "half_bits",
    "bfloat16": "bfloat_bits",
    "int8": "signed char",
    "uint8": "unsigned char",
}
#: The losses that many classes are trained by at once.
MARGINS = {"hinge": "HingeMargin", "squared_hinge": "SquaredHingeMargin", "logistic": "LogisticMargin"}
INDICES = {"int32": "int", "int64": "long long"}
#: How letters of strings are read.
STRINGS = {"quarters": "kQuarters", "bytes": "kBytes", "windows": "kWindows"}
#: Steps along a line that a kernel looks at in one go.
STEPS = (1, 2, 4)
#: Shifts of all scores that a kernel looks at in one go.
SHIFTS = 16
#: Lanes that share a dense row, and entries that each reads at once.
LANES = (4, 8, 16, 32)
WIDTHS = (16, 8, 4, 2, 1)

_OF_LOSSES = ("cut", "value", "smoothed", "extrapolated", "curved", "offset", "leans")
_OF_CLASSES = ("class_smoothed", "class_extrapolated", "class_bent", "class_along", "class_proven")
_OF_ENTRIES = ("dense_squares", "dense_sizes", "dense_gather")

_OF_STRINGS = ("string_look_up", "string_count", "string_lengths", "string_letters")

_PRELUDE = """
#define CUTPLANE_INLINE __device__ __forceinline__
namespace std {
typedef unsigned long long uint64_t;
CUTPLANE_INLINE double abs(double x) { return fabs(x); }
CUTPLANE_INLINE double log(double x) { return ::log(x); }
CUTPLANE_INLINE double log1p(double x) { return ::log1p(x); }
template <class To, class From>
CUTPLANE_INLINE To bit_cast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof(To));
  return to;
}
}  // namespace std
"""
# Of kernel machines: what products of examples become, and how many coefficients they are multiplied by at once.
TRANSFORMS = ("identity", "exponential", "power", "tangent")
SUMS_AT_ONCE = (1, 4, 16)
_HEADERS = ("exponential.hpp", "losses.hpp")
_NOT_HERE = re.compile(r"^#(include|pragma once).*$", re.MULTILINE)


def text() -> str:
    """What NVRTC compiles."""
    here = files("cutplane.device")
    headers = (_NOT_HERE.sub("", here.joinpath(name).read_text()) for name in _HEADERS)
    return "\n".join([_PRELUDE, *headers, here.joinpath("kernels.cu").read_text()])


def class_text() -> str:
    """What NVRTC compiles for many classes at once."""
    return text() + files("cutplane.device").joinpath("classes.cu").read_text()


def joint_text() -> str:
    """What NVRTC compiles for classes that are one problem."""
    return text() + files("cutplane.device").joinpath("joint.cu").read_text()


def smo_text() -> str:
    """What NVRTC compiles for kernel machines."""
    return files("cutplane.device").joinpath("smo.cu").read_text()


def kernel_sums(transform: str, at_once: int) -> str:
    """The name of sums of kernel values times so many coefficients at once."""
    return f"kernel_sums<{TRANSFORMS.index(transform)}, {at_once}>"


def string_text() -> str:
    """What NVRTC compiles for strings."""
    return text() + files("cutplane.device").joinpath("strings.cu").read_text()


def string_kernels(kind: str) -> Iterator[str]:
    """The names of passes over strings whose letters are read so."""
    yield from (f"{name}<{STRINGS[kind]}>" for name in _OF_STRINGS)


def rank_text() -> str:
    """What NVRTC compiles for pairs of different rank."""
    return files("cutplane.device").joinpath("ranks.cu").read_text()


def class_kernels(loss: str) -> Iterator[str]:
    """The names of the sums of many classes by a loss."""
    yield from (f"{name}<{MARGINS[loss]}>" for name in _OF_CLASSES)


def loss_kernels(loss: str, targets: str) -> Iterator[str]:
    """The names of the sums of a loss with targets of a type."""
    of = f"{LOSSES[loss][0]}, {TARGETS[targets]}"
    yield from (f"{name}<{of}>" for name in _OF_LOSSES)
    yield from (f"along<{of}, {steps}>" for steps in STEPS)


def dense_kernels(entries: str) -> Iterator[str]:
    """The names of what is asked of dense rows now and then."""
    yield from (f"{name}<{ENTRIES[entries]}>" for name in _OF_ENTRIES)


def pass_kernels(entries: str, lanes: int, width: int, wide: int) -> tuple[str, str]:
    """The names of the two passes over dense rows."""
    return f"dense_scores<{ENTRIES[entries]}, {lanes}, {width}>", f"dense_combine<{ENTRIES[entries]}, {wide}>"


def narrow_kernels(entries: str) -> tuple[str, str]:
    """The names of the two passes over dense rows of few bytes."""
    return f"narrow_scores<{ENTRIES[entries]}>", f"narrow_combine<{ENTRIES[entries]}>"


def sparse_kernels(entries: str, indices: str) -> Iterator[str]:
    """The names of passes over sparse rows."""
    of = f"{ENTRIES[entries]}, {INDICES[indices]}"
    yield from (f"{name}<{of}>" for name in ("csr_scores", "csc_segments", "csc_squared", "csr_squares"))
