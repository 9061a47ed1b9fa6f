// In place of OpenMP's: targets of the fuzzer run serially, and need no OpenMP library of their
// compiler's.
#pragma once

inline int omp_get_max_threads() { return 1; }
