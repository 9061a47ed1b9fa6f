"""Examples that lie on a GPU: arrays, the kernels that sum over them, and what sources and risks are there."""
