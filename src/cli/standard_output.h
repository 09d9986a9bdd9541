// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Checks standard output, which carries results: a failed write is an error, so that no result is silently incomplete.
#pragma once

#include <string>

namespace roentgen::cli {

/// Opens file descriptors 0 to 2 if the caller has closed them, so that no other file gets their numbers. Writes to
/// these descriptors still fail. Call it first in main().
void open_standard_streams();

/// Flushes standard output. Throws DataError if this or an earlier write to it has failed.
void flush_output();

/// True once a write to standard output has failed.
[[nodiscard]] bool is_output_lost();

/// Returns one line that says that standard output could not be written.
/// @param cause the system's reason
[[nodiscard]] std::string lost_output_text(const std::string& cause);

}  // namespace roentgen::cli
