#include "core/matrix/row_passes.hpp"

namespace cutplane {

template class RowMatrix<CsrRows<double, std::int32_t>>;

}  // namespace cutplane
