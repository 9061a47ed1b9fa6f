// The slope of a plane that chooses one class for every example.
#pragma once

#include <cstdint>

#include "core/matrix/matrix.hpp"
#include "core/multiclass/sweeps.hpp"

namespace cutplane {

// out (d x classes) += by how much the slope changes when the choices do. The slope is the sum over
// i of c_i factor(k, y) x_i (e_y - e_k)', y the chosen class and k the true one. From a choice of
// the true classes, it changes from zero.
void change_choices(const Matrix& matrix, const MulticlassSample& sample, const std::int32_t* from,
                    const std::int32_t* to, double* out, int n_threads);

}  // namespace cutplane
