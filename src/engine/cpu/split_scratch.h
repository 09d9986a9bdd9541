// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Cuts one piece of scratch memory into parts. Internal to split_conv*.cpp and pointwise_*.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace roentgen::engine::cpu {

/// Bytes of each part-of-a-panel that stays in the second-level cache beside what streams through.
constexpr std::int64_t kSplitPanel_bytes = std::int64_t{768} << 10;
/// Parts one after another, each at a multiple of 64 bytes.
class ScratchParts {
 public:
  /// Where the next part of `bytes` begins.
  std::int64_t add(std::int64_t bytes) {
    const std::int64_t begin = bytes_;
    bytes_ += round_up(bytes, 64);
    return begin;
  }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

  [[nodiscard]] static constexpr std::int64_t round_up(std::int64_t value, std::int64_t unit) {
    return (value + unit - 1) / unit * unit;
  }

 private:
  std::int64_t bytes_ = 0;
};

[[nodiscard]] constexpr std::int64_t pieces_of(std::int64_t count, std::int64_t each) {
  return (count + each - 1) / each;
}

}  // namespace roentgen::engine::cpu
