"""Checks for anyone who writes a risk, a source or a structured model, and readable twins of the compiled kernels."""

from cutplane.testing.certificate_contract import check_certificate
from cutplane.testing.factors import check_factors
from cutplane.testing.oracles import check_oracle
from cutplane.testing.risk_contract import check_risk
from cutplane.testing.source_contract import check_source

__all__ = ["check_certificate", "check_factors", "check_oracle", "check_risk", "check_source"]
