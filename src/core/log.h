// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Logging to standard error. Results go to standard output, and only from cli. No patient identifier is ever logged.
#pragma once

#include <string_view>

namespace roentgen::log {

/// Severity of a message, lowest first.
enum class Level { Debug, Info, Warning, Error };

/// Ignores messages below `level` from now on. The default is Info. Thread-safe.
void set_level(Level level);
/// Writes one line to the log. Thread-safe. Callers format with fmt::format.
void write(Level level, std::string_view text);

inline void debug(std::string_view text) { write(Level::Debug, text); }      ///< writes a line of severity Debug
inline void info(std::string_view text) { write(Level::Info, text); }        ///< writes a line of severity Info
inline void warning(std::string_view text) { write(Level::Warning, text); }  ///< writes a line of severity Warning
inline void error(std::string_view text) { write(Level::Error, text); }      ///< writes a line of severity Error

}  // namespace roentgen::log
