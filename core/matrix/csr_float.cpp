#include "core/matrix/row_passes.hpp"

namespace cutplane {

template class RowMatrix<CsrRows<float, std::int32_t>>;

}  // namespace cutplane
