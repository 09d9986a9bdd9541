// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Limits how long threads of a compute team spin before they sleep. libgomp spins for milliseconds by default, which
// takes cores from other processes, also from ours. libgomp reads the limit once, when the library is loaded.
#pragma once

namespace roentgen::runtime {

/// Number of iterations that libgomp's threads spin before they sleep. Measured on two cores of a Zen 4 shared with two
/// busy processes, as a share of fair throughput: 0.79 to 0.93. With 10,000 iterations: 0.47 to 0.96; with libgomp's
/// default of 300,000: 0.49. On an idle machine there was no difference.
inline constexpr const char* kSpinIterations = "1000";

/// Restarts this program in the same process, with the same arguments and with GOMP_SPINCOUNT in its environment. Does
/// not return if the restart succeeds. The restarted program removes the variable, so that its children do not inherit
/// it. Does nothing if GOMP_SPINCOUNT or OMP_WAIT_POLICY is set to any value, or if the program cannot be restarted.
/// Call it first in main(), before there are threads.
void bound_spin(char** arguments);

}  // namespace roentgen::runtime
