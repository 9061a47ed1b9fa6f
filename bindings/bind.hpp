// What every binding file shares: array types that never copy, matrices, and the list of binders.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/base/large_memory.hpp"
#include "core/matrix/matrix.hpp"

namespace nb = nanobind;

namespace cutplane::bind {

template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Array1 = nb::ndarray<nb::numpy, T, nb::ndim<1>, nb::c_contig>;
template <class T>
using Array2 = nb::ndarray<nb::numpy, T, nb::ndim<2>, nb::c_contig>;

inline void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

// Arrays whose type is asked for when they are there: a function for each would be compiled for
// each combination.
using AnyVector = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using AnyTable = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;

// What body returns, given a number of the type, which is one of these.
template <class T, class... Others, class Body>
auto by_type(nb::dlpack::dtype type, const Body& body) -> decltype(body(T{})) {
  if (type == nb::dtype<T>()) return body(T{});
  if constexpr (sizeof...(Others) > 0) return by_type<Others...>(type, body);
  throw nb::type_error("an array has a type that is not read here");
}

// What body returns, given a value and an index of the types of CSR arrays.
template <class Body>
auto by_csr_type(const AnyVector& values, const AnyVector& indices, const Body& body) {
  return by_type<float, double>(values.dtype(), [&](auto value) {
    return by_type<std::int32_t, std::int64_t>(indices.dtype(),
                                               [&](auto index) { return body(value, index); });
  });
}

template <class T>
const T* numbers_of(const AnyVector& array) {
  if (array.dtype() != nb::dtype<T>()) throw nb::type_error("arrays of one type are needed");
  return static_cast<const T*>(array.data());
}

template <class T>
std::span<T> span_of(const Vector<T>& vector) {
  return {vector.data(), vector.shape(0)};
}

// Hand memory, and whatever owns it, to NumPy without copying it.
template <class Owner>
nb::capsule capsule_of(std::unique_ptr<Owner> owned) {
  nb::capsule capsule(owned.get(), [](void* p) noexcept { delete static_cast<Owner*>(p); });
  static_cast<void>(owned.release());  // the capsule's now
  return capsule;
}
template <class T>
nb::capsule capsule_of(std::unique_ptr<T[]> owned) {
  nb::capsule capsule(owned.get(), [](void* p) noexcept { delete[] static_cast<T*>(p); });
  static_cast<void>(owned.release());
  return capsule;
}

template <class T>
Array1<T> to_numpy(std::vector<T>&& values) {
  auto owned = std::make_unique<std::vector<T>>(std::move(values));
  T* data = owned->data();
  const std::size_t size = owned->size();
  return Array1<T>(data, {size}, capsule_of(std::move(owned)));
}

template <class T>
Array1<T> to_numpy(std::unique_ptr<T[]> values, std::size_t size) {
  T* data = values.get();
  return Array1<T>(data, {size}, capsule_of(std::move(values)));
}

// Arrays whose numbers are not set yet.
template <class T>
Array1<T> new_array(std::size_t size) {
  return to_numpy(unset_array<T>(size), size);
}
template <class T>
Array2<T> new_array(std::size_t rows, std::size_t cols) {
  auto values = unset_array<T>(rows * cols);
  T* data = values.get();
  return Array2<T>(data, {rows, cols}, capsule_of(std::move(values)));
}

// Arrays of the same size come and go in every iteration. Their memory is kept for the next one:
// fresh pages cost more than the sums that fill them.
class Buffers : public std::enable_shared_from_this<Buffers> {
 public:
  Buffers() { spare_.reserve(kMostSpare); }

  // An array of n doubles that are not set; when NumPy is done with it, its memory comes back.
  Array1<double> take(std::size_t n) { return hand_over<Array1<double>>({n}, n); }
  Array2<double> take(std::size_t rows, std::size_t columns) {
    return hand_over<Array2<double>>({rows, columns}, rows * columns);
  }
  // As many floats.
  Array1<float> take_singles(std::size_t n) { return hand_over<Array1<float>>({n}, (n + 1) / 2); }

 private:
  using Memory = std::unique_ptr<double[]>;

  // Memory in the hands of NumPy.
  struct Held {
    std::shared_ptr<Buffers> home;
    std::size_t size;
    Memory memory;
    ~Held() { home->give_back(std::move(memory), size); }
  };
  static constexpr std::size_t kMostSpare = 2;

  // An array in the memory of `doubles` doubles.
  template <class Array>
  Array hand_over(std::initializer_list<std::size_t> shape, std::size_t doubles) {
    std::unique_ptr<Held> held(new Held{shared_from_this(), doubles, obtain(doubles)});
    double* data = held->memory.get();
    return Array(data, shape, capsule_of(std::move(held)));
  }

  Memory obtain(std::size_t n) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (n != size_ || spare_.empty()) return unset_array<double>(n);
    Memory memory = std::move(spare_.back());
    spare_.pop_back();
    return memory;
  }

  // What is not kept is let go.
  void give_back(Memory memory, std::size_t n) noexcept {
    std::lock_guard<std::mutex> lock(mutex_);
    if (size_ == 0) size_ = n;
    if (n == size_ && spare_.size() < kMostSpare) spare_.push_back(std::move(memory));
  }

  std::mutex mutex_;
  std::size_t size_ = 0;
  std::vector<Memory> spare_;
};

using OptionalRows = std::optional<Vector<const std::int64_t>>;

// A core matrix together with the NumPy arrays it lies on.
struct PyMatrix {
  std::shared_ptr<Matrix> matrix;
  nb::object owners;  // keeps the arrays alive
  std::shared_ptr<Buffers> scores = std::make_shared<Buffers>();
  std::shared_ptr<Buffers> singles = std::make_shared<Buffers>();  // two scores for a double

  // Room for a score of each row.
  template <class S>
  Array1<S> take() const {
    const auto n = static_cast<std::size_t>(matrix->rows());
    if constexpr (sizeof(S) == sizeof(double))
      return scores->take(n);
    else
      return singles->take_singles(n);
  }
};

// What f returns, run without the interpreter's lock.
template <class F>
auto released(F&& f) {
  nb::gil_scoped_release release;
  return f();
}

void bind_matrix(nb::module_& m);
void bind_hinge(nb::module_& m);
void bind_separable(nb::module_& m);
void bind_dual_ascent(nb::module_& m);
void bind_multiclass(nb::module_& m);
void bind_reduced_qp(nb::module_& m);
void bind_kernel_table(nb::module_& m);
void bind_smo(nb::module_& m);
void bind_ranking(nb::module_& m);
void bind_svmlight(nb::module_& m);
void bind_strings(nb::module_& m);
void bind_vectors(nb::module_& m);
void bind_structured(nb::module_& m);

}  // namespace cutplane::bind
