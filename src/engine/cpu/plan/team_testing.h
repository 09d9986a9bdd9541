// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Runs tests in OpenMP teams that are smaller than requested.
#pragma once

#include <omp.h>

namespace roentgen::engine::cpu {

/// Runs body() with teams of one thread, whatever number is requested. Nested parallel regions of OpenMP behave like
/// this.
template <typename Body>
void with_one_thread(const Body& body) {
  const int levels = omp_get_max_active_levels();
  omp_set_max_active_levels(1);
#pragma omp parallel num_threads(2)
#pragma omp single
  body();
  omp_set_max_active_levels(levels);
}

}  // namespace roentgen::engine::cpu
