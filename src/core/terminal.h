// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The only way to standard output and, together with log.h, to standard error. Printed text may come from files, so no
// control character of it reaches the terminal. Results go to standard output, and only from cli.
#pragma once

#include <string_view>

namespace roentgen::terminal {

/// Prints lines to standard output. Keeps line ends and escapes all other control characters by terminal_text(). Escape
/// names that may contain line ends yourself before you put them into lines. Throws std::system_error if writing fails.
void print(std::string_view lines);
/// Prints lines with columns that tabs separate. Like print(), but keeps tabs, also on a terminal: mpirun connects the
/// output of ranks to one.
void print_tabbed(std::string_view lines);
/// Prints text that programs read, such as a path for a shell. Prints it unchanged, but like print() if the output is a
/// terminal. Throws as print() does.
void print_for_programs(std::string_view text);
/// Prints one line to standard error and removes the progress line, if any. Ignores write errors. Thread-safe.
void print_error(std::string_view line);
/// True if standard error is a terminal, where progress can be shown in a single line.
[[nodiscard]] bool has_progress();
/// Shows progress on standard error, in place of the previous progress line. Ignores write errors. Thread-safe.
void show_progress(std::string_view line);
/// Removes the progress line, if any. Thread-safe.
void clear_progress();

}  // namespace roentgen::terminal
