#include "bindings/bind.hpp"

namespace cutplane::bind {

void bind_svmlight(nb::module_& m) { (void)m; }

}  // namespace cutplane::bind
