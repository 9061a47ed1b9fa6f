"""Cutplane."""
