#include "core/matrix/narrow_rows.hpp"
#include "core/matrix/row_matrix.hpp"
#include "core/matrix/row_products.hpp"

namespace cutplane {
namespace {

// Passes take eight rows at a time in their own type. Where rows are taken one by one, they are
// fetched as floats.
class NarrowMatrix final : public RowMatrix<DenseRows<float>> {
  using Base = RowMatrix<DenseRows<float>>;

 public:
  explicit NarrowMatrix(const NarrowRows& rows)
      : Base({reinterpret_cast<const float*>(rows.values), rows.stride, rows.n, rows.d, rows.chosen,
              rows.most_lanes, &fetch, this}),
        narrow_(rows) {}

 protected:
  void score_rows(index_t begin, index_t end, const double* w, double* out) const override {
    Base::score_rows(score_by_octets(narrow_, begin, end, w, out), end, w, out);
  }
  void add_rows(index_t begin, index_t end, const double* coef, double* sum) const override {
    list_rows(begin, end, coef, [&](const index_t* listed, index_t count) {
      const index_t added = add_by_octets(narrow_, listed, count, coef, sum);
      add_listed(listed + added, count - added, coef, sum);
    });
  }
  void add_curvature(Subset subset, const double* weights, const double* v,
                     double* sum) const override {
    RowPlaces places;
    NarrowMatrix some(*this);
    some.rows_.chosen = some.narrow_.chosen = places;
    some.add_curvature_together(rows_.chosen, places, subset, weights, v, sum);
  }
  RowExtent survey_rows(index_t begin, index_t end, double* columns,
                        double* squares) const override {
    double longest = 0;
    const index_t rest = survey_by_octets(narrow_, begin, end, columns, squares, longest);
    RowExtent found = Base::survey_rows(rest, end, columns, squares);
    found.squared_norm = std::max(found.squared_norm, longest);
    if (rest > begin) found.entries = rows_.d;
    return found;
  }

 private:
  static const float* fetch(const void* source, index_t i, float* near) {
    const NarrowRows& rows = static_cast<const NarrowMatrix*>(source)->narrow_;
    float* to = room_for(rows.d, near);
    const std::byte* from = rows.values + i * rows.stride;
    widen(rows.type, &from, 1, rows.d, 1, to, 0);
    return to;
  }

  NarrowRows narrow_;
};

}  // namespace

std::unique_ptr<Matrix> make_narrow(const std::byte* values, NarrowType type, index_t n_rows,
                                    index_t n_cols, index_t row_stride, const std::int64_t* rows,
                                    int most_lanes) {
  return std::make_unique<NarrowMatrix>(
      NarrowRows{values, type, row_stride * bytes_of(type), n_rows, n_cols, rows, most_lanes});
}

}  // namespace cutplane
