// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Layout of a parameter in the arena, and conversion from and to plain row-major order.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace roentgen::engine {

/// Order of elements in which kernels read one parameter or state tensor. Immutable; thread-safe.
class ParameterLayout {
 public:
  virtual ~ParameterLayout() = default;
  /// Number of elements in the arena, padding included.
  [[nodiscard]] virtual std::int64_t elements() const = 0;
  /// Short name of the layout, included in the plan's hash.
  [[nodiscard]] virtual std::string name() const = 0;
  /// Converts plain row-major values to the kernel's order. Writes zeros into the padding.
  virtual void to_kernel(std::span<const float> plain, std::span<float> kernel) const = 0;
  /// Converts from the kernel's order to plain row-major values.
  virtual void to_plain(std::span<const float> kernel, std::span<float> plain) const = 0;
};

/// Layout of `count` values followed by zeros up to `padded` elements.
[[nodiscard]] std::unique_ptr<ParameterLayout> padded_vector(std::int64_t count, std::int64_t padded);

}  // namespace roentgen::engine
