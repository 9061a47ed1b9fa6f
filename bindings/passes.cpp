#include "bindings/bind.hpp"

namespace cutplane::bind {

void bind_passes(nb::module_& m) { (void)m; }

}  // namespace cutplane::bind
