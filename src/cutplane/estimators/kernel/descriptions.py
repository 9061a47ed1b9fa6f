"""What kernel estimators say of their parameters and attributes."""

from __future__ import annotations

from cutplane.estimators.common.descriptions import COMMON
from cutplane.estimators.common.documented import shown, table
from cutplane.kernels.table import COMPUTED

_COMPUTED = ", ".join(map(shown, COMPUTED))

# Kernels themselves, wherever they are used.
KERNELS = COMMON | table(
    f"""
    kernel : {{{_COMPUTED}, "precomputed"}} or callable
        The kernel; `cutplane.kernels.FORMULAS` says what each computes. For "precomputed" X is the kernel matrix: of
        all training examples with each other in `fit`, of new ones with the training examples afterwards. A callable
        is called as ``kernel(A, B)`` with some of the examples and returns an array of shape (len(A), len(B)).
    degree : int
        Of the polynomial kernel.
    gamma : {{"scale", "auto"}} or float
        Of all kernels but the linear one: 1 / (n_features * X.var()), 1 / n_features, or the number given.
    coef0 : float
        Of the polynomial and the sigmoid kernel.
    random_state : int, RandomState or None
        For the samples; None is a fixed seed.
    """
)

# Features whose products are a kernel's.
MAPS = KERNELS | table(
    f"""
    kernel : {{{_COMPUTED}}} or callable
        The kernel; `cutplane.kernels.FORMULAS` says what each computes. A callable is called as ``kernel(A, B)`` with
        some of the examples and returns an array of shape (len(A), len(B)).
    device : {"cuda"} or None
        "cuda" computes kernel values and features on the GPU, with kernels linear, poly, rbf and sigmoid. None is where
        examples lie: the processor, or a GPU. Features of arrays on a GPU are arrays there, others come back.
    basis_ : array
        The examples projected on.
    projection_ : array
        Kernel values with the basis times this are the features.
    """
)

# Machines trained by SMO, one at a time.
MACHINE = KERNELS | table(
    """
    C : float
        Weight of the losses against flatness, per example. Infinity is taken as 1e10, and that is what is certified
        then.
    shrinking : bool
        Whether variables that seem to stay at a bound are left out for a while.
    tol : float
        What `stopping` is held against.
    cache_size : float or None
        Memory for kernel rows, in MB; None is a quarter of what is free.
    verbose : bool
        Print a line now and then.
    max_iter : int or None
        Pair steps at most; -1 or None for as many as it takes.
    selection : {"second-order", "conjugate", "ofs2", "ofs1", "mvp", "hmg"}
        How a pair of variables is chosen; the default is what measured fastest with the RBF kernel. "conjugate" takes
        steps along conjugate directions too, which is faster where there are many: polynomial kernels, large C.
    stopping : {"kkt", "gap", "pair"}
        "kkt": the optimality conditions are violated by at most `tol`, as in LIBSVM. "gap": the relative duality gap
        is at most `tol`. "pair": the pair selected violates less than `tol`, as the OFS paper has it, which proves
        nothing.
    working_set : int or None
        2 takes one pair at a time; None chooses.
    time_limit : float or None
        Seconds at most, for all of `fit`.
    device : {"cuda"} or None
        "cuda" trains and predicts on the GPU: all machines side by side, with kernels linear, poly, rbf, sigmoid and
        precomputed, selection "second-order" and stopping "kkt". Bounds are always those of the kernel then. None is
        where examples lie: the processor, or a GPU.
    on_step : callable or None
        Called with a `Step` now and then; returning True ends the fit.
    keep_proof : bool
        Whether what `cutplane.verify` needs is kept as `proof_`, for `save`: a hash of the data and both bounds, those
        of the kernel itself in double precision.
    support_ : array of shape (n_SV,)
        Positions of the support vectors among the training examples.
    support_vectors_ : array or CSR array of shape (n_SV, n_features)
        Empty for a precomputed kernel.
    n_support_ : array of shape (1,)
        The number of support vectors.
    dual_coef_ : array of shape (1, n_SV)
        Coefficients of the support vectors; sparse if X was.
    intercept_ : array of shape (1,)
        What is added to the sum over support vectors.
    coef_ : array of shape (1, n_features)
        For ``kernel="linear"`` only.
    objective_, lower_bound_ : float
        The primal objective at the model, and a lower bound on every model's: sums over the machines. Where the kernel
        is not positive semi-definite nothing is proven: `lower_bound_` is -inf and `gap_` is inf.
    certificate_of_ : str
        What they are proven for: "kernel", the kernel itself, evaluated in double precision, or "single-precision
        kernel matrix", the matrix that was trained on, where the former would cost more than a tenth of the training.
        " (assumed positive semi-definite)" follows where nobody has looked.
    n_iter_ : int
        Pair steps.
    fit_status_ : int
        0 if the rule was met, else 1.
    shape_fit_ : tuple
        The shape of X in `fit`.
    """
)

# Several machines, for pairs of classes or for each against the rest.
MACHINES = MACHINE | table(
    """
    C : float
        Weight of the losses against the margin, per example. Infinity is taken as 1e10, and that is what is certified
        then.
    probability : bool, "sigmoid" or "isotonic"
        Whether to learn probabilities: cross-validated decision values are mapped to them by a sigmoid (True is the
        same) or an isotonic curve. `predict` does not depend on it, and the largest probability is always that of the
        class `predict` gives.
    class_weight : dict, "balanced" or None
        Factors on the weights of examples by class.
    max_iter : int or None
        Pair steps at most for each machine; -1 or None for as many as it takes.
    decision_function_shape : {"ovr", "ovo"}
        With several classes, whether `decision_function` has a value for each class or for each pair.
    break_ties : bool
        With several classes, whether equal votes are decided by decision values instead of the order of classes.
    random_state : int, RandomState or None
        For the folds behind probabilities; None is a fixed seed.
    multi_class : {"ovo", "ovr"}
        With several classes, a machine for each pair of them or for each against the rest. They are trained in
        parallel and share one kernel cache.
    class_weight_ : array of shape (n_classes,)
        The factors that `class_weight` stands for.
    n_support_ : array of shape (n_classes,)
        The number of support vectors of each class.
    dual_coef_ : array of shape (n_classes - 1, n_SV) or (n_classes, n_SV)
        Coefficients of the support vectors times labels, in LIBSVM's order; sparse if X was.
    intercept_ : array of shape (n_machines,)
        What is added to each machine's sum over support vectors.
    coef_ : array of shape (n_machines, n_features)
        For ``kernel="linear"`` only.
    n_iter_ : array of shape (n_machines,)
        Pair steps of each machine.
    """
)

# Cutting planes of sampled examples.
CUTS = KERNELS | table(
    """
    C : float
        Weight of the losses against the margin, per example.
    method : {"linear", "constant", "exact"}
        "linear": every example is looked at, cuts are made of `n_samples_cut` (r) of those with a loss: n·r kernel
        values an iteration, and at most as many again in the end, for a bound. "constant": nothing but r sampled
        examples is looked at: the cost of an iteration does not depend on n, and the result is known from samples only.
        "exact": cuts of all examples, n² kernel values.
    n_samples_cut : int or None
        Examples in a sample, at most n; None: 400, or all if there are fewer.
    risk_tol : float
        Training ends when the mean loss is within this of the cuts' model of it; "constant": in four samples in a row.
    stabilised : bool
        Whether "linear" and "exact" take cuts near the best point on the line to the model's minimiser, as OCA does,
        instead of at the minimiser as the paper does: fewer cuts are needed. With "constant", whether the model is the
        mean of the minimisers in the last part of the run instead of the last one: errors are smaller, and there are
        more support vectors.
    memory : int or None
        Bytes for the products of cuts with all examples, 4·n·classes for each cut ("linear" and "exact"); None: a
        quarter of what is free.
    max_iter : int or None
        Iterations at most, -1 or None for no limit; 1,000 at most where the kernel turns out not to be
        positive semi-definite.
    device : {"cuda"} or None
        "cuda" computes kernel values and their sums on the GPU, in training and in predictions, with kernels linear,
        poly, rbf, sigmoid and precomputed; the rest stays on the processor. Bounds are always those of the kernel then.
        None is where examples lie: the processor, or a GPU.
    on_step : callable or None
        Called with a `Step` after every iteration; returning True ends the fit.
    objective_ : float
        ½|w|² + C·Σ lossᵢ of the model; with "constant", an estimate from samples.
    violation_ : float
        By how much the mean loss is above the cuts' model of it; "constant" and stabilised, the mean of the violations.
    bound_, bound_probability_ : float
        With at least this probability, `objective_` (the true one) exceeds the optimum by at most `bound_`: the
        paper's Theorems 2 and 3, which are coarse. With "exact": the gap, with certainty.
    lower_bound_, gap_ : float
        A proven bound on the optimum and the relative gap. With "linear" they are of planes of all examples, evaluated
        once when training ends, and the gap is a few per cent: training stops by `risk_tol`. With "constant" nothing
        has looked at all examples, so nothing is proven: -inf and inf.
    certificate_of_ : str
        Not with "constant": what the bounds are for. "kernel": evaluated in double precision, all rounding charged.
        "single-precision kernel matrix": where that would cost much beside the training, those of the run with an
        allowance. As for `SVC`, it says where the kernel is assumed, or found not, to be positive semi-definite.
    stop_reason_ : {"risk_tol", "max_iter", "time_limit", "interrupted", "stalled"}
        "stalled": the run seemed to be within its tolerance, but in double precision it is not.
    """
)
