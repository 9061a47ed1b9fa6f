// What every binding file shares: array types that never copy, and the list of binders.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace cutplane::bind {

template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Array1 = nb::ndarray<nb::numpy, T, nb::ndim<1>, nb::c_contig>;
template <class T>
using Array2 = nb::ndarray<nb::numpy, T, nb::ndim<2>, nb::c_contig>;

// Hand a vector's memory to NumPy without copying it.
template <class T>
Array1<T> to_numpy(std::vector<T>&& values) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return Array1<T>(owned->data(), {owned->size()}, owner);
}

void bind_matrix(nb::module_& m);
void bind_hinge(nb::module_& m);
void bind_dual_ascent(nb::module_& m);
void bind_reduced_qp(nb::module_& m);
void bind_svmlight(nb::module_& m);

}  // namespace cutplane::bind
