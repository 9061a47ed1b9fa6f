"""What estimators of several families say of their parameters and attributes."""

from __future__ import annotations

from cutplane.estimators.common.documented import table

COMMON = table(
    """
    tol : float
        The relative gap (upper - lower) / upper at which training ends.
    max_iter : int or None
        Iterations at most.
    time_limit : float or None
        Seconds at most.
    n_jobs : int or None
        Threads; None leaves it to OpenMP (``OMP_NUM_THREADS``, threadpoolctl), -1 takes all processors. The model
        does not depend on it.
    on_step : callable or None
        Called with a `Step` after every iteration; returning True ends the fit.
    checkpoint : path-like or None
        A file to keep what `fit` has reached, while it runs. If the process is killed, the same fit goes on from there.
        See docs/files.md.
    checkpoint_every : float
        Seconds between two checkpoints, or more where one takes long to write.
    class_weight : dict, "balanced" or None
        Factors on C by class.
    objective_, lower_bound_, gap_ : float
        The objective at the model, a proven lower bound on its least value, and their relative difference.
    n_iter_ : int
        Iterations.
    history_ : list of Step
        What each iteration reached.
    stop_reason_ : str
        "gap", "max_iter", "time_limit", "interrupted" or "stalled".
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
        Features of the examples in `fit`.
    feature_names_in_ : array of shape (n_features_in_,)
        Where X has names.
    """
)
