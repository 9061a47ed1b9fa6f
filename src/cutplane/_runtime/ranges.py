"""Numbers beyond which products of a few of them leave the range of double precision."""

MOST = 1e70
LEAST_WEIGHT, MOST_WEIGHT = 1e-35, 1e35
LEAST_C, MOST_C = 1e-99, 1e99
