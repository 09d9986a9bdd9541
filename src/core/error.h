// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The exceptions that stop a job, and the text every one of them carries. Per-item failures are Result<T> (result.h).
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

namespace roentgen {

/// Base of every exception Roentgen throws. `what()` is one line: "[room.thing] what: expected X, got Y; try Z".
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message) {}  ///< carries a text of error_text()
};

/// Bad option, recipe, graph text or checkpoint: the user can correct it.
class ConfigError : public Error {
 public:
  using Error::Error;  ///< takes the text of error_text()
};
/// Bad or missing input data.
class DataError : public Error {
 public:
  using Error::Error;  ///< takes the text of error_text()
};
/// Shapes that do not fit together.
class ShapeError : public Error {
 public:
  using Error::Error;  ///< takes the text of error_text()
};
/// A device or its library failed.
class DeviceError : public Error {
 public:
  using Error::Error;  ///< takes the text of error_text()
};
/// A rank, link or collective failed.
class CommError : public Error {
 public:
  using Error::Error;  ///< takes the text of error_text()
};

/// Builds the one-line text of an error: "[thing] what: expected X, got Y; try Z".
/// @param thing    room and thing, without brackets: "data.png"
/// @param what     the file, op or option concerned
/// @param expected what was needed
/// @param got      what was found
/// @param remedy   what to try; left out when empty
[[nodiscard]] std::string error_text(std::string_view thing, std::string_view what, std::string_view expected,
                                     std::string_view got, std::string_view remedy = {});

/// Throws std::logic_error naming the place: for our own bugs only, never for input.
[[noreturn]] void assertion_failed(const char* condition, std::source_location where = std::source_location::current());

}  // namespace roentgen

/// Checks an invariant of our own code, in release builds as well. Never for user input.
#define RG_ASSERT(condition) ((condition) ? void(0) : ::roentgen::assertion_failed(#condition))
