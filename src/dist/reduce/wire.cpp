// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "dist/reduce/wire.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "core/error.h"

// The instruction sets between scalar code and AVX2 are not worth their compile time.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dist/reduce/wire.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace roentgen::dist {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Words = hn::Rebind<std::uint32_t, Floats>;
using Halves = hn::Rebind<std::uint16_t, Floats>;

HWY_INLINE hn::Vec<Floats> load(const float* src) { return hn::LoadU(Floats(), src); }
HWY_INLINE hn::Vec<Floats> load(const std::uint16_t* src) {
  return hn::BitCast(Floats(), hn::ShiftLeft<16>(hn::PromoteTo(Words(), hn::LoadU(Halves(), src))));
}

// Rounds to bf16: the upper half of each word has its bits, and the lower half is 0.
HWY_INLINE hn::Vec<Words> rounded(hn::Vec<Floats> value) {
  const Words u32;
  const auto bits = hn::BitCast(u32, value);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(u32, 1));
  const auto nearest = hn::Add(bits, hn::Add(odd, hn::Set(u32, 0x7FFF)));
  const auto quiet = hn::Or(bits, hn::Set(u32, 0x400000));
  const auto is_nan = hn::RebindMask(u32, hn::IsNaN(value));
  return hn::And(hn::IfThenElse(is_nan, quiet, nearest), hn::Set(u32, 0xFFFF0000U));
}

HWY_INLINE void store(hn::Vec<Floats> value, float* dst) { hn::StoreU(value, Floats(), dst); }
HWY_INLINE void store(hn::Vec<Floats> value, std::uint16_t* dst) {
  const hn::Rebind<std::int32_t, Floats> i32;
  hn::StoreU(hn::DemoteTo(Halves(), hn::BitCast(i32, hn::ShiftRight<16>(rounded(value)))), Halves(), dst);
}

// Computes dst[i] = step(src[i], dst[i]) for all `count` elements. The last partial vector goes through a buffer.
template <typename Src, typename Dst, typename Step>
HWY_INLINE void for_each(const Src* src, Dst* dst, std::size_t count, const Step& step) {
  const std::size_t lanes = hn::Lanes(Floats());
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) store(step(load(src + i), load(dst + i)), dst + i);
  if (i == count) return;
  Src from[hn::MaxLanes(Floats())] = {};
  Dst to[hn::MaxLanes(Floats())] = {};
  std::copy(src + i, src + count, from);
  std::copy(dst + i, dst + count, to);
  store(step(load(from), load(to)), to);
  std::copy(to, to + (count - i), dst + i);
}

void narrow(const float* src, std::uint16_t* dst, std::size_t count) {
  for_each(src, dst, count, [](auto value, auto /*old*/) HWY_ATTR { return value; });
}
void widen(const std::uint16_t* src, float* dst, std::size_t count) {
  for_each(src, dst, count, [](auto value, auto /*old*/) HWY_ATTR { return value; });
}
void add(const float* src, float* dst, std::size_t count) {
  for_each(src, dst, count, [](auto value, auto sum) HWY_ATTR { return hn::Add(sum, value); });
}
void add_wide(const std::uint16_t* src, float* dst, std::size_t count) {
  for_each(src, dst, count, [](auto value, auto sum) HWY_ATTR { return hn::Add(sum, value); });
}
void scale_all(float factor, float* dst, std::size_t count) {
  const auto factors = hn::Set(Floats(), factor);
  for_each(dst, dst, count, [&](auto value, auto /*old*/) HWY_ATTR { return hn::Mul(value, factors); });
}
void round_all(float* dst, std::size_t count) {
  for_each(dst, dst, count, [](auto value, auto /*old*/) HWY_ATTR { return hn::BitCast(Floats(), rounded(value)); });
}

}  // namespace HWY_NAMESPACE
}  // namespace roentgen::dist
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace roentgen::dist {

HWY_EXPORT(narrow);
HWY_EXPORT(widen);
HWY_EXPORT(add);
HWY_EXPORT(add_wide);
HWY_EXPORT(scale_all);
HWY_EXPORT(round_all);

namespace {

// Number of elements in a block that fits into the L1 cache.
constexpr std::size_t kBlock = 2048;

enum class How : std::uint8_t { Set, Add };

void take(How how, const float* src, std::span<float> block) {
  if (how == How::Set) {
    std::copy(src, src + block.size(), block.begin());
  } else {
    HWY_DYNAMIC_DISPATCH(add)(src, block.data(), block.size());
  }
}

void take(How how, const std::uint16_t* src, std::span<float> block) {
  if (how == How::Set) {
    HWY_DYNAMIC_DISPATCH(widen)(src, block.data(), block.size());
  } else {
    HWY_DYNAMIC_DISPATCH(add_wide)(src, block.data(), block.size());
  }
}

void sum_block(const WireSum& sum, const float* own, std::size_t begin, std::span<float> block) {
  for (std::size_t i = 0; i <= sum.sources.size(); ++i) {
    const How how = i == 0 ? How::Set : How::Add;
    if (i == sum.own_at) {
      take(how, own + begin, block);
      continue;
    }
    const std::byte* src = sum.sources[i < sum.own_at ? i : i - 1];
    if (sum.wire == Wire::F32) {
      take(how, reinterpret_cast<const float*>(src) + begin, block);
    } else {
      take(how, reinterpret_cast<const std::uint16_t*>(src) + begin, block);
    }
  }
}

}  // namespace

Wire parse_wire(std::string_view name) {
  if (name == "f32") return Wire::F32;
  if (name == "bf16") return Wire::Bf16;
  throw ConfigError(error_text("dist.reduce", "wire format", "f32, bf16", name, "one of these names"));
}

void to_bf16(std::span<const float> src, std::span<std::uint16_t> dst) {
  RG_ASSERT(src.size() == dst.size());
  HWY_DYNAMIC_DISPATCH(narrow)(src.data(), dst.data(), src.size());
}

void from_bf16(std::span<const std::uint16_t> src, std::span<float> dst) {
  RG_ASSERT(src.size() == dst.size());
  HWY_DYNAMIC_DISPATCH(widen)(src.data(), dst.data(), src.size());
}

void scale(std::span<float> values, float factor) {
  HWY_DYNAMIC_DISPATCH(scale_all)(factor, values.data(), values.size());
}

void sum_into(std::span<float> own, const WireSum& sum) {
  RG_ASSERT(sum.own_at <= sum.sources.size());
  std::array<float, kBlock> memory;
  for (std::size_t begin = 0; begin < own.size(); begin += kBlock) {
    const auto block = std::span(memory).first(std::min(kBlock, own.size() - begin));
    sum_block(sum, own.data(), begin, block);
    if (sum.mean_factor != 0.0F) {
      scale(block, sum.mean_factor);
      if (sum.wire == Wire::Bf16) HWY_DYNAMIC_DISPATCH(round_all)(block.data(), block.size());
    }
    std::copy(block.begin(), block.end(), own.begin() + static_cast<std::ptrdiff_t>(begin));
  }
}

}  // namespace roentgen::dist
#endif
