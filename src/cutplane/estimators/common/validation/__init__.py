"""Checks of what users hand over: one clear sentence each, before any work is done."""

from cutplane.estimators.common.validation.examples import (
    check_copied,
    check_examples,
    check_new_rows,
    check_rows,
    check_width,
    source_of,
)
from cutplane.estimators.common.validation.parameters import (
    check_choice,
    check_count,
    check_file_name,
    check_flag,
    check_flags,
    check_grid,
    check_like_liblinear,
    check_max_iter,
    check_not_negative,
    check_positive,
    check_seed,
    check_share,
    check_threads,
)
from cutplane.estimators.common.validation.targets import (
    check_labels,
    check_many_labels,
    check_targets,
    shown_label,
)
from cutplane.estimators.common.validation.weights import (
    check_both_sides,
    check_class_weights,
    check_sample_weight,
    check_weights,
)

__all__ = [
    "check_both_sides",
    "check_choice",
    "check_class_weights",
    "check_copied",
    "check_count",
    "check_examples",
    "check_file_name",
    "check_flag",
    "check_flags",
    "check_grid",
    "check_labels",
    "check_like_liblinear",
    "check_many_labels",
    "check_max_iter",
    "check_new_rows",
    "check_not_negative",
    "check_positive",
    "check_rows",
    "check_sample_weight",
    "check_seed",
    "check_share",
    "check_targets",
    "check_threads",
    "check_weights",
    "check_width",
    "shown_label",
    "source_of",
]
