// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// For end-to-end tests: runs the built program as a user does, in a folder that is gone afterwards.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/folder_testing.h"
#include "core/value.h"

namespace roentgen::e2e {

/// How a run of the program ended.
struct Ended {
  /// Exit code; 128 + signal when a signal ended it.
  int code = -1;
  std::string out;
  std::string err;
};

/// A program that is running.
class Process {
 public:
  /// Starts the program under test with these arguments, output into files below `folder`.
  /// @param starter a program that starts it, and its arguments; empty: none
  /// @param program another one to test; empty: RG_PROGRAM
  Process(std::vector<std::string> arguments, const std::filesystem::path& folder,
          const std::vector<std::string>& starter = {}, const std::string& program = {});
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  /// Kills what is still running.
  ~Process();
  void signal(int number) const;
  [[nodiscard]] bool is_running();
  /// Waits for the end.
  [[nodiscard]] Ended wait();
  /// True once `path` has at least `lines` lines; false when the program ended before.
  [[nodiscard]] bool wait_for_lines(const std::filesystem::path& path, std::int64_t lines);

 private:
  pid_t pid_ = -1;
  bool is_over_ = false;
  int status_ = 0;
  std::filesystem::path out_;
  std::filesystem::path err_;
};

/// A new folder below the temporary ones with what most tests need; removed at the end.
class Workplace {
 public:
  [[nodiscard]] const std::filesystem::path& root() const { return folder_.path(); }
  [[nodiscard]] std::filesystem::path operator/(std::string_view name) const { return root() / name; }
  /// Writes a file, making its folders; returns its path.
  std::filesystem::path write(std::string_view name, std::string_view text) const;
  /// Runs the program to its end.
  [[nodiscard]] Ended run(const std::vector<std::string>& arguments) const;
  /// Runs the program, and fails the test unless it exits with 0.
  Ended must_run(const std::vector<std::string>& arguments) const;

  /// Draws `images` synthetic images into <root>/<name>; fails the test when that fails.
  std::filesystem::path synth(std::string_view name, int images) const;
  /// Writes a small network as graph text and a recipe that trains it; arguments of `train` for them.
  [[nodiscard]] std::vector<std::string> train_arguments(const std::filesystem::path& data, std::string_view run) const;

 private:
  TemporaryFolder folder_;
};

/// Side of the images synth() draws.
inline constexpr int kImagePx = 32;

/// The folder of real files: ROENTGEN_TEST_DATA, or shared/data beside the checkout.
[[nodiscard]] std::filesystem::path real_data();
[[nodiscard]] std::string read_all(const std::filesystem::path& path);
[[nodiscard]] Value read_json(const std::filesystem::path& path);
/// `base` with more arguments behind it.
[[nodiscard]] std::vector<std::string> plus(std::vector<std::string> base, const std::vector<std::string>& more);

/// Expects exit code 2 and one line of an error on standard error with all `parts`. The line has the form "[room.thing]
/// what: expected X, got Y; try Z", or the short form of options and files. It contains no other error.
void expect_refusal(const Ended& run, const std::vector<std::string>& parts);
/// Expects an error during the work: as expect_refusal(), but lines of the log may come before.
void expect_stop(const Ended& run, const std::vector<std::string>& parts);
/// Expects the tensors of two safetensors files to be the same, bit for bit. Metadata may differ.
void expect_equal_tensors(const std::filesystem::path& left, const std::filesystem::path& right);
/// Expects that no file below `folder` is a temporary one, and that all *.safetensors can be opened.
void expect_nothing_half_written(const std::filesystem::path& folder);

}  // namespace roentgen::e2e
