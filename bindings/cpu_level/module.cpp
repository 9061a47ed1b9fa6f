// A module of its own, compiled for the baseline: it says which module of the core to load.
#include <nanobind/nanobind.h>

#include "core/base/cpu_level.hpp"

NB_MODULE(_cpu_level, m) {
  m.doc() = "Which of the modules of the core this machine can run.";
  m.def("cpu_level", &cutplane::cpu_level, "4 for x86-64-v4, 3 for x86-64-v3, else 1.");
}
