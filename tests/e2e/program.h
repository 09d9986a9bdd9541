// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Helpers for end-to-end tests: run the built program as a user does, in a temporary folder.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/folder_testing.h"
#include "core/value.h"

namespace roentgen::e2e {

/// Result of a run of the program.
struct Ended {
  /// Exit code, or 128 + the number of the signal that ended the program.
  int code = -1;
  std::string out;
  std::string err;
};

/// A running process of the program.
class Process {
 public:
  /// Starts the program under test with these arguments. Writes its output into files below `folder`.
  /// @param starter a program that starts it, and the arguments of that program; empty: none
  /// @param program another program to test; empty: RG_PROGRAM
  Process(std::vector<std::string> arguments, const std::filesystem::path& folder,
          const std::vector<std::string>& starter = {}, const std::string& program = {});
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  /// Kills the process if it is still running.
  ~Process();
  void signal(int number) const;
  [[nodiscard]] bool is_running();
  /// Waits until the process ends.
  [[nodiscard]] Ended wait();
  /// Waits until the process ends or `descriptor` is readable, for at most `limit`. A negative `descriptor` is ignored.
  void pause(std::chrono::milliseconds limit, int descriptor = -1) const;
  /// Waits until `is_reached` returns true; calls it again after each `interval`. Returns false if the program ends
  /// before.
  [[nodiscard]] bool wait_until(const std::function<bool()>& is_reached,
                                std::chrono::milliseconds interval = std::chrono::milliseconds(1));
  /// Waits until `path` has at least `lines` lines. Returns false if the program ends before.
  [[nodiscard]] bool wait_for_lines(const std::filesystem::path& path, std::int64_t lines);

 private:
  pid_t pid_ = -1;
  /// Descriptor of the process (pidfd_open), readable when it has ended.
  int ended_ = -1;
  bool is_over_ = false;
  int status_ = 0;
  std::filesystem::path out_;
  std::filesystem::path err_;
};

/// A new temporary folder with the files that most tests need; the destructor removes it.
class Workplace {
 public:
  [[nodiscard]] const std::filesystem::path& root() const { return folder_.path(); }
  [[nodiscard]] std::filesystem::path operator/(std::string_view name) const { return root() / name; }
  /// Writes a file, creates its folders, and returns its path.
  std::filesystem::path write(std::string_view name, std::string_view text) const;
  /// Runs the program until it ends.
  [[nodiscard]] Ended run(const std::vector<std::string>& arguments) const;
  /// Runs the program, and fails the test unless it exits with 0.
  Ended must_run(const std::vector<std::string>& arguments) const;

  /// Draws `images` synthetic images into <root>/<name>. Fails the test if that fails.
  std::filesystem::path synth(std::string_view name, int images) const;
  /// Writes a small network as graph text, and a recipe that trains it. Returns the arguments of `train` for them.
  [[nodiscard]] std::vector<std::string> train_arguments(const std::filesystem::path& data, std::string_view run) const;

 private:
  TemporaryFolder folder_;
};

/// Side of the images that synth() draws, px.
inline constexpr int kImagePx = 32;

/// Folder of real test files: ROENTGEN_TEST_DATA, or shared/data next to the checkout.
[[nodiscard]] std::filesystem::path real_data();
[[nodiscard]] std::string read_all(const std::filesystem::path& path);
[[nodiscard]] Value read_json(const std::filesystem::path& path);
/// Returns `base` followed by more arguments.
[[nodiscard]] std::vector<std::string> plus(std::vector<std::string> base, const std::vector<std::string>& more);

/// Expects exit code 2 and a single error line on standard error that contains all `parts`. The line has the form
/// "[room.thing] what: expected X, got Y; try Z", or the short form of options and files.
void expect_refusal(const Ended& run, const std::vector<std::string>& parts);
/// Expects an error after the work has begun: like expect_refusal(), but log lines may precede the error.
void expect_stop(const Ended& run, const std::vector<std::string>& parts);
/// Expects equal tensors, bit for bit, in two safetensors files. Metadata may differ.
void expect_equal_tensors(const std::filesystem::path& left, const std::filesystem::path& right);
/// Expects that there is no temporary file below `folder`, and that all *.safetensors files can be opened.
void expect_nothing_half_written(const std::filesystem::path& folder);

}  // namespace roentgen::e2e
