// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "core/terminal.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>

#include "core/foreign_text.h"
#include "core/muted_thread.h"

namespace roentgen::terminal {
namespace {

// Escape sequence that moves to the start of the line and clears it.
constexpr std::string_view kClear = "\r\x1b[K";

std::atomic<bool>& is_line_shown() {
  static std::atomic<bool> is_shown = false;
  return is_shown;
}

// Writes to standard error; failures are ignored.
void put_error(std::string_view text) {
  if (MutedThread::is_muted()) return;
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
  std::fflush(stderr);
}

void put(std::string_view text) {
  if (MutedThread::is_muted()) return;
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size()) return;
  throw std::system_error(errno, std::generic_category(), "standard output");
}

// Escapes all control characters except those in `kept`.
std::string with_kept(std::string_view lines, std::string_view kept) {
  std::string text;
  text.reserve(lines.size());
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find_first_of(kept), lines.size());
    text += terminal_text(lines.substr(0, end));
    if (end < lines.size()) text += lines[end];
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return text;
}

}  // namespace

void print(std::string_view lines) { put(with_kept(lines, "\n")); }

void print_tabbed(std::string_view lines) { put(with_kept(lines, "\n\t")); }

void print_for_programs(std::string_view text) { ::isatty(STDOUT_FILENO) != 0 ? print(text) : put(text); }

void print_error(std::string_view line) {
  put_error(std::string(is_line_shown().exchange(false) ? kClear : "") + terminal_text(line) + "\n");
}

bool has_progress() { return ::isatty(STDERR_FILENO) != 0; }

void show_progress(std::string_view line) {
  is_line_shown() = true;
  put_error(std::string(kClear) + terminal_text(line));
}

void clear_progress() {
  if (is_line_shown().exchange(false)) put_error(kClear);
}

}  // namespace roentgen::terminal
