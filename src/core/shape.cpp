// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "core/shape.h"

#include <array>

namespace roentgen {
namespace {
struct DTypeInfo {
  std::string_view name;
  std::size_t bytes;
};
constexpr std::array<DTypeInfo, 8> kDTypes{
    {{"f32", 4}, {"bf16", 2}, {"f16", 2}, {"f64", 8}, {"i64", 8}, {"i32", 4}, {"u16", 2}, {"u8", 1}}};
}  // namespace

std::size_t size_of(DType dtype) { return kDTypes.at(static_cast<std::size_t>(dtype)).bytes; }
std::string_view name_of(DType dtype) { return kDTypes.at(static_cast<std::size_t>(dtype)).name; }

std::int64_t Shape::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t dim : dims_) count *= dim;
  return count;
}

std::string Shape::text() const {
  std::string text = "(";
  for (std::size_t i = 0; i < dims_.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(dims_[i]);
  }
  return text + ")";
}

}  // namespace roentgen
