// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Cores on which the process may compute.
#pragma once

#include <string>

namespace roentgen::runtime {

/// Number of physical cores that the process may use: those of its affinity mask (by hwloc), limited by its CPU quota
/// (cpu_quota.h, rounded up). This is the best size for a compute team. At least 1.
[[nodiscard]] int available_cores();

/// Number of hardware threads that the process may use. A larger compute team is oversubscribed. At least
/// available_cores().
[[nodiscard]] int available_hardware_threads();

/// Text about available_cores(), such as "8 cores" or "3 cores (CPU quota 2.5)".
[[nodiscard]] std::string available_cores_text();

/// Value of OMP_NUM_THREADS if the user set it to a number (the first one of a list); else 0.
[[nodiscard]] long asked_compute_threads();

/// Default size of a compute team: asked_compute_threads(), or available_cores() if that is 0. Limited to
/// available_hardware_threads(), with a single warning if the limit applies.
[[nodiscard]] int default_compute_threads();

/// Makes the calling thread treat denormal results and inputs as zero from now on (MXCSR FTZ and DAZ). Without it, a
/// softmax gradient near zero made one layer six times slower.
void flush_denormals_to_zero();

}  // namespace roentgen::runtime
