#include "core/matrix/row_passes.hpp"

namespace cutplane {

template class RowMatrix<CsrRows<double, std::int64_t>>;

}  // namespace cutplane
