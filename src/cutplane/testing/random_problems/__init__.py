"""Random problems put to every estimator, and a judge that shares no arithmetic with the library."""
