// A primal-dual interior point over all examples, for problems so small that a factor of the whole
// curvature costs next to nothing: ten to thirty steps whatever C is and however features are
// scaled.
//
// Minimises ½|w|² + the sum of losses whose heights are parabolas in pieces
// (core/ascent/dual_losses.hpp). Such a loss is a sum of at most two pieces, one for each side of
// its target: a piece of the sign s costs nothing while its margin s·score is at least `kink`. Its
// dual variable, from 0 to `bound`, adds dual·s·x to the weights and kink·dual - ½·ridge·dual² to
// the dual value. At the optimum
//
//   s·score - kink + ridge·dual = surplus - excess,   dual·surplus = 0,   (bound - dual)·excess =
//   0,
//
// with dual, surplus, excess >= 0 and no excess where there is no bound. Mehrotra's predictor and
// corrector lead there along products that vanish together. What is proven with the dual variables
// is computed elsewhere, from the data.
#pragma once

#include <vector>

#include "core/ascent/dual_ascent.hpp"
#include "core/ascent/dual_losses.hpp"
#include "core/matrix/matrix.hpp"

namespace cutplane {

// A dense copy of few examples, with the columns of an intercept: every pass of an interior point.
//
// Rows are padded with zeros to whole cache lines, so that loops have no ends to look after. Every
// sum has a fixed order: results are the same to the bit for any number of threads.
class WideRows {
 public:
  // The rows of the matrix, each followed by the numbers `more`.
  WideRows(const Matrix& matrix, const std::vector<double>& more);

  index_t rows() const { return rows_; }
  // Columns, without and with the padding.
  index_t width() const { return width_; }
  index_t stride() const { return stride_; }

  // out[i] = <x_i, v>; v has stride() numbers.
  void scores(const double* v, double* out) const;
  // out (stride()) = sum over i of coef[i] x_i
  void combine(const double* coef, double* out) const;
  // out (stride() x stride(), lower triangle) = sum over i of weights[i] x_i x_i'
  void gram(const double* weights, double* out, int n_threads) const;

 private:
  index_t rows_, width_, stride_;
  std::vector<double> values_;
};

class InteriorPoint {
 public:
  InteriorPoint(const Matrix& matrix, const DualLoss& loss, AscentIntercept intercept,
                int n_threads);

  // Predictor and corrector, and as far as the boundary allows; false where rounding leaves no way
  // on.
  bool step();

  // Upper less lower bound at the weights and the dual variables reached, but for rounding, and
  // what dual variables that are out of balance may cost; the upper one.
  double gap() const { return gap_; }
  double upper() const { return upper_; }

  // -dual·sign·scale for each example.
  std::vector<double> coefficients(double scale) const;
  // With a penalised constant feature, its weight is the last.
  std::vector<double> weights() const;
  double intercept() const { return free_ ? v_[rows_.width() - 1] : 0.0; }

 private:
  struct Piece {
    index_t row;
    double sign, kink, bound, ridge;
    double dual = 0, surplus = 0, excess = 0;
    // What the dual variable may still grow by; without a bound it counts nowhere, and is 0.
    double left = 0;
    double stiffness = 0;
    // One over each of them; 0 where they are.
    double per_dual = 0, per_surplus = 0, per_excess = 0, per_left = 0;
    // By how much surplus and excess would change if the dual variable did not.
    double to_surplus = 0, to_excess = 0;

    bool bounded() const { return bound < INFINITY; }
    // Whether all that must be positive is, and finite.
    bool inside() const;
    double loss(double margin) const;
  };
  struct PieceStep {
    double dual, surplus, excess;
  };
  struct Steps {
    std::vector<double> v;       // of the weights, intercepts last
    std::vector<double> scores;  // of each example
    std::vector<PieceStep> pieces;
  };

  // Whether a column is the intercept's that costs nothing.
  bool is_free(index_t column) const { return free_ && column == rows_.width() - 1; }
  void add_piece(index_t row, double sign, double kink, double bound, double ridge);
  void begin(Piece& piece, double product) const;
  void renew_residual();
  void look();
  bool factorise();
  void solve(std::vector<double>& x) const;
  // Aim at products of `target`, less what the steps there are say they bend.
  void aim(double target, bool bends);
  // Aim at products no further than a factor from `target` at a fraction t of the steps there are.
  void aim_closer(double target, double t);
  // The steps that lead to the aim.
  void find_steps();
  // Better ones, for the same factor; returns their room.
  double corrected(double target);
  // The fraction of the steps, at most one, that ends on the boundary.
  double room() const;
  // The mean product after a fraction t of the steps.
  double mean_product(double t) const;

  WideRows rows_;
  bool free_;
  int n_threads_;
  std::vector<Piece> pieces_;
  Steps steps_, spare_;
  std::vector<double> v_;         // weights, intercepts last
  std::vector<double> scores_;    // of each example
  std::vector<double> coef_;      // of each example: room for sums
  std::vector<double> residual_;  // v less what the dual variables stand for
  std::vector<double> factor_;    // lower triangle
  double scale_ = 1;              // of the targets
  bool inside_ = true;            // whether it began so
  int taken_ = 0;                 // steps
  double count_ = 0;              // of products
  double gap_ = INFINITY, upper_ = INFINITY;
};

}  // namespace cutplane
