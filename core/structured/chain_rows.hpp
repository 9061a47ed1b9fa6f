// The two loops that labelling a sequence spends its time in. Rows of scores are padded to whole
// vectors.
#pragma once

#include "core/structured/chain.hpp"

namespace cutplane {

// out (end - begin x stride): the scores of some tokens under w, for each label; 0 beyond.
void score_rows_of(const Chains& chains, const double* w, index_t begin, index_t end,
                   index_t stride, double* out);

// reached[t][j] = scores[t][j] + max over i of reached[t - 1][i] + transitions[i][j]
void reach(const double* scores, const double* transitions, index_t length, index_t labels,
           index_t stride, double* reached);

}  // namespace cutplane
