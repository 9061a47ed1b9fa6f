"""Rankings and ordered classes."""
