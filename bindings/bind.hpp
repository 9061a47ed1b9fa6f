// What every binding file shares: array types that never copy, and the list of binders.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/base/large_memory.hpp"

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

// Arrays of the same size come and go in every iteration. Their memory is kept for the next one:
// fresh pages cost more than the sums that fill them.
class Buffers : public std::enable_shared_from_this<Buffers> {
 public:
  ~Buffers() {
    for (double* spare : spare_) delete[] spare;
  }

  // An array of n doubles that are not set; when NumPy is done with it, its memory comes back.
  Array1<double> take(std::size_t n) {
    auto* held = new Held{shared_from_this(), obtain(n), n};
    return Array1<double>(held->data, {n}, owner_of(held));
  }
  // As many floats.
  Array1<float> take_singles(std::size_t n) {
    auto* held = new Held{shared_from_this(), obtain((n + 1) / 2), (n + 1) / 2};
    return Array1<float>(held->data, {n}, owner_of(held));
  }

 private:
  struct Held {
    std::shared_ptr<Buffers> home;
    double* data;
    std::size_t size;
  };
  static nb::capsule owner_of(Held* held) {
    return nb::capsule(held, [](void* p) noexcept {
      auto* returned = static_cast<Held*>(p);
      returned->home->give_back(returned->data, returned->size);
      delete returned;
    });
  }
  static constexpr std::size_t kMostSpare = 2;

  double* obtain(std::size_t n) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (n != size_ || spare_.empty()) {
      double* fresh = new double[n];
      prefer_large_pages(fresh, n);
      return fresh;
    }
    double* data = spare_.back();
    spare_.pop_back();
    return data;
  }

  void give_back(double* data, std::size_t n) noexcept {
    std::lock_guard<std::mutex> lock(mutex_);
    if (size_ == 0) size_ = n;
    if (n == size_ && spare_.size() < kMostSpare) {
      spare_.push_back(data);
    } else {
      delete[] data;
    }
  }

  std::mutex mutex_;
  std::size_t size_ = 0;
  std::vector<double*> spare_ = reserved();
  static std::vector<double*> reserved() {
    std::vector<double*> spare;
    spare.reserve(kMostSpare);
    return spare;
  }
};

void bind_matrix(nb::module_& m);
void bind_hinge(nb::module_& m);
void bind_separable(nb::module_& m);
void bind_dual_ascent(nb::module_& m);
void bind_multiclass(nb::module_& m);
void bind_reduced_qp(nb::module_& m);
void bind_smo(nb::module_& m);
void bind_ranking(nb::module_& m);
void bind_svmlight(nb::module_& m);
void bind_strings(nb::module_& m);
void bind_vectors(nb::module_& m);
void bind_structured(nb::module_& m);

}  // namespace cutplane::bind
