"""Solvers: cutting planes, smoothed Newton, dual ascent, and the choice among them."""
