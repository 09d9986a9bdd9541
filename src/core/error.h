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

/// Base class of all exceptions of Roentgen. `what()` is one line by error_text(): "[thing] what: expected X, got Y;
/// try Z".
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message) {}  ///< takes a text of error_text()
};

/// Error in an option, recipe, graph text or checkpoint, which the user can correct.
class ConfigError : public Error {
 public:
  using Error::Error;  ///< takes the text of error_text()
};
/// Error in the input data, or missing data.
class DataError : public Error {
 public:
  using Error::Error;  ///< takes the text of error_text()
};
/// Tensor shapes that do not fit together.
class ShapeError : public Error {
 public:
  using Error::Error;  ///< takes the text of error_text()
};
/// Failure of a device or its library.
class DeviceError : public Error {
 public:
  using Error::Error;  ///< takes the text of error_text()
};
/// Failure of a rank, a link or a collective.
class CommError : public Error {
 public:
  using Error::Error;  ///< takes the text of error_text()
};

/// Builds the one-line text of an error: "[thing] what: expected X, got Y; try Z".
/// @param thing    source directory and topic, without brackets: "data.png"
/// @param what     file, op or option that caused the error
/// @param expected condition that was not met
/// @param got      value that was found instead
/// @param remedy   advice for the user; omitted if empty
[[nodiscard]] std::string error_text(std::string_view thing, std::string_view what, std::string_view expected,
                                     std::string_view got, std::string_view remedy = {});

/// Throws std::logic_error naming the source location. Use it for bugs of the program, never for invalid input.
[[noreturn]] void assertion_failed(const char* condition, std::source_location where = std::source_location::current());

}  // namespace roentgen

/// Checks an invariant of the program, also in release builds. Never use it for user input.
#define RG_ASSERT(condition) ((condition) ? void(0) : ::roentgen::assertion_failed(#condition))
