// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Creates tensors of random numbers for tests of kernels.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/random.h"
#include "engine/cpu/plan/bf16.h"
#include "engine/plan/kernel.h"
#include "runtime/aligned_buffer.h"

namespace roentgen::engine::cpu {

/// Tensors, numbered in the order in which they are added. Each is stored in its type and aligned as in a plan.
class DrawnTensors {
 public:
  void draw(std::int64_t count, std::uint64_t seed, DType dtype) {
    Random random(seed, RandomStage::Test);
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) value = static_cast<float>(random.normal());
    add(values, dtype);
  }
  /// Adds a tensor of NaN, so that tests notice elements that are never written.
  void fill(std::int64_t count, DType dtype) {
    add(std::vector<float>(static_cast<std::size_t>(count), std::nanf("")), dtype);
  }
  void add(const std::vector<float>& values, DType dtype) {
    const bool is_narrow = dtype == DType::Bf16;
    is_narrow_.push_back(is_narrow);
    bytes_.push_back(values.size() * (is_narrow ? sizeof(Bf16) : sizeof(float)));
    memory_.emplace_back(bytes_.back());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Bf16 narrow = to_bf16(values[i]);
      if (is_narrow) {
        std::memcpy(memory_.back().data() + i * sizeof narrow, &narrow, sizeof narrow);
      } else {
        std::memcpy(memory_.back().data() + i * sizeof(float), &values[i], sizeof(float));
      }
    }
  }
  /// Sets all bits of a tensor to one, which is NaN in every type.
  void forget(std::size_t tensor) { std::ranges::fill(memory_[tensor].bytes(), std::byte{0xff}); }
  [[nodiscard]] std::vector<std::byte> bits(std::size_t tensor) const {
    return {memory_[tensor].data(), memory_[tensor].data() + bytes_[tensor]};
  }
  [[nodiscard]] std::vector<float> floats(std::size_t tensor) const {
    const std::vector<std::byte> from = bits(tensor);
    std::vector<float> values(from.size() / (is_narrow_[tensor] ? sizeof(Bf16) : sizeof(float)));
    for (std::size_t i = 0; i < values.size(); ++i) {
      Bf16 narrow{};
      if (is_narrow_[tensor]) {
        std::memcpy(&narrow, from.data() + i * sizeof narrow, sizeof narrow);
        values[i] = to_f32(narrow);
      } else {
        std::memcpy(&values[i], from.data() + i * sizeof(float), sizeof(float));
      }
    }
    return values;
  }
  /// Runs a kernel. The tensor `scratch` has `scratch_bytes` bytes of memory, initially NaN.
  void run(Kernel& kernel, std::size_t scratch, std::size_t scratch_bytes) {
    const runtime::AlignedBuffer buffer(scratch_bytes);
    if (scratch_bytes > 0) std::memset(buffer.data(), 0xff, buffer.size());
    std::vector<std::byte*> addresses;
    for (const runtime::AlignedBuffer& each : memory_) addresses.push_back(each.data());
    addresses[scratch] = buffer.data();
    kernel.bind(Addresses(addresses, is_narrow_));
    kernel.run();
  }

 private:
  std::vector<runtime::AlignedBuffer> memory_;
  std::vector<std::size_t> bytes_;
  std::vector<bool> is_narrow_;
};

}  // namespace roentgen::engine::cpu
