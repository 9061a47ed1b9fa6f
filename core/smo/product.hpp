// K(A, B) @ coef without ever storing K(A, B): predictions, and gradients of many examples.
#pragma once

#include "core/smo/examples.hpp"

namespace cutplane::smo {

// Examples on the right in groups that follow each other, each with k outputs of its own; `ends`
// are where the groups end, the last one being right.size(): out (size x groups x k) = for each
// group K(`size` rows of left, its part) times its rows of coef (right.size() x k).
void kernel_product(const Examples& left, index_t first, index_t size, const Examples& right,
                    const double* coef, index_t k, std::span<const std::int64_t> ends, double* out,
                    int n_threads);

}  // namespace cutplane::smo
