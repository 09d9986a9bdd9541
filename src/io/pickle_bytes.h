// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Sequential reader of a pickle's bytes. For pickle.cpp only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace roentgen::io {

/// Cursor over bytes. After a read beyond the end, is_cut() is true and all reads return zeros.
class PickleBytes {
 public:
  explicit PickleBytes(std::span<const std::byte> bytes)
      : text_(reinterpret_cast<const char*>(bytes.data()), bytes.size()) {}

  [[nodiscard]] bool is_cut() const { return is_cut_; }             ///< true after a read beyond the end
  [[nodiscard]] std::size_t position() const { return position_; }  ///< bytes read so far

  /// Returns the next `size` bytes.
  std::string_view take(std::uint64_t size) {
    is_cut_ = is_cut_ || size > text_.size() - position_;
    if (is_cut_) return {"\0", 1};
    position_ += size;
    return text_.substr(position_ - size, size);
  }

  /// Reads a little-endian number.
  template <typename Number>
  Number number() {
    Number number{};
    const std::string_view digits = take(sizeof number);
    if (!is_cut_) std::memcpy(&number, digits.data(), sizeof number);
    return number;
  }

  /// Reads the text up to the next line end, without the line end.
  std::string_view line() {
    const std::size_t end = text_.find('\n', position_);
    const std::string_view line = take(end == std::string_view::npos ? text_.size() + 1 : end - position_ + 1);
    return line.substr(0, line.size() - 1);
  }

 private:
  std::string_view text_;
  std::size_t position_ = 0;
  bool is_cut_ = false;
};

}  // namespace roentgen::io
