// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Waits until a run folder is no longer locked (train/run_lock.h).
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>

namespace roentgen::train {

/// Waits until no process holds the lock of a run folder. A file server may keep the lock of a host that it has lost.
/// Returns false if a process still holds the lock after `limit`. A folder that does not exist, or in which no lock can
/// be taken, counts as unlocked.
/// @param on_wait called once if the folder is locked; may be empty
[[nodiscard]] bool wait_for_lock(const std::filesystem::path& folder, std::chrono::milliseconds limit,
                                 const std::function<void()>& on_wait);

}  // namespace roentgen::train
