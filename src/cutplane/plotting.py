"""Plots of training runs and models, for notebooks."""

from cutplane.report.model_plots import plot_features, plot_path
from cutplane.report.plots import plot_convergence

__all__ = ["plot_convergence", "plot_features", "plot_path"]
