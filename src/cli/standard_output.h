// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Standard output carries results: a write to it that fails is an error, never a shorter table.
#pragma once

#include <string>

namespace roentgen::cli {

/// Opens descriptors 0 to 2 where the caller has closed them, so that no file of ours takes their numbers. Writes to
/// them fail then, as they do without. To be called first in main().
void open_standard_streams();

/// Writes out what standard output still buffers. DataError when this or an earlier write to it has failed.
void flush_output();

/// True once a write to standard output has failed.
[[nodiscard]] bool is_output_lost();

/// One line for a lost output.
/// @param cause the system's reason
[[nodiscard]] std::string lost_output_text(const std::string& cause);

}  // namespace roentgen::cli
