#include "bindings/bind.hpp"

namespace cutplane::bind {

void bind_dual_ascent(nb::module_& m) { (void)m; }

}  // namespace cutplane::bind
