// A core matrix together with the NumPy arrays it lies on.
#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <memory>
#include <optional>

#include "bindings/bind.hpp"
#include "core/matrix/matrix.hpp"

namespace cutplane::bind {

using OptionalRows = std::optional<Vector<const std::int64_t>>;

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

}  // namespace cutplane::bind
