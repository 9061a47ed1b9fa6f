"""Strings over a small alphabet."""
