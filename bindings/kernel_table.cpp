#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "bindings/bind.hpp"
#include "core/smo/kernel_table.hpp"

namespace cutplane::bind {
namespace {

using nb::literals::operator""_a;
using namespace cutplane::smo;

std::string_view name_of(Reduction reduction) {
  switch (reduction) {
    case Reduction::product:
      return "product";
    case Reduction::squared_difference:
      return "squared_difference";
    case Reduction::absolute_difference:
      return "absolute_difference";
    case Reduction::chi_square:
      return "chi_square";
  }
  return "";
}

std::string_view name_of(Transform transform) {
  switch (transform) {
    case Transform::identity:
      return "identity";
    case Transform::exponential:
      return "exponential";
    case Transform::power:
      return "power";
    case Transform::tangent:
      return "tangent";
  }
  return "";
}

std::vector<std::string> parameters(const Kernel& kernel) {
  std::vector<std::string> used;
  if (kernel.uses_gamma()) used.emplace_back("gamma");
  if (kernel.uses_coef0()) used.emplace_back("coef0");
  if (kernel.uses_degree()) used.emplace_back("degree");
  return used;
}

}  // namespace

void bind_kernel_table(nb::module_& m) {
  nb::class_<Kernel>(m, "KernelEntry", "A kernel that the core computes, and what is known of it.")
      .def_ro("name", &Kernel::name)
      .def_ro("formula", &Kernel::formula)
      .def_prop_ro(
          "reduction", [](const Kernel& self) { return name_of(self.reduction); },
          "What is summed over the features of a pair: \"product\", \"squared_difference\", "
          "\"absolute_difference\" or \"chi_square\".")
      .def_prop_ro(
          "transform", [](const Kernel& self) { return name_of(self.transform); },
          "What becomes of the sum s: \"identity\", \"exponential\" exp(-gamma s), \"power\" "
          "(gamma s + coef0)^degree or \"tangent\" tanh(gamma s + coef0).")
      .def_prop_ro("parameters", &parameters, "Those that it has: gamma, coef0, degree.")
      .def_prop_ro("unit_length", &Kernel::unit_length, "Whether K(x, x) = 1.")
      .def_prop_ro("positive_only", &Kernel::positive_only,
                   "Whether examples must not have negative values.")
      .def_prop_ro("growth", &Kernel::growth,
                   "Examples t times as large have sums t**growth times as large.")
      .def("definite", &Kernel::definite, "coef0"_a,
           "Whether every kernel matrix is positive semi-definite, by construction.");
  m.def(
      "kernels", [] { return std::vector<Kernel>(kKernels.begin(), kKernels.end()); },
      "The kernels that the core computes.");
}

}  // namespace cutplane::bind
