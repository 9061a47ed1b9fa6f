"""Examples on the workers of dask.distributed: where they lie, and how they are asked."""
