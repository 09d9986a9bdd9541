// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "dist/reduce/wire.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "core/error.h"

namespace roentgen::dist {
namespace {

// Numbers that are worked on while they are in the first cache.
constexpr std::size_t kBlock = 1024;
using Block = std::array<float, kBlock>;

// Loops have a constant count where they can, so that the compiler makes vectors of them without a remainder.
template <typename Step>
void for_each_index(std::size_t count, Step&& step) {
  if (count == kBlock) {
    for (std::size_t i = 0; i < kBlock; ++i) step(i);
  } else {
    for (std::size_t i = 0; i < count; ++i) step(i);
  }
}

inline std::uint16_t bf16_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U;
  const std::uint32_t quiet = (bits >> 16U) | 0x40U;
  return static_cast<std::uint16_t>((bits & 0x7FFFFFFFU) > 0x7F800000U ? quiet : rounded);
}

inline float float_of(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U); }

enum class How : std::uint8_t { Set, Add };

template <How how>
void take(const float* src, std::size_t count, float* __restrict sum) {
  for_each_index(count, [&](std::size_t i) { sum[i] = how == How::Set ? src[i] : sum[i] + src[i]; });
}

template <How how>
void take(const std::uint16_t* src, std::size_t count, float* __restrict sum) {
  for_each_index(count,
                 [&](std::size_t i) { sum[i] = how == How::Set ? float_of(src[i]) : sum[i] + float_of(src[i]); });
}

template <How how>
void take(Wire wire, const std::byte* src, std::size_t begin, std::size_t count, float* sum) {
  if (wire == Wire::F32) {
    take<how>(reinterpret_cast<const float*>(src) + begin, count, sum);
  } else {
    take<how>(reinterpret_cast<const std::uint16_t*>(src) + begin, count, sum);
  }
}

void sum_block(const WireSum& sum, const float* own, std::size_t begin, std::size_t count, float* block) {
  for (std::size_t i = 0; i <= sum.sources.size(); ++i) {
    const bool is_own = i == sum.own_at;
    const Wire wire = is_own ? Wire::F32 : sum.wire;
    const std::byte* src = is_own ? reinterpret_cast<const std::byte*>(own) : sum.sources[i < sum.own_at ? i : i - 1];
    if (i == 0) {
      take<How::Set>(wire, src, begin, count, block);
    } else {
      take<How::Add>(wire, src, begin, count, block);
    }
  }
}

void take_mean(Wire wire, float factor, std::size_t count, float* __restrict block) {
  for_each_index(count, [&](std::size_t i) { block[i] *= factor; });
  if (wire == Wire::F32) return;
  for_each_index(count, [&](std::size_t i) { block[i] = float_of(bf16_of(block[i])); });
}

}  // namespace

Wire parse_wire(std::string_view name) {
  if (name == "f32") return Wire::F32;
  if (name == "bf16") return Wire::Bf16;
  throw ConfigError(error_text("dist.reduce", "wire format", "f32, bf16", name));
}

void to_bf16(std::span<const float> src, std::span<std::uint16_t> dst) {
  RG_ASSERT(src.size() == dst.size());
  for (std::size_t begin = 0; begin < src.size(); begin += kBlock) {
    const float* from = src.data() + begin;
    std::uint16_t* __restrict to = dst.data() + begin;
    for_each_index(std::min(kBlock, src.size() - begin), [&](std::size_t i) { to[i] = bf16_of(from[i]); });
  }
}

void from_bf16(std::span<const std::uint16_t> src, std::span<float> dst) {
  RG_ASSERT(src.size() == dst.size());
  for (std::size_t begin = 0; begin < src.size(); begin += kBlock) {
    take<How::Set>(src.data() + begin, std::min(kBlock, src.size() - begin), dst.data() + begin);
  }
}

void sum_into(std::span<float> own, const WireSum& sum) {
  RG_ASSERT(sum.own_at <= sum.sources.size());
  Block block;
  for (std::size_t begin = 0; begin < own.size(); begin += kBlock) {
    const std::size_t count = std::min(kBlock, own.size() - begin);
    sum_block(sum, own.data(), begin, count, block.data());
    if (sum.mean_factor != 0.0F) take_mean(sum.wire, sum.mean_factor, count, block.data());
    std::memcpy(own.data() + begin, block.data(), count * sizeof(float));
  }
}

}  // namespace roentgen::dist
