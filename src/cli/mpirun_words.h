// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// MpirunWords: separates mpirun's own messages from the output of the ranks.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "dist/launch_board.h"

namespace roentgen::cli {

/// Line that rank 0 prints on standard error once all ranks handle signals. It tells a launcher on another host, which
/// cannot see rank 0's shared memory.
inline constexpr std::string_view kAllListen = "[cli.launch] all ranks listen";
/// Beginning of the line, before the exit code, that the first failed rank prints for a launcher on another host.
inline constexpr std::string_view kFirstFailure = "[cli.launch] first failure: exit code ";

/// Filters the output of mpirun. Removes messages of Open MPI and of hydra (MPICH's launcher) about ended ranks and
/// forwarded signals. Passes only the first report about a killed rank (rank_guard.h). Passes an error only once if
/// several ranks report it. Stores messages of hydra about its own processes in complaints().
class MpirunWords {
 public:
  /// @param is_tagged true if lines of ranks begin with tags (tagged_output.h); such lines pass unchanged
  explicit MpirunWords(bool is_tagged = false) : is_tagged_(is_tagged) {}
  /// @param bytes next bytes of the output; may end within a line
  /// @return complete lines to print
  [[nodiscard]] std::string pass(std::string_view bytes);
  /// Returns the remaining text when the output has ended.
  [[nodiscard]] std::string rest();
  /// First killed rank that mpirun reported. Only from Open MPI, because the messages of hydra (MPICH's launcher) do
  /// not name the first killed rank.
  [[nodiscard]] const std::optional<dist::KilledRank>& killed() const { return killed_; }
  /// Messages of hydra (MPICH's launcher) about its own processes. They need not be shown if a killed rank explains
  /// them.
  [[nodiscard]] const std::string& complaints() const { return complaints_; }
  /// True if rank 0 has printed kAllListen.
  [[nodiscard]] bool all_listen() const { return all_listen_; }
  /// Exit code that the first failed rank has printed after kFirstFailure; nullopt: none.
  [[nodiscard]] std::optional<int> failure() const { return failure_; }
  /// True if mpirun could not start its daemon or the program on a host.
  [[nodiscard]] bool has_no_process() const { return has_no_process_; }
  /// True if a guard has reported that its rank was killed.
  [[nodiscard]] bool has_told() const { return has_told_; }
  /// First error line of a rank, without its line end; empty: none.
  [[nodiscard]] const std::string& first_error() const { return first_error_; }

 private:
  [[nodiscard]] std::string take_line(std::string line);
  /// Processes a line of a rank's output, given without its tag. Returns true if the line should be printed.
  [[nodiscard]] bool take_tagged(std::string_view said);
  /// Processes a line that is meant only for the launcher. Returns false for other lines.
  [[nodiscard]] bool take_report(std::string_view line);
  /// Processes a message of mpirun. Returns the text to print; empty if it is about how ranks ended.
  [[nodiscard]] std::string take_paragraph(std::string text);
  /// True if another rank has printed the same error before.
  [[nodiscard]] bool is_said_again(std::string_view line);
  void note_error(std::string_view line);
  /// True if the line belongs to the explanation that hydra (MPICH's launcher) prints after its message about an ended
  /// rank.
  [[nodiscard]] bool is_after_words(std::string_view line);

  bool is_tagged_ = false;
  std::string begun_;
  /// Lines read so far of a message of mpirun, from the separator line above it.
  std::string paragraph_;
  /// Number of lines of hydra's explanation that may still follow.
  int after_words_ = 0;
  std::string complaints_;
  std::optional<dist::KilledRank> killed_;
  std::string first_error_;
  bool has_told_ = false;
  bool has_no_process_ = false;
  bool all_listen_ = false;
  std::optional<int> failure_;
  std::set<std::string, std::less<>> errors_;
};

}  // namespace roentgen::cli
