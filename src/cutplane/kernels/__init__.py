"""Kernel machines: kernel functions, kernel matrices with a cache, and their dual problems solved by SMO."""

from cutplane.kernels.functions import Kernel
from cutplane.kernels.matrix import KernelMatrix
from cutplane.kernels.problems import DualProblem
from cutplane.kernels.smo import solve
from cutplane.kernels.smo_result import SMOResult
from cutplane.kernels.table import FORMULAS

__all__ = ["FORMULAS", "DualProblem", "Kernel", "KernelMatrix", "SMOResult", "solve"]
