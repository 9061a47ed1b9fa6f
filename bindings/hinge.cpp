#include "bindings/bind.hpp"

namespace cutplane::bind {

void bind_hinge(nb::module_& m) { (void)m; }

}  // namespace cutplane::bind
