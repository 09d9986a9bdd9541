// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Result<T>: a value, or the reason for its absence in one line. For failures expected per item (a corrupt image);
// errors that stop the job are exceptions (error.h).
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "core/error.h"

namespace roentgen {

/// Reason why an operation failed: one line in the form of error_text().
struct Failure {
  std::string message;  ///< text of error_text()
};

/// Makes a Failure from the arguments of error_text().
[[nodiscard]] inline Failure failure(std::string_view thing, std::string_view what, std::string_view expected,
                                     std::string_view got, std::string_view remedy = {}) {
  return Failure{error_text(thing, what, expected, got, remedy)};
}

/// Holds a T or a Failure. Thread-compatible value type.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}    ///< success
  Result(Failure why) : state_(std::in_place_index<1>, std::move(why)) {}  ///< failure

  [[nodiscard]] bool ok() const { return state_.index() == 0; }  ///< true if it holds a value
  explicit operator bool() const { return ok(); }                ///< true if it holds a value

  /// Returns the value; asserts ok().
  [[nodiscard]] T& value() & {
    RG_ASSERT(ok());
    return std::get<0>(state_);
  }
  /// Returns the value; asserts ok().
  [[nodiscard]] const T& value() const& {
    RG_ASSERT(ok());
    return std::get<0>(state_);
  }
  /// Returns the value, which may be moved from; asserts ok().
  [[nodiscard]] T&& value() && {
    RG_ASSERT(ok());
    return std::get<0>(std::move(state_));
  }
  /// Returns the text of the failure; asserts !ok().
  [[nodiscard]] const std::string& error() const {
    RG_ASSERT(!ok());
    return std::get<1>(state_).message;
  }
  /// Returns the failure; asserts !ok().
  [[nodiscard]] const Failure& why() const {
    RG_ASSERT(!ok());
    return std::get<1>(state_);
  }

  /// Returns the value, or throws E with the text of the failure.
  template <typename E = DataError>
  [[nodiscard]] T or_throw() && {
    if (!ok()) throw E(error());
    return std::get<0>(std::move(state_));
  }

 private:
  std::variant<T, Failure> state_;
};

/// Value of a successful Status.
struct Done {};
using Status = Result<Done>;  ///< result of a function without a return value

}  // namespace roentgen
