// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// ThreadGroup: ranks that are threads of one process, so that it drives several devices.
#pragma once

#include <memory>
#include <string>

#include "dist/communicator.h"

namespace roentgen::dist {

/// Group of ranks in one process. All calls are thread-safe.
/// Sums are made in the order of ranks in the type of the numbers. A message is copied once, from the sender's memory,
/// while all other communication of the group waits. When a rank fails, the pending calls of the others throw
/// CommError, and nothing touches its memory any more.
class ThreadGroup {
 public:
  /// @param size number of ranks, at least 1
  /// @param host name of the host, for messages
  ThreadGroup(int size, std::string host);
  ThreadGroup(const ThreadGroup&) = delete;
  ThreadGroup& operator=(const ThreadGroup&) = delete;
  /// All members must be gone.
  ~ThreadGroup();

  [[nodiscard]] int size() const;  ///< number of ranks
  /// Returns rank `rank`'s end, for a thread of its own; each once. It cannot be divided. Messages allocate.
  [[nodiscard]] std::unique_ptr<Communicator> member(int rank);

  struct State;  ///< shared state of the members, for thread_group.cpp

 private:
  std::unique_ptr<State> state_;
};

}  // namespace roentgen::dist
