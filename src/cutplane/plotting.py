"""Plots of training runs."""

from cutplane.report.plots import plot_convergence

__all__ = ["plot_convergence"]
