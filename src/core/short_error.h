// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Text of errors about options and files, which need no expected value. All other errors use error_text() (error.h).
#pragma once

#include <string>
#include <string_view>

namespace roentgen {

/// Builds the short one-line text of an error about an option or a file: "[thing] what: problem; remedy".
/// @param thing   source directory and topic, without brackets: "io.file"
/// @param what    file or command that caused the error
/// @param problem problem, such as "no such file"
/// @param remedy  advice for the user, such as "try roentgen train --help"; omitted if empty
[[nodiscard]] std::string short_error_text(std::string_view thing, std::string_view what, std::string_view problem,
                                           std::string_view remedy = {});

}  // namespace roentgen
