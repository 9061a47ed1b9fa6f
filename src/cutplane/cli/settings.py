"""What the options say of an estimator's parameters, whatever the command."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import typer
from numpy.typing import ArrayLike

from cutplane._types import Label, Params
from cutplane.cli.class_weights import class_weight
from cutplane.cli.kernel_options import GammaOption, KernelOption, KernelOptions, gamma_or_word
from cutplane.cli.model_options import ModelOptions, StoppingOptions, TaskOption, WeightOption
from cutplane.cli.task_options import StringOptions


@dataclass(frozen=True, kw_only=True)
class Settings(
    StoppingOptions, StringOptions, KernelOptions, GammaOption, KernelOption, ModelOptions, WeightOption, TaskOption
):
    """The options that every command which trains has; `cutplane train` has more."""

    @property
    def kept(self) -> Params:
        """Parameters of files that training writes as it goes; none, unless a command has them."""
        return {}

    def solver_params(self) -> Params:
        """The parameters that every linear estimator takes under the same names."""
        names = ("C", "tol", "line_search", "max_iter", "time_limit")
        own = {"method": self.method.value, **self.given(*names), **self.kept}
        return {**own, "n_jobs": self.threads, **self.device_params()}

    def device_params(self) -> Params:
        """The GPU, or several of them, where one is asked for; one that is not there is a bad option."""
        if self.device is None:
            return {}
        from cutplane.device.arrays import check_device  # takes time, and is rarely asked for

        device = self.device.split(",") if "," in self.device else self.device
        try:
            check_device(device)
        except (ImportError, ValueError) as error:
            raise typer.BadParameter(str(error), param_hint="--device") from None
        return {"device": device}

    def intercept_params(self) -> Params:
        """How linear models treat the intercept."""
        return {"fit_intercept": not self.no_intercept, "intercept_scaling": self.intercept_scaling}

    def kernel_params(self) -> Params:
        """The parameters by which every estimator with a kernel is told of it."""
        return {
            "kernel": self.kernel,
            "gamma": gamma_or_word(self.gamma),
            "degree": self.degree,
            "coef0": self.coef0,
        }

    def given(self, *names: str) -> Params:
        """Of these parameters, those that the command line sets; an estimator has its own defaults for the others."""
        values = {name: getattr(self, name) for name in names}
        return {name: getattr(value, "value", value) for name, value in values.items() if value is not None}

    def loss_params(self) -> Params:
        """The loss, for estimators that have several; the estimator's own unless given."""
        options = {}
        for pair in self.loss_option or []:
            name, _, number = pair.partition("=")
            try:
                options[name] = float(number)
            except ValueError:
                raise typer.BadParameter(f"{pair!r} is not NAME=NUMBER.", param_hint="--loss-option") from None
        return self.given("loss") | ({"loss_options": options} if options else {})

    def weights(self, y: ArrayLike | None) -> str | dict[Label, float] | None:
        """The weights of classes with these labels; None for labels that are not known yet."""
        return class_weight(self.class_weight, None if y is None else np.unique(y).tolist())
