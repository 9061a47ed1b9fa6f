#include "core/matrix/row_passes.hpp"

namespace cutplane {

template class RowMatrix<CsrRows<float, std::int32_t>>;
template class RowMatrix<CsrRows<double, std::int32_t>>;
template class RowMatrix<CsrRows<double, std::int64_t>>;

}  // namespace cutplane
