// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Lock of a run folder: one trainer at a time.
#pragma once

#include <filesystem>

namespace roentgen::train {

/// Holds the file `lock` of a run folder (flock(2)) while it lives; the system lets go of it when the process is
/// killed. On file systems without locks it holds nothing. Not movable. One thread.
class RunLock {
 public:
  /// @param folder a folder that exists. ConfigError when another process holds its lock, DataError when no file can be
  /// made in it.
  explicit RunLock(const std::filesystem::path& folder);
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;
  /// Removes the file, unless another process replaced it.
  ~RunLock();

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace roentgen::train
