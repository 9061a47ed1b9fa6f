#include "core/parallel.hpp"
