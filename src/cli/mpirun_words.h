// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Separates mpirun's own messages from those of the ranks on one of its outputs.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "dist/launch_board.h"

namespace roentgen::cli {

/// Line that rank 0 prints on standard error once all ranks handle signals. Used when the process that started it
/// cannot see its memory.
inline constexpr std::string_view kAllListen = "[cli.launch] all ranks listen";

/// Passes lines on, except the paragraphs of Open MPI and of MPICH's hydra about the end of ranks. Passes only the
/// first line of guards about killed ranks (rank_guard.h), and an error that several ranks report only once. Messages
/// of hydra's programs about each other are kept. The message that mpirun passes a signal on is dropped.
class MpirunWords {
 public:
  /// @param is_tagged lines of ranks begin with their tags (tagged_output.h): they pass as they are
  explicit MpirunWords(bool is_tagged = false) : is_tagged_(is_tagged) {}
  /// @param bytes any part of the output
  /// @return complete lines to print
  [[nodiscard]] std::string pass(std::string_view bytes);
  /// Returns the rest of the text at the end of the output.
  [[nodiscard]] std::string rest();
  /// The first killed rank that mpirun reported; only Open MPI's, since hydra's messages do not name the first.
  [[nodiscard]] const std::optional<dist::KilledRank>& killed() const { return killed_; }
  /// Messages of hydra's programs about each other. A killed rank explains them.
  [[nodiscard]] const std::string& complaints() const { return complaints_; }
  /// Whether rank 0 has printed kAllListen.
  [[nodiscard]] bool all_listen() const { return all_listen_; }
  /// mpirun could not start its daemon on a host.
  [[nodiscard]] bool has_no_daemon() const { return has_no_daemon_; }
  /// Whether a guard has reported its rank.
  [[nodiscard]] bool has_told() const { return has_told_; }
  /// The first error of a rank, without its line end; empty: none.
  [[nodiscard]] const std::string& first_error() const { return first_error_; }

 private:
  [[nodiscard]] std::string take_line(std::string line);
  /// A line of a rank, without its tag; whether it passes.
  [[nodiscard]] bool take_tagged(std::string_view said);
  /// A paragraph of mpirun; empty when it is about how ranks ended.
  [[nodiscard]] std::string take_paragraph(std::string text);
  /// Whether it is an error that another rank has printed before.
  [[nodiscard]] bool is_said_again(std::string_view line);
  void note_error(std::string_view line);
  /// Whether it belongs to hydra's text after its paragraph.
  [[nodiscard]] bool is_after_words(std::string_view line);

  bool is_tagged_ = false;
  std::string begun_;
  /// Text since a rule, including the rule.
  std::string paragraph_;
  /// Number of lines that may still follow hydra's paragraph.
  int after_words_ = 0;
  std::string complaints_;
  std::optional<dist::KilledRank> killed_;
  std::string first_error_;
  bool has_told_ = false;
  bool has_no_daemon_ = false;
  bool all_listen_ = false;
  std::set<std::string, std::less<>> errors_;
};

}  // namespace roentgen::cli
