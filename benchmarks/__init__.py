"""Cutplane against its peers: every figure is a ratio measured in one run on one machine."""
