// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Helpers for kernel tests on any device: values in a network's types, device memory filled with NaN, and errors
// relative to their bounds.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "core/random.h"
#include "core/shape.h"
#include "runtime/stream.h"

namespace roentgen::engine::cuda {

/// Rounds a value to `type` (F32, Bf16 or F16), ties to even.
[[nodiscard]] inline float rounded_to(DType type, float value) {
  if (type == DType::F16) return static_cast<float>(static_cast<_Float16>(value));
  if (type != DType::Bf16) return value;
  auto bits = std::bit_cast<std::uint32_t>(value);
  bits += 0x7FFFU + (bits >> 16 & 1U);
  return std::bit_cast<float>(bits & 0xFFFF0000U);
}
/// Largest relative error of rounding a normal number to the type.
[[nodiscard]] inline double half_ulp(DType type) {
  if (type == DType::F16) return 0x1p-11;
  return type == DType::Bf16 ? 0x1p-8 : 0x1p-24;
}

/// Bytes of values stored in `type`; decoded() is the inverse.
[[nodiscard]] inline std::vector<std::byte> encoded(DType type, const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() * size_of(type));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (type == DType::F32) {
      std::memcpy(bytes.data() + 4 * i, &values[i], 4);
    } else if (type == DType::F16) {
      const auto half = static_cast<_Float16>(values[i]);
      std::memcpy(bytes.data() + 2 * i, &half, 2);
    } else {
      const auto bits = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(rounded_to(type, values[i])) >> 16);
      std::memcpy(bytes.data() + 2 * i, &bits, 2);
    }
  }
  return bytes;
}
[[nodiscard]] inline std::vector<float> decoded(DType type, const std::vector<std::byte>& bytes) {
  std::vector<float> values(bytes.size() / size_of(type));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (type == DType::F32) {
      std::memcpy(&values[i], bytes.data() + 4 * i, 4);
    } else if (type == DType::F16) {
      _Float16 half = 0;
      std::memcpy(&half, bytes.data() + 2 * i, 2);
      values[i] = static_cast<float>(half);
    } else {
      std::uint16_t bits = 0;
      std::memcpy(&bits, bytes.data() + 2 * i, 2);
      values[i] = std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
    }
  }
  return values;
}

/// Random values with about this mean and standard deviation, rounded to the type. Equal on every machine.
[[nodiscard]] inline std::vector<float> random_values(DType type, std::size_t count, std::uint32_t seed,
                                                      float mean = 0.3F, float deviation = 1.0F) {
  Random random(seed, RandomStage::Test);
  std::vector<float> values(count);
  for (float& value : values) {
    // A sum of three uniform numbers has variance 1/4.
    const double sum = random.uniform() + random.uniform() + random.uniform() - 1.5;
    value = rounded_to(type, static_cast<float>(mean + 2.0 * deviation * sum));
  }
  return values;
}

/// Array in device memory.
template <typename T>
class DeviceArray {
 public:
  /// Fills every byte with 0xFF, which is NaN in each floating type: elements that a kernel does not write stay NaN.
  DeviceArray(runtime::Device& device, runtime::Stream& stream, std::size_t count)
      : DeviceArray(device, stream, std::vector<T>(count), true) {}
  DeviceArray(runtime::Device& device, runtime::Stream& stream, const std::vector<T>& values)
      : DeviceArray(device, stream, values, false) {}
  [[nodiscard]] T* get() const { return reinterpret_cast<T*>(buffer_->address()); }
  [[nodiscard]] std::vector<T> read() const {
    std::vector<T> values(count_);
    stream_->download(*buffer_, 0, std::as_writable_bytes(std::span(values)));
    stream_->synchronize();
    return values;
  }

 private:
  DeviceArray(runtime::Device& device, runtime::Stream& stream, std::vector<T> values, bool is_poisoned)
      : buffer_(device.make_device_buffer(std::max<std::size_t>(values.size() * sizeof(T), 1))),
        stream_(&stream),
        count_(values.size()) {
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(values));
    if (is_poisoned) std::ranges::fill(bytes, std::byte{0xFF});
    stream.upload(bytes, *buffer_, 0);
    stream.synchronize();
  }
  std::unique_ptr<runtime::DeviceBuffer> buffer_;
  runtime::Stream* stream_;
  std::size_t count_;
};

/// Largest error / bound of all comparisons so far, and where it occurred.
struct Worst {
  double share = 0.0;
  std::string where;                           ///< description of the comparison with the largest share
  std::uint64_t bits = 0xCBF29CE484222325ULL;  ///< hash of all results so far (FNV-1a over doubles); NaNs are equal

  void add(std::string_view what, std::size_t index, double got, double wanted, double bound) {
    bits = (bits ^ (got == got ? std::bit_cast<std::uint64_t>(got) : 1U)) * 0x100000001B3ULL;
    const double error = std::abs(got - wanted);
    const double here = error <= bound ? (bound > 0.0 ? error / bound : 0.0) : std::max(2.0, error / bound);
    if (here == here && here <= share) return;
    share = here == here ? here : 1e30;
    where = std::string(what) + "[" + std::to_string(index) + "]: " + std::to_string(got) + ", not " +
            std::to_string(wanted) + ", bound " + std::to_string(bound);
  }
};

}  // namespace roentgen::engine::cuda
