#include "bindings/bind.hpp"

namespace cutplane::bind {

void bind_reduced_qp(nb::module_& m) { (void)m; }

}  // namespace cutplane::bind
