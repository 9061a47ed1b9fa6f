"""Plots of training runs and models, for notebooks."""

from cutplane.report.certified_plot import plot_certified
from cutplane.report.importance import plot_importance
from cutplane.report.model_plots import plot_features, plot_path
from cutplane.report.plots import plot_convergence
from cutplane.report.string_plots import plot_logo, plot_poim

__all__ = [
    "plot_certified",
    "plot_convergence",
    "plot_features",
    "plot_importance",
    "plot_logo",
    "plot_path",
    "plot_poim",
]
