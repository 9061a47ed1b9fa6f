"""What linear estimators say of their parameters and attributes."""

from __future__ import annotations

from cutplane.estimators.common.descriptions import COMMON
from cutplane.estimators.common.documented import table

LINEAR = COMMON | table(
    """
    C : float
        Weight of the losses against the margin, per example.
    penalty : {"l2"}
        For the sake of scikit-learn's signature: ½|w|² is what certificates are about, and "l1" is refused.
    dual : bool or "auto"
        For the sake of scikit-learn's signature: it changes nothing, `method` says how the model is found.
    verbose : int
        Above 0, print a line after every iteration; classes are then trained one after the other.
    loss_options : dict or None
        Further keyword arguments of the loss.
    multi_class : {"ovr", "crammer_singer"}
        More than two classes as one problem for each class against the rest, or as one problem for all of them
        (Crammer and Singer): ½|W|² + C·Σ max over y of [cost(yᵢ, y) + s_y(xᵢ) - s_yᵢ(xᵢ)], s being the scores.
    cost_matrix : array of shape (n_classes, n_classes) or None
        For ``multi_class="crammer_singer"``: what it costs to say class y of an example of class k, row k, column y, in
        the order of `classes_`. Zero on the diagonal, positive elsewhere; None is 1 for every mistake.
    rescaling : {"margin", "slack"}
        For ``multi_class="crammer_singer"``: whether the cost is the margin asked for (as above) or the factor on a
        violated margin, cost·(1 + s_y - s_yᵢ). The same where every mistake costs 1.
    class_features : array of shape (n_classes, q) or None
        For ``multi_class="crammer_singer"``: features of the classes, in the order of `classes_`, through which they
        share weights: the score of class y is xᵀWφ(y). None gives every class weights of its own.
    absolute_tol : float
        Training also ends when upper - lower is at most this.
    risk_tol : float
        Training also ends when the mean loss is proven within this of its value at the optimum: SVM-perf's epsilon.
    method : {"auto", "newton", "oca", "cpa"}
        How planes are found: the fastest way known for the data at hand, smoothed Newton, optimised cutting planes
        (Franc and Sonnenburg 2009) or plain ones (Joachims 2006).
    line_search : {"adaptive", "exact", "three-point"}
        For ``method="oca"``. ``"exact"`` and ``"three-point"`` are the papers' searches, with every plane a tenth of
        the way ahead; ``"adaptive"`` is exact too and takes planes closer after short steps.
    fit_intercept : bool
        Whether there is an intercept.
    intercept_scaling : float or None
        None leaves the intercept free. A number makes it the weight of a constant feature of that size and penalises
        it, as LIBLINEAR does.
    device : {"cuda"}, list of str or None
        "cuda" copies examples of the host to the GPU and trains there, as on arrays that lie there already;
        ["cuda:0", "cuda:1"] divides them among several; None trains where they lie.
    warm_start : bool
        Whether a fit on the same data with another C or tol goes on from the planes of the last one.
    random_state : int, RandomState or None
        For the order of examples and the samples Newton's method starts from. None is a fixed seed: the same data
        give the same model.
    keep_proof : bool
        Whether dual variables that prove the bounds are kept as `proof_`, for `save` and `cutplane.verify`.
    """
)

# More than two classes are several problems, unless they are trained together.
LINEAR_CLASSES = LINEAR | table(
    """
    loss : str or callable
        "hinge", "squared_hinge", "logistic" (with `predict_proba`), another name in `cutplane.risks.registry.BINARY`,
        or your own: a subclass of `cutplane.risks.base.Risk` (or a function that returns one) that is called as
        ``loss(y, sample_weight)`` with labels of -1 and +1.
    calibration : {"sigmoid", "isotonic"} or None
        Curves that make probabilities of scores, learned in five folds from examples left out of training: then there
        is `predict_proba`, which never contradicts `predict`. With None only ``loss="logistic"`` has probabilities.
    prior : array of shape (n_features,) or (n_classes, n_features) or None
        Weights w0 to stay close to, of the shape that `coef_` has: ½|w - w0|² takes the place of ½|w|².
    nonnegative : bool, array of indices or of booleans, or None
        Features whose weights must not be negative, for any class; True is all of them. Planes are then found by
        cutting planes (``method="oca"`` or ``"cpa"``) alone.
    certain_on : tuple of a matrix and a float, or None
        ``(X, share)``: train on, with ever smaller gaps, until the labels of this share of the rows are proven to be
        those of the exact optimum; `stop_reason_` is then "certain". `tol` is the first gap that is aimed at.
    time_limit : float or None
        Seconds at most, for all of `fit`. What is then left to train of several classes keeps weights of zero.
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        Weights: of two classes, of the second against the first.
    intercept_ : array of shape (1,) or (n_classes,)
        What is added to the scores.
    history_ : list of Step
        What each iteration reached, one problem after the other; `Step.problem` is a place in `certificates_`. Of many
        short examples scores are kept in single precision: the objective of a problem's last entry is exact, those
        before it may be 1e-6 off.
    """
)

#: Of logistic regression: scikit-learn's signature, two classes and more.
LOGISTIC = LINEAR_CLASSES | table(
    """
    penalty : {"l2", "deprecated"}
        Both are ½|w|², which certificates are about; "l1", "elasticnet" and None are refused.
    C : float
        Weight of the losses against ½|w|², per example. Infinity is refused.
    l1_ratio : float or None
        For the sake of scikit-learn's signature: 0 and None are accepted.
    dual : bool or "auto"
        For the sake of scikit-learn's signature: it changes nothing.
    solver : str
        For the sake of scikit-learn's signature: any of its solvers' names, which changes nothing.
    intercept_scaling : float or None
        None leaves intercepts free, as all of scikit-learn's solvers but "liblinear" do. A number makes them the
        weights of a constant feature of that size and penalises them.
    keep_proof : bool
        Whether dual variables that prove the bounds are kept as `proof_`, for `save` and `cutplane.verify`; for two
        classes.
    time_limit : float or None
        Seconds at most, for all of `fit`; None for no limit.
    warm_start : bool
        Whether a fit on the same data with another C or tol goes on from the last one.
    """
)

LINEAR_TARGETS = LINEAR | table(
    """
    C : float
        Weight of the losses against the length of w, per example.
    loss : str or callable
        "epsilon_insensitive", "squared_epsilon_insensitive", "huber", "quantile", or your own: a subclass of
        `cutplane.risks.base.Risk` (or a function that returns one) that is called as ``loss(y, sample_weight)``.
    epsilon : float
        Errors up to this cost nothing, where the loss is one of the first two.
    loss_options : dict or None
        Further keyword arguments of the loss, such as ``{"quantile": 0.9}`` or ``{"delta": 1.35}``.
    prior : array of shape (n_features,) or None
        Weights w0 to stay close to: ½|w - w0|² takes the place of ½|w|².
    nonnegative : bool, array of indices or of booleans, or None
        Features whose weights must not be negative; True is all of them. Planes are then found by cutting planes
        (``method="oca"`` or ``"cpa"``) alone.
    coef_ : array of shape (n_features,)
        Weights.
    intercept_ : array of shape (1,)
        What is added to the scores.
    """
)

#: Of estimators that choose C, beside those of the plain ones.
CROSS_VALIDATED = table(
    """
    Cs : sequence of float or None
        The values of C to choose from; None: 13 from 1e-4 to 1e2.
    cv : int, splitter or iterable
        As in scikit-learn: None is 5 folds, which a classifier stratifies by class.
    scoring : str, callable or None
        A scikit-learn scorer; None is the accuracy of a classifier, and R² of a regression. It is handed what it asks
        for where scikit-learn routes metadata; else weights go to that of `LogisticRegressionCV`, as in scikit-learn.
    certify : float or None
        A number such as 0.01 proves the choice: more C are tried until no C between the least and the largest of `Cs`
        can have a cross-validated error rate that is lower by more than this. The proof is `certified_`. For
        ``multi_class="ovr"`` and accuracy; a free intercept needs a loss that is a sum over examples.
    max_fits : int
        With `certify`: so many C are tried at most. What is proven by then is in `certified_`.
    time_limit : float or None
        Seconds at most, for all of `fit`; choosing C takes half of them at most.
    C_ : float
        The C with the best mean score; the smallest, if several have it.
    Cs_ : array of shape (n_Cs,)
        The values of C that were tried.
    scores_ : array of shape (n_Cs, n_folds)
        Of each C on the rows that a fold holds out. All other attributes are of the model trained with `C_` on all
        examples.
    certified_ : CertifiedChoice
        With `certify`: the least error found, a lower bound for every C of the range, and how many C that took.
    """
)
