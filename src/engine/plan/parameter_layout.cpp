// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/plan/parameter_layout.h"

#include <algorithm>

#include "core/error.h"

namespace roentgen::engine {
namespace {
class PaddedVector final : public ParameterLayout {
 public:
  PaddedVector(std::int64_t count, std::int64_t padded) : count_(count), padded_(padded) {}
  [[nodiscard]] std::int64_t elements() const override { return padded_; }
  [[nodiscard]] std::string name() const override { return "x" + std::to_string(padded_); }
  void to_kernel(std::span<const float> plain, std::span<float> kernel) const override {
    RG_ASSERT(static_cast<std::int64_t>(plain.size()) == count_ && static_cast<std::int64_t>(kernel.size()) == padded_);
    std::ranges::fill(std::ranges::copy(plain, kernel.begin()).out, kernel.end(), 0.0F);
  }
  void to_plain(std::span<const float> kernel, std::span<float> plain) const override {
    RG_ASSERT(static_cast<std::int64_t>(plain.size()) == count_ && static_cast<std::int64_t>(kernel.size()) == padded_);
    std::ranges::copy(kernel.first(static_cast<std::size_t>(count_)), plain.begin());
  }

 private:
  std::int64_t count_;
  std::int64_t padded_;
};
}  // namespace

std::unique_ptr<ParameterLayout> padded_vector(std::int64_t count, std::int64_t padded) {
  return std::make_unique<PaddedVector>(count, padded);
}

}  // namespace roentgen::engine
