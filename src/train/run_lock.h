// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Lock of a run folder: one trainer at a time.
#pragma once

#include <filesystem>

namespace roentgen::train {

/// Holds a lock (flock(2)) on the file `lock` of a run folder during its lifetime. The system releases the lock if the
/// process is killed. On file systems without locks, it locks nothing. Not movable. Not thread-safe.
class RunLock {
 public:
  /// Takes the lock. Throws ConfigError if another process holds it, DataError if the file cannot be created.
  /// @param folder existing folder
  explicit RunLock(const std::filesystem::path& folder);
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;
  /// Releases the lock and removes the file, unless another process replaced it.
  ~RunLock();
  /// Returns false if the lock file was removed or replaced. Then the folder may belong to another process.
  [[nodiscard]] bool is_named() const;

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace roentgen::train
