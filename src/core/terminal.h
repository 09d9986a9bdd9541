// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The only way to standard output and, together with log.h, to standard error. Printed text may come from files, so no
// control character of it reaches the terminal. Results go to standard output, and only from cli.
#pragma once

#include <string_view>

namespace roentgen::terminal {

/// Prints lines of a result to standard output. Line ends stay; terminal_text() replaces all other control characters.
/// Pass names that may hold line ends through terminal_text() before you put them into lines. Throws std::system_error
/// when the output cannot be written.
void print(std::string_view lines);
/// Prints text that programs read, such as a path for a shell: unchanged, or as print() where a person reads it on a
/// terminal. Throws as print().
void print_for_programs(std::string_view text);
/// Prints one line to standard error, in the place of a line of progress. What cannot be written is dropped.
/// Thread-safe.
void print_error(std::string_view line);
/// Whether standard error is a terminal, on which a line of progress may replace the last one.
[[nodiscard]] bool has_progress();
/// Puts one line of progress in the place of the last one, on standard error. What cannot be written is dropped.
/// Thread-safe.
void show_progress(std::string_view line);
/// Removes the line of progress, if one is shown. Thread-safe.
void clear_progress();

}  // namespace roentgen::terminal
