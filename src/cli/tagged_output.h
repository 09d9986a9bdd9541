// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tags of --tag-output: a rank's guard puts "N: " (N is the rank) before each line of the rank's output.
#pragma once

#include <csignal>
#include <cstddef>
#include <string>
#include <string_view>

namespace roentgen::cli {

/// Returns the length of the tag "N: " at the beginning of a line; 0: the line has no tag.
[[nodiscard]] std::size_t tag_size(std::string_view line);

/// Pipes between a rank and its guard, created before the rank is forked. Only whole lines are forwarded.
/// Not thread-safe.
class TaggedOutput {
 public:
  /// Creates the pipes. Throws DeviceError if the process cannot open more files.
  explicit TaggedOutput(int rank);
  TaggedOutput(const TaggedOutput&) = delete;
  TaggedOutput& operator=(const TaggedOutput&) = delete;
  ~TaggedOutput();

  /// In the rank: redirects standard output and standard error to the pipes.
  void become_rank();
  /// In the guard: closes the rank's ends of the pipes. Call it before the first wait().
  void become_guard();
  /// In the guard: forwards lines until a signal of `held` arrives, and returns the signal. The signals must be
  /// blocked.
  [[nodiscard]] int wait(const sigset_t& held);
  /// In the guard, once the rank has ended: forwards the remaining text, with a line end.
  void finish();

 private:
  struct Stream {
    int read_end = -1;
    int write_end = -1;
    int to = -1;  ///< descriptor of this process's output
    std::string begun{};
  };
  /// Forwards pending output; false if there is none or the pipe has ended.
  bool pass_on(Stream& stream) const;

  std::string tag_;
  Stream out_;
  Stream err_;
};

}  // namespace roentgen::cli
