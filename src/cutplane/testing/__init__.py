"""Checks for anyone who writes a risk, a source or a structured model, and readable twins of the compiled kernels."""

from cutplane.testing.contracts import check_certificate, check_risk, check_source
from cutplane.testing.factors import check_factors
from cutplane.testing.oracles import check_oracle

__all__ = ["check_certificate", "check_factors", "check_oracle", "check_risk", "check_source"]
