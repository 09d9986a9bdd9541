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

/// Starts this program anew, in its place and with the same arguments, with GOMP_SPINCOUNT in its environment; does not
/// return then. The second time it takes the variable out again, so that programs started by this one, which may be
/// others, have their own. Does nothing where GOMP_SPINCOUNT or OMP_WAIT_POLICY is set, whatever to, nor where the
/// program cannot be started again. To be called first in main(), before there are threads.
/// @param arguments main()'s argv
void bound_spin(char** arguments);

}  // namespace roentgen::runtime
