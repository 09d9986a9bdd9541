// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Owner of a file descriptor, and the system's words for an error number.
#pragma once

#include <string>
#include <utility>

namespace roentgen::io {

/// Closes its file descriptor when destroyed. Move-only; one thread.
class Descriptor {
 public:
  /// @param value result of open(2); negative: none
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}  ///< takes it over
  /// Takes over a descriptor; `other` closes the one that this object held.
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Descriptor();
  /// The descriptor; negative: none.
  [[nodiscard]] int get() const { return value_; }
  /// Releases the descriptor; the caller must close it.
  [[nodiscard]] int release() { return std::exchange(value_, -1); }

 private:
  int value_;
};

/// Text of an errno: "Permission denied".
[[nodiscard]] std::string system_message(int code);

}  // namespace roentgen::io
