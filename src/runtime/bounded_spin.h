// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Bound on how long threads of a compute team spin before they sleep. libgomp spins for milliseconds by default, which
// takes cores from other processes, also from ours. It reads the bound once, when the library is loaded.
#pragma once

namespace roentgen::runtime {

/// Iterations of libgomp's waiting loop. Measured on two cores of a Zen 4 beside two busy loops, as share of the fair
/// half: 0.79 to 0.93. With 10,000 iterations: 0.47 to 0.96; with libgomp's 300,000: 0.49. Alone on the machine there
/// was no difference.
inline constexpr const char* kSpinIterations = "1000";

/// Restarts this program in place, with the same arguments and with GOMP_SPINCOUNT in its environment; then it does not
/// return. The restarted program removes the variable, so that programs that it starts have their own. Does nothing
/// where GOMP_SPINCOUNT or OMP_WAIT_POLICY is set to any value, or where the program cannot be restarted. Call it first
/// in main(), before there are threads.
void bound_spin(char** arguments);

}  // namespace roentgen::runtime
