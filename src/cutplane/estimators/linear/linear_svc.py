"""`LinearSVC`: linear classification of two classes or more with a certificate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cutplane._types import ClassWeight, Device, MatrixLike, RandomState
from cutplane.estimators.common import validation
from cutplane.estimators.common.documented import documented
from cutplane.estimators.common.parameters import keep_parameters
from cutplane.estimators.common.proofs import AnyProving
from cutplane.estimators.linear.crammer_singer import MULTI_CLASS, CrammerSinger
from cutplane.estimators.linear.descriptions import LINEAR_CLASSES
from cutplane.estimators.linear.linear_classifier import LinearClassifier
from cutplane.risks.base import Risk
from cutplane.solvers.result import Step


@documented(LINEAR_CLASSES)
class LinearSVC(LinearClassifier):
    """Linear support vector classification, proven optimal up to `tol`.

    Minimises ½|w|² + C·Σ loss(yᵢ(⟨w, xᵢ⟩ + b)) over w and the intercept b, which is not penalised; the loss is
    max(0, 1 - margin) unless `loss` says otherwise.

    Parameters
    ----------
    C, penalty, loss, loss_options, calibration, multi_class, cost_matrix, rescaling, class_features, dual, tol,
    absolute_tol, risk_tol, method, line_search, fit_intercept, intercept_scaling, prior, nonnegative, class_weight,
    max_iter, time_limit, n_jobs, device, warm_start, random_state, verbose, on_step, keep_proof, certain_on,
    checkpoint, checkpoint_every

    Attributes
    ----------
    coef_, intercept_, classes_, certificates_, objective_, lower_bound_, gap_, n_iter_, history_, stop_reason_,
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from cutplane import LinearSVC
    >>> model = LinearSVC(C=1.0).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> model.predict([[0.5], [2.5]])
    array([0, 1])
    >>> bool(model.gap_ <= 1e-3)
    True
    """

    multi_class: str
    cost_matrix: ArrayLike | None
    rescaling: str
    class_features: ArrayLike | None

    def __init__(
        self,
        C: float = 1.0,
        *,
        penalty: str = "l2",
        loss: str | Callable[..., Risk] = "hinge",
        loss_options: Mapping[str, object] | None = None,
        calibration: str | None = None,
        multi_class: str = "ovr",
        cost_matrix: ArrayLike | None = None,
        rescaling: str = "margin",
        class_features: ArrayLike | None = None,
        dual: bool | str = "auto",
        tol: float = 1e-3,
        absolute_tol: float = 0.0,
        risk_tol: float = 0.0,
        method: str = "auto",
        line_search: str = "adaptive",
        fit_intercept: bool = True,
        intercept_scaling: float | None = None,
        prior: ArrayLike | None = None,
        nonnegative: ArrayLike | None = None,
        class_weight: ClassWeight = None,
        max_iter: int | None = 10_000,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        device: Device = None,
        warm_start: bool = False,
        random_state: RandomState = None,
        verbose: bool | int = 0,
        on_step: Callable[[Step], object] | None = None,
        keep_proof: bool = False,
        certain_on: tuple[MatrixLike, float] | None = None,
        checkpoint: str | PathLike[str] | None = None,
        checkpoint_every: float = 30.0,
    ) -> None:
        keep_parameters(locals())

    @property
    def _together(self) -> bool:
        return self.multi_class == "crammer_singer"

    @property
    def _joint_name(self) -> str:
        return self.multi_class

    def _joint_proofs(self) -> AnyProving:
        from cutplane.estimators.linear.joint_proofs import JointProofs

        return JointProofs(self)

    def _check_own(self) -> None:
        """Refuse what only one way of having several classes understands, where it is not that way."""
        joint = validation.check_choice("multi_class", self.multi_class, MULTI_CLASS) == "crammer_singer"
        if joint and self.loss != "hinge":
            raise ValueError(f"multi_class='crammer_singer' is for loss='hinge', not loss={self.loss!r}.")
        for name, value in (("prior", self.prior), ("nonnegative", self.nonnegative)):
            if joint and value is not None and self.class_features is not None:
                raise ValueError(f"{name} is for weights of each class of its own: class_features must be None.")
        for name, value, default in (
            ("cost_matrix", self.cost_matrix, None),
            ("class_features", self.class_features, None),
            ("rescaling", self.rescaling, "margin"),
        ):
            if not joint and value is not default and not (isinstance(value, str) and value == default):
                raise ValueError(f"{name} is for multi_class='crammer_singer', not multi_class='ovr'.")

    def _make_joint(self) -> CrammerSinger:
        if self.nonnegative is not None and len(self.classes_) == 2:
            raise ValueError(
                "nonnegative with multi_class='crammer_singer' is for three classes and more: of two, `coef_` is the "
                "difference; multi_class='ovr' bounds that."
            )
        return CrammerSinger.checked(self.classes_, self.cost_matrix, self.rescaling, self.class_features)

    def _check_scattered(self) -> None:
        if self._together:
            raise ValueError(
                "multi_class='crammer_singer' is trained in one place; on a Dask collection or several GPUs, 'ovr' is."
            )

    def _class_factors(self) -> NDArray[np.float64]:
        if self.class_features is None:
            return super()._class_factors()
        return np.asarray(self.class_features, np.float64)
