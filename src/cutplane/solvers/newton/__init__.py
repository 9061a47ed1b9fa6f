"""Smoothed Newton: the kinks rounded, a system solved, the kinks rounded more finely."""
