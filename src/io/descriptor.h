// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Owner of a file descriptor, and error messages of the system.
#pragma once

#include <string>
#include <utility>

namespace roentgen::io {

/// Closes its file descriptor when destroyed. Move-only; one thread.
class Descriptor {
 public:
  /// @param value result of open(2); negative: no descriptor
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}  ///< takes over the descriptor
  /// Takes over the descriptor of `other`, which will then close the previous descriptor of this object.
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Descriptor();
  /// File descriptor; negative: none.
  [[nodiscard]] int get() const { return value_; }
  /// Releases the descriptor; the caller must close it.
  [[nodiscard]] int release() { return std::exchange(value_, -1); }

 private:
  int value_;
};

/// Message for an errno value, such as "Permission denied".
[[nodiscard]] std::string system_message(int code);

}  // namespace roentgen::io
