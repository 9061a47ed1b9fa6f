"""Planes, and the least point of what they bound from below."""
