#include "core/interior/interior_point.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/lanes.hpp"
#include "core/matrix/any_rows.hpp"

namespace cutplane {
namespace {

constexpr index_t kColumns = 8;    // of a tile of the Gram matrix, and of a cache line
constexpr index_t kStrip = 4;      // rows of such a tile: with its columns, it fills the registers
constexpr index_t kRowBlock = 32;  // examples at a time: they stay in the nearest cache

index_t rounded_up(index_t n, index_t multiple) { return (n + multiple - 1) / multiple * multiple; }

CUTPLANE_MULTIVERSION void multiply(const double* values, index_t rows, index_t stride,
                                    const double* v, double* out) {
  index_t i = 0;
  for (; i + 4 <= rows; i += 4) {  // four sums that do not wait for one another
    const double *a = values + i * stride, *b = a + stride, *c = b + stride, *d = c + stride;
    double p = 0.0, q = 0.0, r = 0.0, s = 0.0;
#pragma omp simd reduction(+ : p, q, r, s)
    for (index_t j = 0; j < stride; ++j) {
      p += a[j] * v[j];
      q += b[j] * v[j];
      r += c[j] * v[j];
      s += d[j] * v[j];
    }
    out[i] = p;
    out[i + 1] = q;
    out[i + 2] = r;
    out[i + 3] = s;
  }
  for (; i < rows; ++i) {
    const double* x = values + i * stride;
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (index_t j = 0; j < stride; ++j) sum += x[j] * v[j];
    out[i] = sum;
  }
}

CUTPLANE_MULTIVERSION void add_up(const double* values, index_t rows, index_t stride,
                                  const double* coef, double* out) {
  std::fill(out, out + stride, 0.0);
  index_t i = 0;
  for (; i + 4 <= rows; i += 4) {  // the sums are read and written once for four rows
    const double *a = values + i * stride, *b = a + stride, *c = b + stride, *d = c + stride;
    const double p = coef[i], q = coef[i + 1], r = coef[i + 2], s = coef[i + 3];
#pragma omp simd
    for (index_t j = 0; j < stride; ++j) out[j] += (p * a[j] + q * b[j]) + (r * c[j] + s * d[j]);
  }
  for (; i < rows; ++i) {
    const double* x = values + i * stride;
#pragma omp simd
    for (index_t j = 0; j < stride; ++j) out[j] += coef[i] * x[j];
  }
}

// Rows of a Gram matrix, kStrip at a time, that a thread sums up, and room for its scaled examples.
struct GramStrips {
  index_t first, last;
  double* scaled;
};

// out (a tile: kStrip rows, kColumns columns) += scaled' values over some examples.
template <int N>
CUTPLANE_INLINE void add_tile(const double* scaled, const double* values, index_t rows,
                              index_t stride, double* out) {
  constexpr int kVectors = kColumns / N;
  Lanes<N> sums[kStrip][kVectors];
#pragma GCC unroll 16
  for (int r = 0; r < kStrip; ++r)
#pragma GCC unroll 16
    for (int c = 0; c < kVectors; ++c) load<N>(out + r * stride + c * N, sums[r][c]);
  for (index_t i = 0; i < rows; ++i, scaled += stride, values += stride) {
    Lanes<N> x[kVectors];
#pragma GCC unroll 16
    for (int c = 0; c < kVectors; ++c) load<N>(values + c * N, x[c]);
#pragma GCC unroll 16
    for (int r = 0; r < kStrip; ++r)
#pragma GCC unroll 16
      for (int c = 0; c < kVectors; ++c) sums[r][c] += scaled[r] * x[c];
  }
#pragma GCC unroll 16
  for (int r = 0; r < kStrip; ++r)
#pragma GCC unroll 16
    for (int c = 0; c < kVectors; ++c) store<N>(sums[r][c], out + r * stride + c * N);
}

// out += sum over some examples of weights[i] x_i x_i', in the rows of the strips.
template <int N>
CUTPLANE_INLINE void add_block(const double* values, const double* weights, index_t rows,
                               index_t stride, const GramStrips& strips, double* out) {
  const index_t begin = strips.first * kStrip, end = strips.last * kStrip;
  for (index_t i = 0; i < rows; ++i) {
#pragma omp simd
    for (index_t j = begin; j < end; ++j)
      strips.scaled[i * stride + j] = weights[i] * values[i * stride + j];
  }
  for (index_t row = begin; row < end; row += kStrip)
    for (index_t column = 0; column <= row; column += kColumns)
      add_tile<N>(strips.scaled + row, values + column, rows, stride, out + row * stride + column);
}

// Products at first, for a mean C per example and targets of one: by trial on digits, breast cancer
// and normal features, scaled or not, C from 1e-3 to 100.
constexpr double kFirstProduct = 3.0;
constexpr double kFirstProductWithoutBounds = 30.0;
// Steps end just short of the boundary.
constexpr double kShort = 0.99;
constexpr double kLeastStep = 1e-10;
constexpr int kStepsBetweenSums = 8;
// Corrections for the same factor (Gondzio 1996), where that is the most of a step: by so much the
// steps are tried longer, products may be off by such a factor, and what a correction must gain of
// that. They save a quarter of the steps on digits.
constexpr int kCorrections = 2;
constexpr index_t kFewWide = 16;
constexpr double kLonger = 0.3, kOff = 10.0, kWorthwhile = 0.1;

std::vector<double> intercept_columns(AscentIntercept intercept) {
  std::vector<double> columns;
  if (intercept.constant != 0.0) columns.push_back(intercept.constant);
  if (intercept.free) columns.push_back(1.0);
  return columns;
}

}  // namespace

WideRows::WideRows(const Matrix& matrix, const std::vector<double>& more)
    : rows_(matrix.rows()),
      width_(matrix.cols() + std::ssize(more)),
      stride_(rounded_up(width_, kColumns)),
      values_(rows_ * stride_) {
  visit_rows(matrix, [&](const auto& rows) {
    for (index_t i = 0; i < rows_; ++i) {
      double* row = values_.data() + i * stride_;
      rows.axpy(rows.at(i), 1.0, row);
      std::copy(more.begin(), more.end(), row + matrix.cols());
    }
  });
}

void WideRows::scores(const double* v, double* out) const {
  multiply(values_.data(), rows_, stride_, v, out);
}

void WideRows::combine(const double* coef, double* out) const {
  add_up(values_.data(), rows_, stride_, coef, out);
}

void WideRows::gram(const double* weights, double* out, int n_threads) const {
  std::fill(out, out + stride_ * stride_, 0.0);
  const index_t strips = rounded_up(width_, kStrip) / kStrip;
  // By strips of the triangle: every number is summed up by one thread, in the order of the rows.
  const Blocks parts{
      strips, std::min<index_t>(strips, useful_threads(n_threads, rows_ * stride_ * stride_ / 8))};
  std::vector<double> scaled(parts.count * kRowBlock * stride_);
  const auto strip_of = [&](index_t part) {  // parts of the triangle of about the same size
    return std::lround(std::sqrt(static_cast<double>(part) / parts.count) * strips);
  };
  for_blocks(parts, n_threads, [&](index_t part, index_t, index_t) {
    const GramStrips own{strip_of(part), strip_of(part + 1),
                         scaled.data() + part * kRowBlock * stride_};
    with_lanes(kMostLanes, [&](auto lanes) CUTPLANE_INLINED {
      for (index_t i = 0; i < rows_; i += kRowBlock)
        add_block<lanes()>(values_.data() + i * stride_, weights + i,
                           std::min(kRowBlock, rows_ - i), stride_, own, out);
    });
  });
}

double InteriorPoint::Piece::loss(double margin) const {
  const double beyond = kink - margin;
  if (beyond <= 0.0) return 0.0;
  if (ridge > 0.0 && beyond <= bound * ridge) return 0.5 * beyond * beyond / ridge;
  return bound * (beyond - 0.5 * ridge * bound);
}

InteriorPoint::InteriorPoint(const Matrix& matrix, const DualLoss& loss, AscentIntercept intercept,
                             int n_threads)
    : rows_(matrix, intercept_columns(intercept)),
      free_(intercept.free),
      n_threads_(n_threads),
      steps_{std::vector<double>(rows_.stride()), std::vector<double>(rows_.rows()), {}},
      v_(rows_.stride()),
      scores_(rows_.rows()),
      coef_(rows_.rows()),
      residual_(rows_.stride()),
      factor_(rows_.stride() * rows_.stride()) {
  pieces_.reserve(loss.one_sided ? rows_.rows() : 2 * rows_.rows());
  double weights = 0.0, targets = 0.0;
  for (index_t i = 0; i < rows_.rows(); ++i) {
    const DualTerm term = loss.at(i);
    weights += loss.weights[i];
    targets += std::abs(term.target);
    add_piece(i, 1.0, term.target - term.epsilon, term.high, term.ridge);
    add_piece(i, -1.0, -term.target - term.epsilon, -term.low, term.ridge);
  }
  const double n = std::max<double>(1.0, static_cast<double>(rows_.rows()));
  if (targets > 0.0) scale_ = targets / n;
  for (Piece& piece : pieces_)
    begin(piece, weights / n * scale_ *
                     (piece.bounded() ? kFirstProduct : kFirstProductWithoutBounds * scale_));
  inside_ = std::ranges::all_of(pieces_, &Piece::inside);
  steps_.pieces.resize(pieces_.size());
  renew_residual();
  look();
  if (!inside_) gap_ = NAN;  // its dual variables stand for no plane
}

void InteriorPoint::add_piece(index_t row, double sign, double kink, double bound, double ridge) {
  if (!(bound > 0.0)) return;
  pieces_.push_back({.row = row, .sign = sign, .kink = kink, .bound = bound, .ridge = ridge});
  count_ += pieces_.back().bounded() ? 2.0 : 1.0;
}

// At v = 0, products of about the given size. Of two roots of which one is the difference of large
// numbers, the other is computed.
void InteriorPoint::begin(Piece& piece, double product) const {
  const double margin = -piece.kink;
  if (!piece.bounded()) {  // the greater root of dual·(margin + ridge·dual) = product
    const double root = std::hypot(margin, 2.0 * std::sqrt(piece.ridge * product));
    piece.dual =
        margin < 0.0 ? 0.5 * (root - margin) / piece.ridge : 2.0 * product / (margin + root);
    piece.surplus = product / piece.dual;
    return;
  }
  // The roots of product / dual - product / left = margin, which add up to the bound.
  const double scaled = margin * piece.bound, root = std::hypot(scaled, 2.0 * product);
  const double less = 2.0 * product * piece.bound / (std::abs(scaled) + 2.0 * product + root);
  piece.dual = margin < 0.0 ? piece.bound - less : less;
  piece.left = margin < 0.0 ? less : piece.bound - less;
  piece.surplus = product / piece.dual;
  piece.excess = product / piece.left;
  // The ridge moves one of them on.
  piece.surplus += piece.ridge * piece.dual;
}

bool InteriorPoint::Piece::inside() const {
  const auto within = [](double x) { return x > 0.0 && std::isfinite(x); };
  return within(dual) && within(surplus) && (!bounded() || (within(left) && within(excess)));
}

// What is left of stationarity and of balance, summed up afresh.
void InteriorPoint::renew_residual() {
  std::fill(coef_.begin(), coef_.end(), 0.0);
  for (const Piece& piece : pieces_) coef_[piece.row] += piece.sign * piece.dual;
  rows_.combine(coef_.data(), residual_.data());
  for (index_t j = 0; j < rows_.width(); ++j)
    residual_[j] = (is_free(j) ? 0.0 : v_[j]) - residual_[j];
}

// The bounds.
void InteriorPoint::look() {
  double losses = 0.0, heights = 0.0, square = 0.0, dual_square = 0.0;
  for (const Piece& piece : pieces_) {
    losses += piece.loss(piece.sign * scores_[piece.row]);
    heights += piece.dual * (piece.kink - 0.5 * piece.ridge * piece.dual);
  }
  for (index_t j = 0; j < rows_.width() - free_; ++j) {
    const double dual_weight = v_[j] - residual_[j];
    square += v_[j] * v_[j];
    dual_square += dual_weight * dual_weight;
  }
  upper_ = 0.5 * square + losses;
  gap_ = upper_ + 0.5 * dual_square - heights;
  if (free_) gap_ += std::abs(residual_[rows_.width() - 1]) * (scale_ + std::abs(intercept()));
}

// The curvature over the stiffness of all pieces, and its Cholesky factor.
bool InteriorPoint::factorise() {
  std::fill(coef_.begin(), coef_.end(), 0.0);
  for (Piece& piece : pieces_) {
    piece.per_dual = 1.0 / piece.dual;
    piece.per_surplus = 1.0 / piece.surplus;
    if (piece.bounded()) {
      piece.per_left = 1.0 / piece.left;
      piece.per_excess = 1.0 / piece.excess;
    }
    piece.stiffness =
        1.0 / (piece.surplus * piece.per_dual + piece.excess * piece.per_left + piece.ridge);
    coef_[piece.row] += piece.stiffness;
  }
  rows_.gram(coef_.data(), factor_.data(), n_threads_);
  const index_t stride = rows_.stride(), width = rows_.width();
  for (index_t i = 0; i < width; ++i) {
    double* row = factor_.data() + i * stride;
    if (!is_free(i)) row[i] += 1.0;
    for (index_t j = 0; j <= i; ++j) {
      const double* other = factor_.data() + j * stride;
      double sum = 0.0;
#pragma omp simd reduction(+ : sum)
      for (index_t k = 0; k < j; ++k) sum += row[k] * other[k];
      row[j] = j < i ? (row[j] - sum) / other[j] : row[i] - sum;
    }
    if (!(row[i] > 0.0) || !std::isfinite(row[i])) return false;
    row[i] = std::sqrt(row[i]);
  }
  return true;
}

void InteriorPoint::solve(std::vector<double>& x) const {
  const index_t stride = rows_.stride(), width = rows_.width();
  for (index_t i = 0; i < width; ++i) {
    const double* row = factor_.data() + i * stride;
    for (index_t k = 0; k < i; ++k) x[i] -= row[k] * x[k];
    x[i] /= row[i];
  }
  for (index_t i = width - 1; i >= 0; --i) {
    const double* row = factor_.data() + i * stride;
    x[i] /= row[i];
    for (index_t k = 0; k < i; ++k) x[k] -= row[k] * x[i];
  }
}

void InteriorPoint::aim(double target, bool bends) {
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    Piece& piece = pieces_[p];
    const PieceStep& step = steps_.pieces[p];
    const double bent = bends ? step.dual : 0.0;
    piece.to_surplus = (target - bent * step.surplus) * piece.per_dual - piece.surplus;
    piece.to_excess = (target + bent * step.excess) * piece.per_left - piece.excess;
  }
}

void InteriorPoint::aim_closer(double target, double t) {
  const double least = target / kOff, most = target * kOff;
  const auto missing = [&](double product) {
    return std::max(std::clamp(product, least, most) - product, -most);
  };
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    Piece& piece = pieces_[p];
    const PieceStep& step = steps_.pieces[p];
    const double below = (piece.dual + t * step.dual) * (piece.surplus + t * step.surplus);
    const double above = (piece.left - t * step.dual) * (piece.excess + t * step.excess);
    piece.to_surplus += missing(below) * piece.per_dual;
    piece.to_excess += missing(above) * piece.per_left;
  }
}

void InteriorPoint::find_steps() {
  std::fill(coef_.begin(), coef_.end(), 0.0);
  for (const Piece& piece : pieces_)
    coef_[piece.row] += piece.sign * piece.stiffness * (piece.to_surplus - piece.to_excess);
  rows_.combine(coef_.data(), steps_.v.data());
  for (index_t j = 0; j < rows_.width(); ++j) steps_.v[j] -= residual_[j];
  solve(steps_.v);
  rows_.scores(steps_.v.data(), steps_.scores.data());
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    const Piece& piece = pieces_[p];
    PieceStep& step = steps_.pieces[p];
    const double pull = piece.to_surplus - piece.to_excess;
    step.dual = piece.stiffness * (pull - piece.sign * steps_.scores[piece.row]);
    step.surplus = piece.to_surplus - piece.surplus * piece.per_dual * step.dual;
    step.excess = piece.to_excess + piece.excess * piece.per_left * step.dual;
  }
}

double InteriorPoint::corrected(double target) {
  double reached = room();
  const int corrections = rows_.width() > kFewWide ? kCorrections : 0;
  for (int k = 0; k < corrections && reached < 1.0; ++k) {
    const double longer = std::min(1.0, reached + kLonger);
    spare_ = steps_;
    aim_closer(target, longer);
    find_steps();
    const double now = room();
    if (!(now >= reached + kWorthwhile * (longer - reached))) {
      std::swap(spare_, steps_);
      break;
    }
    reached = now;
  }
  return reached;
}

double InteriorPoint::room() const {
  double fastest = 1.0;
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    const Piece& piece = pieces_[p];
    const PieceStep& step = steps_.pieces[p];
    if (!std::isfinite(step.dual + step.surplus + step.excess)) return 0.0;
    const double below = std::max(-step.dual * piece.per_dual, -step.surplus * piece.per_surplus);
    const double above = std::max(step.dual * piece.per_left, -step.excess * piece.per_excess);
    fastest = std::max(fastest, std::max(below, above));
  }
  return 1.0 / fastest;
}

double InteriorPoint::mean_product(double t) const {
  double sum = 0.0;
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    const Piece& piece = pieces_[p];
    const PieceStep& step = steps_.pieces[p];
    sum += (piece.dual + t * step.dual) * (piece.surplus + t * step.surplus);
    sum += (piece.left - t * step.dual) * (piece.excess + t * step.excess);
  }
  return sum / count_;
}

bool InteriorPoint::step() {
  if (pieces_.empty() || !inside_ || !factorise()) return false;
  const double now = mean_product(0.0);
  aim(0.0, false);
  find_steps();
  const double left = std::clamp(mean_product(room()) / now, 0.0, 1.0);
  const double target = now * left * left * left;
  aim(target, true);
  find_steps();
  const double t = std::min(1.0, kShort * corrected(target));
  if (!(std::isfinite(t) && t > kLeastStep)) return false;
  for (index_t j = 0; j < rows_.width(); ++j) v_[j] += t * steps_.v[j];
  for (index_t i = 0; i < rows_.rows(); ++i) scores_[i] += t * steps_.scores[i];
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    Piece& piece = pieces_[p];
    const PieceStep& step = steps_.pieces[p];
    piece.dual += t * step.dual;
    piece.surplus += t * step.surplus;
    piece.excess += t * step.excess;
    if (piece.bounded()) piece.left -= t * step.dual;
  }
  // The steps take it down by the same fraction, but for rounding.
  if (++taken_ % kStepsBetweenSums == 0)
    renew_residual();
  else
    for (double& left_over : residual_) left_over *= 1.0 - t;
  look();
  return std::isfinite(gap_);
}

std::vector<double> InteriorPoint::coefficients(double scale) const {
  std::vector<double> coef(rows_.rows());
  for (const Piece& piece : pieces_) coef[piece.row] -= piece.sign * piece.dual * scale;
  return coef;
}

std::vector<double> InteriorPoint::weights() const {
  return {v_.begin(), v_.begin() + rows_.width() - free_};
}

}  // namespace cutplane
