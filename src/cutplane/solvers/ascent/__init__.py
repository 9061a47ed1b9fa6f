"""Dual coordinate ascent, certified."""
