// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Shape and DType: the logical form of a tensor. The engine decides the layout in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace roentgen {

/// Element types. Their names in files and text are f32, bf16, f16, f64, i64, i32, u16, u8.
enum class DType : std::uint8_t { F32, Bf16, F16, F64, I64, I32, U16, U8 };

/// Number of bytes per element.
[[nodiscard]] std::size_t size_of(DType dtype);
/// Lower-case name, such as "f32".
[[nodiscard]] std::string_view name_of(DType dtype);

/// Dimensions of a tensor, outermost first: (N, C, H, W), (N, C) or (OC, IC, KH, KW). Value type.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> dims) : dims_(dims) {}            ///< sizes from outermost to innermost
  explicit Shape(std::vector<std::int64_t> dims) : dims_(std::move(dims)) {}  ///< sizes from outermost to innermost

  [[nodiscard]] int rank() const { return static_cast<int>(dims_.size()); }  ///< number of axes
  /// Size of an axis. Throws std::out_of_range.
  [[nodiscard]] std::int64_t operator[](int axis) const { return dims_.at(static_cast<std::size_t>(axis)); }
  /// Reference to the size of an axis. Throws std::out_of_range.
  [[nodiscard]] std::int64_t& operator[](int axis) { return dims_.at(static_cast<std::size_t>(axis)); }
  [[nodiscard]] const std::vector<std::int64_t>& dims() const { return dims_; }  ///< sizes of all axes
  /// Number of elements; 1 for a shape without axes.
  [[nodiscard]] std::int64_t elements() const;
  /// Text of the shape: "(16, 64, 56, 56)".
  [[nodiscard]] std::string text() const;
  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::vector<std::int64_t> dims_;
};

}  // namespace roentgen
