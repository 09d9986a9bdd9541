// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// MutedThread: silences a thread, where several threads of a process do the same and one reports for all.
#pragma once

namespace roentgen {

/// While it lives, what the thread that made it prints (terminal.h) is discarded, and what it logs, except errors.
/// Threads that it starts are not silenced. One thread; they do not nest.
class MutedThread {
 public:
  MutedThread();   ///< silences the calling thread
  ~MutedThread();  ///< ends the silence
  MutedThread(const MutedThread&) = delete;
  MutedThread& operator=(const MutedThread&) = delete;
  /// True if the calling thread is silenced.
  [[nodiscard]] static bool is_muted();
};

}  // namespace roentgen
