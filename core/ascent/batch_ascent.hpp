// A sweep of dual coordinate ascent over sparse rows, on several threads.
//
// Examples are visited in batches. The scores of a batch are those at the v before it, and between
// them the moves of a batch are told to each other along one direction alone: that of the mean
// example, by far the longest one that the examples of a text share. Without it, batches of 64
// diverge on TF-IDF text; with it, those of 256 take as many sweeps as single examples do
// (docs/decisions.md).
//
// Each thread has the features of one range (batch_ascent.cpp). It scores the batch there, adds up
// the scores of its share of the batch, makes all moves of the batch as every other thread does,
// and adds them to its range of v. Threads meet twice a batch. Results are the same to the bit for
// any number of them.
#pragma once

#include <memory>

#include "core/ascent/ascent_scale.hpp"
#include "core/ascent/dual_ascent_state.hpp"
#include "core/matrix/matrix.hpp"

namespace cutplane {

class BatchAscent {
 public:
  virtual ~BatchAscent() = default;
  // Like ascend (row_ascent.hpp). False, and nothing is done, where the active examples are
  // too few for batches, or batches have been found to mislead.
  virtual bool sweep(Ascent& state) = 0;
};

// The scale is that of the matrix. Null where rows are not sparse.
std::unique_ptr<BatchAscent> make_batch_ascent(const Matrix& matrix, const AscentScale& scale,
                                               const DualLoss& loss, int n_threads);

}  // namespace cutplane
