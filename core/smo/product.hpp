// K(A, B) @ coef without ever storing K(A, B): predictions, and gradients of many examples.
#pragma once

#include "core/smo/examples.hpp"

namespace cutplane::smo {

// out (left.size() x k, row-major) = K(left, right) coef (right.size() x k, row-major).
void kernel_product(const Examples& left, const Examples& right, const double* coef, index_t k,
                    double* out, int n_threads);

}  // namespace cutplane::smo
