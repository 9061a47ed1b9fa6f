"""What estimators of several families say of their parameters and attributes."""

from __future__ import annotations

from cutplane.estimators.common.documented import table

COMMON = table(
    """
    tol : float
        The relative gap (upper - lower) / |upper| at which training ends.
    max_iter : int or None
        Iterations at most; None or -1 for no limit.
    time_limit : float or None
        Seconds at most, for all of `fit`; None for no limit.
    n_jobs : int or None
        Threads; None leaves it to OpenMP (``OMP_NUM_THREADS``, threadpoolctl), -1 takes all processors. The model
        does not depend on it, but for long sparse rows from eight threads on: see docs/cores.md.
    on_step : callable or None
        Called with a `Step` after every iteration; returning True ends the fit.
    checkpoint : path-like or None
        A file to keep what `fit` has reached, while it runs. If the process is killed, the same fit goes on from there.
        See docs/files.md.
    checkpoint_every : float
        Seconds between two checkpoints, or more where one takes long to write.
    class_weight : dict, "balanced" or None
        Factors on C by class.
    certificates_ : list of ProblemCertificate
        For each problem that was solved (one for each class against the rest, one for each pair of classes, or one in
        all): `problem`, `objective`, `lower_bound`, `gap`, `stop_reason`, `n_iter`, `seconds` and `history`. The
        attributes below follow from it.
    objective_, lower_bound_ : float
        The objective at the model, and a proven lower bound on its least value: sums over the problems.
    gap_ : float
        (objective - lower_bound) / |objective| of the worst problem; infinite where nothing is proven.
    n_iter_ : int
        Iterations; of several problems, the most.
    history_ : list of Step
        What each iteration reached, one problem after the other; `Step.problem` is a place in `certificates_`.
    stop_reason_ : str
        Why training ended: of several problems' reasons the first of "interrupted", "time_limit", "max_iter",
        "stalled" (no more progress in double precision), "pair", "risk_tol", "kkt", "certain" (as many
        predictions are proven as `certain_on` asks for) and "gap" (the tolerance is proven).
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
        Features of the examples in `fit`.
    feature_names_in_ : array of shape (n_features_in_,)
        Where X has names.
    """
)
