#include <limits>
#include <stdexcept>
#include <string>

#include "bindings/bind.hpp"
#include "core/base/vectors.hpp"
#include "core/losses/hinge.hpp"
#include "core/matrix/csr_arrays.hpp"

namespace cutplane::bind {
namespace {

using nb::literals::operator""_a;

const std::int64_t* positions(const OptionalRows& rows) { return rows ? rows->data() : nullptr; }

PyMatrix dense(const AnyTable& X, const OptionalRows& rows, int most_lanes) {
  const auto n = static_cast<index_t>(rows ? rows->shape(0) : X.shape(0));
  const auto d = static_cast<index_t>(X.shape(1));
  return by_type<float, double>(X.dtype(), [&]<class T>(T) -> PyMatrix {
    const T* values = static_cast<const T*>(X.data());
    const auto owners = nb::make_tuple(X, rows);
    if (X.stride(1) == 1 || d <= 1)
      return {make_dense<T>(values, n, d, X.stride(0), positions(rows), most_lanes), owners};
    require(X.stride(0) == 1, "rows or columns of a dense matrix must be contiguous");
    return {make_dense_by_columns<T>(values, n, d, X.stride(1), positions(rows)), owners};
  });
}

// The bits of values of one or two bytes; `type` says what they mean.
const std::byte* bits_of(const AnyTable& X, NarrowType type) {
  require(bytes_of(type) == static_cast<index_t>(X.itemsize()),
          "values of this type have another size");
  return static_cast<const std::byte*>(X.data());
}

PyMatrix narrow(const AnyTable& X, NarrowType type, const OptionalRows& rows, int most_lanes) {
  const std::byte* bytes = bits_of(X, type);
  const auto n = static_cast<index_t>(rows ? rows->shape(0) : X.shape(0));
  const auto d = static_cast<index_t>(X.shape(1));
  const index_t step = d <= 1 ? 1 : X.stride(1);
  require(step == 1 || X.stride(0) == 1, "rows or columns of a dense matrix must be contiguous");
  return {step == 1 ? make_narrow(bytes, type, n, d, X.stride(0), positions(rows), most_lanes)
                    : make_narrow_by_columns(bytes, type, n, d, step, positions(rows)),
          nb::make_tuple(X, rows)};
}

Array2<float> widened(const AnyTable& X, NarrowType type) {
  const std::byte* bytes = bits_of(X, type);
  Array2<float> out = new_array<float>(X.shape(0), X.shape(1));
  const auto d = static_cast<index_t>(X.shape(1));
  nb::gil_scoped_release release;
  for (index_t i = 0; i < static_cast<index_t>(X.shape(0)); ++i) {
    const std::byte* row = bytes + i * X.stride(0) * bytes_of(type);
    widen(type, &row, 1, d, X.stride(1), out.data() + i * d, 0);
  }
  return out;
}

PyMatrix csr(const AnyVector& values, const AnyVector& indices, const AnyVector& indptr,
             index_t n_cols, const OptionalRows& rows, bool sorted) {
  const auto n = static_cast<index_t>(rows ? rows->shape(0) : indptr.shape(0) - 1);
  return by_csr_type(values, indices, [&]<class T, class I>(T, I) -> PyMatrix {
    return {make_csr<T, I>(numbers_of<T>(values), numbers_of<I>(indices), numbers_of<I>(indptr), n,
                           n_cols, positions(rows), static_cast<index_t>(values.shape(0)), sorted),
            nb::make_tuple(values, indices, indptr, rows)};
  });
}

// Positions checked once here, so that no pass has to.
void check_rows(const Vector<const std::int64_t>& rows, index_t n, int n_threads) {
  require(all_within(rows.data(), static_cast<index_t>(rows.shape(0)), n, n_threads),
          "a row position is out of range");
}

nb::object scores(const PyMatrix& self, nb::ndarray<const double, nb::c_contig, nb::device::cpu> w,
                  int n_threads) {
  const Matrix& X = *self.matrix;
  require((w.ndim() == 1 || w.ndim() == 2) && static_cast<index_t>(w.shape(0)) == X.cols(),
          "weights must have one row per feature");
  const std::size_t k = w.ndim() == 2 ? w.shape(1) : 1;
  const auto n = static_cast<std::size_t>(X.rows());
  Array1<double> out = self.scores->take(n * k);
  {
    nb::gil_scoped_release release;
    X.scores(w.data(), static_cast<index_t>(k), out.data(), n_threads);
  }
  nb::object flat = nb::cast(out);
  return w.ndim() == 1 ? flat : flat.attr("reshape")(n, k);
}

std::pair<Array1<float>, bool> single_scores_of(const PyMatrix& self, Vector<const double> w,
                                                int n_threads) {
  const Matrix& X = *self.matrix;
  require(static_cast<index_t>(w.shape(0)) == X.cols(), "weights must have one row per feature");
  Array1<float> out = self.take<float>();
  nb::gil_scoped_release release;
  const bool fits = single_scores(X, w.data(), out.data(), n_threads);
  return {std::move(out), fits};
}

std::tuple<double, index_t, Array1<double>, Array1<double>> extent(const PyMatrix& self,
                                                                   bool lengths, int n_threads) {
  const Matrix& X = *self.matrix;
  std::vector<double> columns(X.cols());
  Array1<double> squares = new_array<double>(lengths ? X.rows() : 0);
  RowExtent found;
  {
    nb::gil_scoped_release release;
    found = X.extent(columns.data(), lengths ? squares.data() : nullptr, n_threads);
  }
  return {found.squared_norm, found.entries, to_numpy(std::move(columns)), std::move(squares)};
}

nb::object combine(const PyMatrix& self,
                   nb::ndarray<const double, nb::c_contig, nb::device::cpu> coef, int n_threads) {
  const Matrix& X = *self.matrix;
  require((coef.ndim() == 1 || coef.ndim() == 2) && static_cast<index_t>(coef.shape(0)) == X.rows(),
          "coefficients must have one row per example");
  const std::size_t k = coef.ndim() == 2 ? coef.shape(1) : 1;
  const auto d = static_cast<std::size_t>(X.cols());
  Array1<double> out = new_array<double>(d * k);
  {
    nb::gil_scoped_release release;
    X.combine(coef.data(), static_cast<index_t>(k), out.data(), n_threads);
  }
  nb::object flat = nb::cast(out);
  return coef.ndim() == 1 ? flat : flat.attr("reshape")(d, k);
}

Array1<double> curvature(const PyMatrix& self, Vector<const std::int64_t> subset,
                         Vector<const double> weights, Vector<const double> v, int n_threads) {
  const Matrix& X = *self.matrix;
  check_rows(subset, X.rows(), n_threads);
  require(weights.shape(0) == subset.shape(0) && static_cast<index_t>(v.shape(0)) == X.cols(),
          "one weight per row and one entry of v per feature are needed");
  std::vector<double> out(X.cols());
  {
    nb::gil_scoped_release release;
    X.curvature({subset.data(), subset.shape(0)}, weights.data(), v.data(), out.data(), n_threads);
  }
  return to_numpy(std::move(out));
}

Array2<double> gram(const PyMatrix& self, Vector<const std::int64_t> subset,
                    Vector<const double> weights, int n_threads) {
  const Matrix& X = *self.matrix;
  check_rows(subset, X.rows(), n_threads);
  require(weights.shape(0) == subset.shape(0), "one weight per row is needed");
  const auto d = static_cast<std::size_t>(X.cols());
  Array2<double> out = new_array<double>(d, d);
  nb::gil_scoped_release release;
  X.gram({subset.data(), subset.shape(0)}, weights.data(), out.data(), n_threads);
  return out;
}

Array2<float> gather(const PyMatrix& self, Vector<const std::int64_t> subset,
                     Vector<const double> scale, int n_threads) {
  const Matrix& X = *self.matrix;
  check_rows(subset, X.rows(), n_threads);
  require(scale.shape(0) == subset.shape(0), "one factor per row is needed");
  const auto d = static_cast<std::size_t>(X.cols());
  Array2<float> out = new_array<float>(subset.shape(0), d);
  nb::gil_scoped_release release;
  X.gather({subset.data(), subset.shape(0)}, scale.data(), out.data(), n_threads);
  return out;
}

// Of what type the copies are, the stubs do not say.
using Three = nb::typed<nb::tuple, nb::object, nb::object, nb::object>;

Three copied_csr_rows(const AnyVector& values, const AnyVector& indices, const AnyVector& indptr,
                      Vector<const std::int64_t> rows, int n_threads) {
  check_rows(rows, static_cast<index_t>(indptr.shape(0)) - 1, n_threads);
  const std::size_t n = rows.shape(0);
  const std::span chosen(rows.data(), n);
  return by_csr_type(values, indices, [&]<class T, class I>(T, I) -> Three {
    Array1<I> begins = new_array<I>(n + 1);
    copied_indptr(numbers_of<I>(indptr), chosen, begins.data());
    const auto stored = static_cast<std::size_t>(begins.data()[n]);
    Array1<T> values_out = new_array<T>(stored);
    Array1<I> indices_out = new_array<I>(stored);
    released([&] {
      copy_csr_rows(numbers_of<T>(values), numbers_of<I>(indices), numbers_of<I>(indptr), chosen,
                    begins.data(), values_out.data(), indices_out.data(), n_threads);
    });
    return nb::make_tuple(values_out, indices_out, begins);
  });
}

nb::object copied_dense_rows(const AnyTable& X, Vector<const std::int64_t> rows, int n_threads) {
  check_rows(rows, static_cast<index_t>(X.shape(0)), n_threads);
  require(X.stride(1) == 1, "rows must be contiguous");
  const std::size_t n = rows.shape(0), d = X.shape(1);
  return by_type<float, double, std::uint8_t, std::uint16_t>(X.dtype(), [&]<class T>(T) {
    Array2<T> out = new_array<T>(n, d);
    released([&] {
      copy_dense_rows(static_cast<const T*>(X.data()), X.stride(0), static_cast<index_t>(d),
                      {rows.data(), n}, out.data(), n_threads);
    });
    return nb::cast(out);
  });
}

using Bfloat16 = nb::ndarray<nb::ro, nb::device::cpu>;

// NumPy does not read bfloat16.
nb::ndarray<nb::numpy, const std::uint16_t> bfloat16_bits(Bfloat16 array) {
  require(array.dtype() ==
              nb::dlpack::dtype{static_cast<std::uint8_t>(nb::dlpack::dtype_code::Bfloat), 16, 1},
          "the array is not of bfloat16");
  std::vector<std::size_t> shape(array.ndim());
  std::vector<std::int64_t> strides(array.ndim());
  for (std::size_t k = 0; k < array.ndim(); ++k) {
    shape[k] = array.shape(k);
    strides[k] = array.stride(k);
  }
  return {array.data(), array.ndim(), shape.data(), nb::cast(array), strides.data()};
}

template <class T, class I, class Columns>
Three csr_of(const T* values, const I* rows, const Columns& columns, std::size_t stored,
             index_t n_rows, int n_threads) {
  require(stored <= static_cast<std::size_t>(std::numeric_limits<I>::max()),
          "there are more entries than the type of the indices counts");
  Array1<T> values_out = new_array<T>(stored);
  Array1<I> indices_out = new_array<I>(stored);
  Array1<I> indptr_out = new_array<I>(static_cast<std::size_t>(n_rows) + 1);
  released([&] {
    csr_from_entries(values, rows, columns, static_cast<index_t>(stored), n_rows, values_out.data(),
                     indices_out.data(), indptr_out.data(), n_threads);
  });
  return nb::make_tuple(values_out, indices_out, indptr_out);
}

Three csr_from_coo(const AnyVector& values, const AnyVector& rows, const AnyVector& columns,
                   index_t n_rows, int n_threads) {
  require(values.shape(0) == rows.shape(0) && rows.shape(0) == columns.shape(0),
          "one value, one row, one column per entry are needed");
  return by_csr_type(values, rows, [&]<class T, class I>(T, I) {
    return csr_of(numbers_of<T>(values), numbers_of<I>(rows),
                  GivenColumns<I>{numbers_of<I>(columns)}, values.shape(0), n_rows, n_threads);
  });
}

Three csr_from_csc(const AnyVector& values, const AnyVector& rows, const AnyVector& indptr,
                   index_t n_rows, int n_threads) {
  const auto n_cols = static_cast<index_t>(indptr.shape(0)) - 1;
  return by_csr_type(values, rows, [&]<class T, class I>(T, I) {
    const I* begins = numbers_of<I>(indptr);
    const auto stored = static_cast<std::size_t>(begins[n_cols]);
    require(begins[0] == 0 && stored <= values.shape(0) && stored <= rows.shape(0),
            "indptr must begin at 0 and end within the entries");
    return csr_of(numbers_of<T>(values), numbers_of<I>(rows), CscColumns<I>{begins, n_cols}, stored,
                  n_rows, n_threads);
  });
}

int order_of_csr(const AnyVector& indices, const AnyVector& indptr, index_t n_cols, int n_threads) {
  return by_type<std::int32_t, std::int64_t>(indices.dtype(), [&]<class I>(I) {
    const I* columns = numbers_of<I>(indices);
    const I* begins = numbers_of<I>(indptr);
    const auto n = static_cast<index_t>(indptr.shape(0)) - 1;
    return static_cast<int>(
        released([&] { return csr_order(columns, begins, n, n_cols, n_threads); }));
  });
}

}  // namespace

void bind_matrix(nb::module_& m) {
  auto cls = nb::class_<PyMatrix>(
      m, "Matrix", "A data matrix as a linear map; the arrays behind it are used where they lie.");
  cls.def_static(
      "dense", &dense, "X"_a.noconvert(), "rows"_a = nb::none(), "most_lanes"_a = kMostLanes,
      "Passes take at most `most_lanes` numbers as one vector: fewer than this machine's "
      "are for tests.");
  nb::enum_<NarrowType>(m, "NarrowType", "Values of one or two bytes.")
      .value("float16", NarrowType::kFloat16)
      .value("bfloat16", NarrowType::kBfloat16)
      .value("int8", NarrowType::kInt8)
      .value("uint8", NarrowType::kUint8);
  cls.def_static("narrow", &narrow, "bits"_a.noconvert(), "type"_a, "rows"_a = nb::none(),
                 "most_lanes"_a = kMostLanes,
                 "Values of one or two bytes, given as unsigned integers of that size.");
  m.def("widened", &widened, "bits"_a.noconvert(), "type"_a,
        "A copy of such values as floats, by one thread.");
  cls.def_static("csr", &csr, "values"_a.noconvert(), "indices"_a.noconvert(),
                 "indptr"_a.noconvert(), "n_cols"_a, "rows"_a = nb::none(), "sorted"_a = true);
  m.def("csr_order", &order_of_csr, "indices"_a.noconvert(), "indptr"_a.noconvert(), "n_cols"_a,
        "n_threads"_a = 0,
        "0: indices are sorted within rows, none twice; 1: not sorted; 2: some twice.");
  m.def("csr_from_coo", &csr_from_coo, "values"_a.noconvert(), "rows"_a.noconvert(),
        "columns"_a.noconvert(), "n_rows"_a, "n_threads"_a = 0,
        "(values, indices, indptr) of entries in any order; rows must be in range.");
  m.def("csr_from_csc", &csr_from_csc, "values"_a.noconvert(), "rows"_a.noconvert(),
        "indptr"_a.noconvert(), "n_rows"_a, "n_threads"_a = 0,
        "(values, indices, indptr) of entries by columns; rows must be in range.");
  cls.def_prop_ro("shape", [](const PyMatrix& self) {
    return std::make_pair(self.matrix->rows(), self.matrix->cols());
  });
  cls.def_prop_ro("entries", [](const PyMatrix& self) { return self.matrix->entries(); });
  const char* array = "NDArray[numpy.float64]";
  const auto signature = [&](const char* name, const char* argument) {
    return std::string("def ") + name + "(self, " + argument + ": " + array +
           ", n_threads: int = 0) -> " + array;
  };
  const std::string scores_signature = signature("scores", "w");
  const std::string combine_signature = signature("combine", "coef");
  cls.def("scores", &scores, "w"_a, "n_threads"_a = 0, nb::sig(scores_signature.c_str()),
          "X @ w, w of shape (d,) or (d, k).");
  cls.def("single_scores", &single_scores_of, "w"_a, "n_threads"_a = 0,
          "X @ w in single precision, and whether that can hold it.");
  cls.def("combine", &combine, "coef"_a, "n_threads"_a = 0, nb::sig(combine_signature.c_str()),
          "X.T @ coef, coef of shape (n,) or (n, k).");
  cls.def("curvature", &curvature, "subset"_a, "weights"_a, "v"_a, "n_threads"_a = 0,
          "Sum over the subset of weights[i] x_i <x_i, v>.");
  cls.def("gram", &gram, "subset"_a, "weights"_a, "n_threads"_a = 0,
          "Lower triangle of the sum over the subset of weights[i] x_i x_i'.");
  cls.def("gather", &gather, "subset"_a, "scale"_a, "n_threads"_a = 0,
          "The rows of the subset times scale[i], dense.");
  cls.def("extent", &extent, "lengths"_a, "n_threads"_a = 0,
          "The largest squared length of a row, the most entries of one, the largest size in each "
          "column, and, where they are asked for, the squared lengths of all rows.");
  cls.def_prop_ro(
      "sum_depth", [](const PyMatrix& self) { return self.matrix->sum_depth(); },
      "The longest chain of additions in a sum over the rows.");
  cls.def(
      "first_unusable_row",
      [](const PyMatrix& self, int n_threads) {
        nb::gil_scoped_release release;
        return self.matrix->first_unusable_row(n_threads);
      },
      "n_threads"_a = 0,
      "The first row with a value that is not finite or beyond 2^234 (2.8e70) in size, or -1.");
  m.def("copied_rows", &copied_dense_rows, "X"_a.noconvert(), "rows"_a, "n_threads"_a = 0,
        "Some rows of a dense matrix whose rows are contiguous.");
  m.def("copied_csr_rows", &copied_csr_rows, "values"_a.noconvert(), "indices"_a.noconvert(),
        "indptr"_a.noconvert(), "rows"_a, "n_threads"_a = 0,
        "(values, indices, indptr) of some rows.");
  m.def("bfloat16_bits", &bfloat16_bits, "array"_a.noconvert(),
        nb::sig("def bfloat16_bits(array: object) -> NDArray[numpy.uint16]"),
        "The bits of an array of bfloat16 that offers DLPack, over the same memory.");
}

}  // namespace cutplane::bind
