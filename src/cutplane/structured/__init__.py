"""Structural SVMs: risks whose labels are objects, found by an oracle."""

from cutplane.structured.base import OracleError, StructuredModel

__all__ = ["OracleError", "StructuredModel"]
