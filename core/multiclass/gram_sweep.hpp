// Dual ascent over the examples' blocks by the Gram matrix of the examples.
//
// The lines of all examples are kept up to date: a step changes them by a row of the matrix for
// every class whose weight it changes, which is much less than a product of the example with the
// weights of all classes where rows are long against the number of examples. It also tells which
// blocks are furthest from their best, and these are the ones to go to.
#pragma once

#include "core/multiclass/ascent.hpp"

namespace cutplane {

// One sweep: steps on the blocks furthest from their best until the largest violation is a third of
// what it was. V is summed up afresh in the end, so that what the matrix in single precision leaves
// out is made up for by the next sweep.
void ascend_blocks_by_gram(const Matrix& matrix, const float* gram, BlockAscent& state,
                           const Deadline& deadline, int n_threads);

}  // namespace cutplane
