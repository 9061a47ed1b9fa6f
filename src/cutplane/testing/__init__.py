"""Checks for anyone who writes a risk or a source, and readable twins of the compiled kernels."""

from cutplane.testing.contracts import check_certificate, check_risk, check_source

__all__ = ["check_certificate", "check_risk", "check_source"]
