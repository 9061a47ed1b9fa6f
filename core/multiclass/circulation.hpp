// Flows between classes that balance: what a plane needs so as not to lean on free intercepts.
#pragma once

#include <vector>

#include "core/base/parallel.hpp"

namespace cutplane {

// Given flows (classes x classes, none negative, zero diagonal), the fraction of each to keep so
// that as much flows into every class as out of it. What is taken away are paths from classes with
// too much outflow to classes with too much inflow, each as short as there is, so that it adds up
// to little more than the imbalance.
std::vector<double> circulation(const double* flows, index_t classes);

}  // namespace cutplane
