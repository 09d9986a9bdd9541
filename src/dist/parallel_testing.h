// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// For tests that run as a group of processes: global state, set by main() in mpi_parallel_test.cpp.
#pragma once

#include <chrono>

#include "dist/comm_thread.h"
#include "dist/communicator.h"

namespace roentgen::dist {

inline constexpr std::chrono::milliseconds kLong{60'000};
/// Communication thread, which owns the communicator.
inline CommThread* thread = nullptr;
/// Communicator of the group. The first tests use it directly, before `thread` exists.
inline Communicator* group = nullptr;

}  // namespace roentgen::dist
