// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tags of --tag-output: a rank's guard begins each line of the rank's output with "N: ".
#pragma once

#include <csignal>
#include <cstddef>
#include <string>
#include <string_view>

namespace roentgen::cli {

/// Length of the tag "N: " at the begin of a line; 0: none.
[[nodiscard]] std::size_t tag_size(std::string_view line);

/// Pipes between a rank and its guard, made before the rank is forked. Whole lines pass. One thread.
class TaggedOutput {
 public:
  /// Makes the pipes. Throws DeviceError where there is no file left for one.
  explicit TaggedOutput(int rank);
  TaggedOutput(const TaggedOutput&) = delete;
  TaggedOutput& operator=(const TaggedOutput&) = delete;
  ~TaggedOutput();

  /// In the rank: its standard outputs are the pipes from now on.
  void become_rank();
  /// In the guard: before the first wait().
  void become_guard();
  /// In the guard: passes lines on until a signal of `held` comes, and returns that. The signals must be blocked.
  [[nodiscard]] int wait(const sigset_t& held);
  /// In the guard, once the rank has ended: passes on what is left, with a line end.
  void finish();

 private:
  struct Stream {
    int read_end = -1;
    int write_end = -1;
    int to = -1;  ///< output of this process
    std::string begun{};
  };
  /// Passes on what has come; false at the end of the pipe or where nothing has come.
  bool pass_on(Stream& stream) const;

  std::string tag_;
  Stream out_;
  Stream err_;
};

}  // namespace roentgen::cli
