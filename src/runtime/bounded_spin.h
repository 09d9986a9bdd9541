// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// How long threads of a compute team spin before they sleep. libgomp spins for milliseconds by default, which takes the
// cores from whatever else wants them, other processes of ours too, and reads the bound once, when it is loaded.
#pragma once

namespace roentgen::runtime {

/// Iterations of libgomp's waiting loop. On two cores of a Zen 4 with two busy loops beside it a
/// step reached 0.79 to 0.93 of the fair half so, 0.47 to 0.96 with 10,000, 0.49 with libgomp's 300,000; alone on the
/// machine no difference showed.
inline constexpr const char* kSpinIterations = "1000";

/// Starts this program anew, in its place and with the same arguments, with GOMP_SPINCOUNT in its environment; does not
/// return then. The second time it takes the variable out again, so that programs started by this one, which may be
/// others, have their own. Does nothing where GOMP_SPINCOUNT or OMP_WAIT_POLICY is set, whatever to, nor where the
/// program cannot be started again. To be called first in main(), before there are threads.
/// @param arguments main()'s argv
void bound_spin(char** arguments);

}  // namespace roentgen::runtime
