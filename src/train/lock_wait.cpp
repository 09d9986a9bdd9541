// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/lock_wait.h"

#include <poll.h>

#include <system_error>

#include "core/error.h"
#include "train/run_lock.h"

namespace roentgen::train {
namespace {

bool is_locked(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) return false;
  try {
    const RunLock lock(folder);
    return false;
  } catch (const ConfigError&) {
    return true;
  } catch (const DataError&) {
    return false;
  }
}

}  // namespace

bool wait_for_lock(const std::filesystem::path& folder, std::chrono::milliseconds limit,
                   const std::function<void()>& on_wait) {
  if (!is_locked(folder)) return true;
  if (on_wait) on_wait();
  constexpr int kEachMs = 100;
  const auto end = std::chrono::steady_clock::now() + limit;
  while (is_locked(folder)) {
    if (std::chrono::steady_clock::now() >= end) return false;
    ::poll(nullptr, 0, kEachMs);
  }
  return true;
}

}  // namespace roentgen::train
