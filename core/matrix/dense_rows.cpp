#include "core/matrix/row_passes.hpp"

namespace cutplane {

template class RowMatrix<DenseRows<float>>;
template class RowMatrix<DenseRows<double>>;

}  // namespace cutplane
