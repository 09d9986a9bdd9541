// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// WorkFolder: a temporary folder that does not outlive this process, however it ends.
#pragma once

#include <sys/types.h>

#include <filesystem>

namespace roentgen::bench {

/// A new folder, which the destructor removes. If a signal, even SIGKILL, ends this process earlier, a small process
/// that waits for this end removes the folder. For use by one thread.
class WorkFolder {
 public:
  /// Creates a folder below `place`. Throws ConfigError if `place` is missing or cannot be written to, and DeviceError
  /// if no process can be started.
  explicit WorkFolder(const std::filesystem::path& place);
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  void start_remover();

  std::filesystem::path path_;
  pid_t remover_ = -1;  ///< waits until `lifeline_` is closed
  int lifeline_ = -1;   ///< end of a pipe, which the system closes at the end of this process
};

}  // namespace roentgen::bench
