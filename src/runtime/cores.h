// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Cores on which the process may compute.
#pragma once

namespace roentgen::runtime {

/// Physical cores in the process's affinity mask (hwloc), the right size for a compute team. At least 1.
[[nodiscard]] int available_cores();

/// Hardware threads in that mask: a larger team is oversubscribed. At least available_cores().
[[nodiscard]] int available_hardware_threads();

/// OMP_NUM_THREADS when the user set it to a number (of a list, the first); else 0.
[[nodiscard]] long asked_compute_threads();

/// Default number of threads of a compute team: asked_compute_threads(), or else available_cores(). At most
/// available_hardware_threads(), with one warning when that limits it.
[[nodiscard]] int default_compute_threads();

/// Makes denormal results and inputs zero in the calling thread, for the thread's lifetime (MXCSR FTZ and DAZ).
/// A softmax gradient near zero made one layer six times slower without it.
void flush_denormals_to_zero();

}  // namespace roentgen::runtime
