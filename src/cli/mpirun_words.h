// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// What mpirun itself says on standard error, among what ranks say there.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace roentgen::cli {

/// A rank that a signal ended.
struct KilledRank {
  /// Negative: it is not known which.
  int rank = -1;
  std::string host;
  int signal = 0;
};

/// Passes lines on, save for mpirun's paragraphs about how ranks ended, which it understands.
class MpirunWords {
 public:
  /// @param bytes as they came
  /// @return whole lines that are for people
  [[nodiscard]] std::string pass(std::string_view bytes);
  /// What is left when no more comes.
  [[nodiscard]] std::string rest();
  /// The first that mpirun told of.
  [[nodiscard]] const std::optional<KilledRank>& killed() const { return killed_; }

 private:
  [[nodiscard]] std::string take_line(std::string line);
  /// A paragraph of mpirun's; empty when it is about how ranks ended.
  [[nodiscard]] std::string take_paragraph(std::string text);

  std::string begun_;
  /// Since a line of dashes, with it.
  std::string paragraph_;
  std::optional<KilledRank> killed_;
};

}  // namespace roentgen::cli
