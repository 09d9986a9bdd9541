// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/mpirun_words.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "cli/rank_guard.h"
#include "cli/tagged_output.h"

namespace roentgen::cli {
namespace {

// True if the line is a separator above or below a message: dashes in Open MPI, equals signs in hydra (MPICH's
// launcher).
bool is_rule(std::string_view line) {
  constexpr std::size_t kLeast = 60;
  const auto end = line.find_last_not_of("\r\n");
  return end != std::string_view::npos && end + 1 >= kLeast && (line[0] == '-' || line[0] == '=') &&
         std::ranges::all_of(line.substr(0, end + 1), [&](char c) { return c == line[0]; });
}

// Returns the characters of `text` between `before` and `after`; empty if these do not occur.
std::string_view between(std::string_view text, std::string_view before, std::string_view after) {
  const std::size_t at = text.find(before);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + before.size());
  return text.substr(0, std::min(text.find(after), text.size()));
}

// True if the line has the form of error_text().
bool is_error(std::string_view line) {
  return line.starts_with('[') && line.find(": expected ") != std::string_view::npos;
}

int number_of(std::string_view text) {
  int number = -1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

std::string MpirunWords::pass(std::string_view bytes) {
  std::string passed;
  for (const char c : bytes) {
    begun_ += c;
    if (c == '\n') passed += take_line(std::exchange(begun_, {}));
  }
  return passed;
}

std::string MpirunWords::rest() { return std::exchange(paragraph_, {}) + std::exchange(begun_, {}); }

bool MpirunWords::take_tagged(std::string_view said) {
  if (take_report(said)) return false;
  note_error(said);
  return true;
}

bool MpirunWords::take_report(std::string_view line) {
  if (line == std::string(kAllListen) + '\n') {
    all_listen_ = true;
    return true;
  }
  if (!line.starts_with(kFirstFailure)) return false;
  if (!failure_) failure_ = number_of(line.substr(kFirstFailure.size()));
  return true;
}

std::string MpirunWords::take_line(std::string line) {
  if (const std::size_t tag = is_tagged_ ? tag_size(line) : 0; tag > 0) {
    return take_tagged(std::string_view(line).substr(tag)) ? line : std::string();
  }
  if (paragraph_.empty() && is_after_words(line)) return {};
  if (paragraph_.empty() && take_report(line)) return {};
  if (paragraph_.empty() && line.starts_with("mpirun: Forwarding signal ")) return {};
  if (paragraph_.empty()) note_error(line);
  if (paragraph_.empty() && is_said_again(line)) return {};
  if (paragraph_.empty() && is_about_killed(line)) return std::exchange(has_told_, true) ? std::string() : line;
  if (paragraph_.empty() && (line.starts_with("[mpiexec@") || line.starts_with("[proxy:"))) {
    complaints_ += line;
    return {};
  }
  if (paragraph_.empty() && !is_rule(line)) return line;
  const bool is_end = !paragraph_.empty() && is_rule(line) && line[0] == paragraph_[0];
  paragraph_ += line;
  constexpr std::size_t kMost = 1U << 14U;  // mpirun's messages are not longer
  if (paragraph_.size() > kMost) return std::exchange(paragraph_, {});
  return is_end ? take_paragraph(std::exchange(paragraph_, {})) : std::string();
}

void MpirunWords::note_error(std::string_view line) {
  if (first_error_.empty() && is_error(line)) first_error_ = line.substr(0, line.find('\n'));
}

bool MpirunWords::is_said_again(std::string_view line) {
  constexpr std::size_t kMost = 256;
  if (!is_error(line) || is_about_killed(line)) return false;
  if (errors_.contains(line)) return true;
  if (errors_.size() < kMost) errors_.emplace(line);
  return false;
}

// Matches the wording of MPICH 4.0 (hydra/mpiexec/mpiexec.c).
bool MpirunWords::is_after_words(std::string_view line) {
  if (after_words_ == 0) return false;
  --after_words_;
  for (const std::string_view known : {"YOUR APPLICATION TERMINATED WITH THE EXIT STRING: ",
                                       "This typically refers to a problem with your application.",
                                       "Please see the FAQ page for debugging suggestions"}) {
    if (line.starts_with(known)) return true;
  }
  return false;
}

// Matches the texts of orte/tools/orterun/help-orterun.txt in Open MPI 4.1.
std::string MpirunWords::take_paragraph(std::string text) {
  const std::string_view rank = between(text, "noticed that process rank ", " ");
  if (!rank.empty()) {
    const int signal = number_of(between(text, "exited on signal ", " "));
    if (!killed_ && signal > 0) {
      killed_ = {.rank = number_of(rank), .host = std::string(between(text, " on node ", " ")), .signal = signal};
    }
    return {};
  }
  if (text.find("\n=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES") != std::string::npos) {
    constexpr int kLines = 3;
    after_words_ = kLines;
    return {};
  }
  // Drops long messages about a daemon that did not start or cannot be reached, and sets has_no_process_.
  for (const std::string_view known : {"ORTE was unable to reliably start one or more daemons",
                                       "ORTE does not know how to route a message to the specified daemon"}) {
    if (text.find(known) == std::string::npos) continue;
    has_no_process_ = true;
    return {};
  }
  // mpirun found no program on a host. Its exit code is then above 128, like after a signal.
  if (text.find("while attempting to start process rank") != std::string::npos) has_no_process_ = true;
  for (const std::string_view known : {"a non-zero exit code", "exited with non-zero status", "exiting improperly"}) {
    if (text.find(known) != std::string::npos) return {};
  }
  return text;
}

}  // namespace roentgen::cli
