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

// A float32, as it travels.
struct PlainWire {
  using Element = float;
  static HWY_INLINE hn::Vec<Floats> load(const float* src) { return hn::LoadU(Floats(), src); }
  static HWY_INLINE void store(hn::Vec<Floats> value, float* dst) { hn::StoreU(value, Floats(), dst); }
};

// The 16 bits at the lower end of each word.
HWY_INLINE void store_halves(hn::Vec<Words> bits, std::uint16_t* dst) {
  const hn::Rebind<std::int32_t, Floats> i32;
  hn::StoreU(hn::DemoteTo(Halves(), hn::BitCast(i32, bits)), Halves(), dst);
}

struct Bf16Wire {
  using Element = std::uint16_t;
  static HWY_INLINE hn::Vec<Floats> load(const std::uint16_t* src) {
    return hn::BitCast(Floats(), hn::ShiftLeft<16>(hn::PromoteTo(Words(), hn::LoadU(Halves(), src))));
  }
  static HWY_INLINE void store(hn::Vec<Floats> value, std::uint16_t* dst) {
    const Words u32;
    const auto bits = hn::BitCast(u32, value);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(u32, 1));
    const auto nearest = hn::Add(bits, hn::Add(odd, hn::Set(u32, 0x7FFF)));
    const auto quiet = hn::Or(bits, hn::Set(u32, 0x400000));
    const auto is_nan = hn::RebindMask(u32, hn::IsNaN(value));
    store_halves(hn::ShiftRight<16>(hn::IfThenElse(is_nan, quiet, nearest)), dst);
  }
};

// Conversions by integers, so that all instruction sets give the same bits.
struct F16Wire {
  using Element = std::uint16_t;
  static constexpr std::uint32_t kSign = 0x80000000U;
  static constexpr std::uint32_t kInfinity = 0x7F800000U;
  static constexpr std::uint32_t kRebias = (127U - 15U) << 23U;  // difference of the exponents' biases

  static HWY_INLINE hn::Vec<Floats> load(const std::uint16_t* src) {
    const Words u32;
    const auto half = hn::PromoteTo(u32, hn::LoadU(Halves(), src));
    const auto shifted = hn::ShiftLeft<13>(hn::And(half, hn::Set(u32, 0x7FFF)));
    const auto normal = hn::Add(shifted, hn::Set(u32, kRebias));
    // A subnormal is its digits times 2^-24: as digits of 2^-14, less 2^-14.
    const auto small = hn::BitCast(
        u32, hn::Sub(hn::BitCast(Floats(), hn::Add(normal, hn::Set(u32, 1U << 23U))), hn::Set(Floats(), 0x1p-14F)));
    const auto special = hn::Or(shifted, hn::Set(u32, kInfinity));
    const auto is_small = hn::Lt(shifted, hn::Set(u32, 0x0400U << 13U));
    const auto is_special = hn::Gt(shifted, hn::Set(u32, (0x7C00U << 13U) - 1U));
    const auto size = hn::IfThenElse(is_special, special, hn::IfThenElse(is_small, small, normal));
    const auto sign = hn::And(hn::ShiftLeft<16>(half), hn::Set(u32, kSign));
    return hn::BitCast(Floats(), hn::Or(size, sign));
  }
  static HWY_INLINE void store(hn::Vec<Floats> value, std::uint16_t* dst) {
    const Words u32;
    const auto bits = hn::BitCast(u32, value);
    const auto sign = hn::And(bits, hn::Set(u32, kSign));
    const auto size = hn::Xor(bits, sign);
    const auto odd = hn::And(hn::ShiftRight<13>(size), hn::Set(u32, 1));
    const auto rounded = hn::Add(hn::Sub(size, hn::Set(u32, kRebias)), hn::Add(odd, hn::Set(u32, 0x0FFF)));
    const auto normal = hn::ShiftRight<13>(rounded);
    // The last digit of 0.5 is 2^-24, as that of subnormals: the sum rounds to it.
    const auto half = hn::Set(Floats(), 0.5F);
    const auto small = hn::Sub(hn::BitCast(u32, hn::Add(hn::BitCast(Floats(), size), half)), hn::BitCast(u32, half));
    const auto is_small = hn::Lt(size, hn::BitCast(u32, hn::Set(Floats(), 0x1p-14F)));
    const auto is_large = hn::Gt(size, hn::Sub(hn::BitCast(u32, hn::Set(Floats(), 0x1p16F)), hn::Set(u32, 1)));
    const auto is_nan = hn::Gt(size, hn::Set(u32, kInfinity));
    const auto special = hn::IfThenElse(is_nan, hn::Set(u32, 0x7E00), hn::Set(u32, 0x7C00));
    const auto found = hn::IfThenElse(is_large, special, hn::IfThenElse(is_small, small, normal));
    store_halves(hn::Or(found, hn::ShiftRight<16>(sign)), dst);
  }
};

// Computes dst[i] = step(src[i], dst[i]) for all `count` elements. The last partial vector goes through a buffer.
template <typename Src, typename Dst, typename Step>
HWY_INLINE void for_each(const typename Src::Element* src, typename Dst::Element* dst, std::size_t count,
                         const Step& step) {
  const std::size_t lanes = hn::Lanes(Floats());
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) Dst::store(step(Src::load(src + i), Dst::load(dst + i)), dst + i);
  if (i == count) return;
  typename Src::Element from[hn::MaxLanes(Floats())] = {};
  typename Dst::Element to[hn::MaxLanes(Floats())] = {};
  std::copy(src + i, src + count, from);
  std::copy(dst + i, dst + count, to);
  Dst::store(step(Src::load(from), Dst::load(to)), to);
  std::copy(to, to + (count - i), dst + i);
}

void narrow(Wire wire, const float* src, std::uint16_t* dst, std::size_t count) {
  const auto take = [](auto value, auto /*old*/) HWY_ATTR { return value; };
  if (wire == Wire::Bf16) return for_each<PlainWire, Bf16Wire>(src, dst, count, take);
  for_each<PlainWire, F16Wire>(src, dst, count, take);
}
void widen(Wire wire, const std::uint16_t* src, float* dst, std::size_t count) {
  const auto take = [](auto value, auto /*old*/) HWY_ATTR { return value; };
  if (wire == Wire::Bf16) return for_each<Bf16Wire, PlainWire>(src, dst, count, take);
  for_each<F16Wire, PlainWire>(src, dst, count, take);
}
void add(const float* src, float* dst, std::size_t count) {
  for_each<PlainWire, PlainWire>(src, dst, count, [](auto value, auto sum) HWY_ATTR { return hn::Add(sum, value); });
}
void add_wide(Wire wire, const std::uint16_t* src, float* dst, std::size_t count) {
  const auto add_one = [](auto value, auto sum) HWY_ATTR { return hn::Add(sum, value); };
  if (wire == Wire::Bf16) return for_each<Bf16Wire, PlainWire>(src, dst, count, add_one);
  for_each<F16Wire, PlainWire>(src, dst, count, add_one);
}
void scale_all(float factor, float* dst, std::size_t count) {
  const auto factors = hn::Set(Floats(), factor);
  for_each<PlainWire, PlainWire>(dst, dst, count,
                                 [&](auto value, auto /*old*/) HWY_ATTR { return hn::Mul(value, factors); });
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

namespace {

// Number of elements in a block that fits into the L1 cache.
constexpr std::size_t kBlock = 2048;

enum class How : std::uint8_t { Set, Add };

void take(How how, Wire /*wire*/, const float* src, std::span<float> block) {
  if (how == How::Set) {
    std::copy(src, src + block.size(), block.begin());
  } else {
    HWY_DYNAMIC_DISPATCH(add)(src, block.data(), block.size());
  }
}

void take(How how, Wire wire, const std::uint16_t* src, std::span<float> block) {
  if (how == How::Set) {
    from_wire(wire, {src, block.size()}, block);
  } else {
    HWY_DYNAMIC_DISPATCH(add_wide)(wire, src, block.data(), block.size());
  }
}

void sum_block(const WireSum& sum, const float* own, std::size_t begin, std::span<float> block) {
  for (std::size_t i = 0; i <= sum.sources.size(); ++i) {
    const How how = i == 0 ? How::Set : How::Add;
    if (i == sum.own_at) {
      take(how, sum.wire, own + begin, block);
      continue;
    }
    const std::byte* src = sum.sources[i < sum.own_at ? i : i - 1];
    if (sum.wire == Wire::F32) {
      take(how, sum.wire, reinterpret_cast<const float*>(src) + begin, block);
    } else {
      take(how, sum.wire, reinterpret_cast<const std::uint16_t*>(src) + begin, block);
    }
  }
}

}  // namespace

Wire parse_wire(std::string_view name) {
  const auto found = std::ranges::find(kWireNames, name);
  if (found != kWireNames.end()) return static_cast<Wire>(found - kWireNames.begin());
  throw ConfigError(error_text("dist.reduce", "wire format", "f32, bf16, f16", name, "one of these names"));
}

void to_wire(Wire wire, std::span<const float> src, std::span<std::uint16_t> dst) {
  RG_ASSERT(src.size() == dst.size() && wire != Wire::F32);
  HWY_DYNAMIC_DISPATCH(narrow)(wire, src.data(), dst.data(), src.size());
}

void from_wire(Wire wire, std::span<const std::uint16_t> src, std::span<float> dst) {
  RG_ASSERT(src.size() == dst.size() && wire != Wire::F32);
  HWY_DYNAMIC_DISPATCH(widen)(wire, src.data(), dst.data(), src.size());
}

void scale(std::span<float> values, float factor) {
  HWY_DYNAMIC_DISPATCH(scale_all)(factor, values.data(), values.size());
}

void sum_into(std::span<float> own, const WireSum& sum) {
  RG_ASSERT(sum.own_at <= sum.sources.size());
  std::array<float, kBlock> memory;
  std::array<std::uint16_t, kBlock> rounded;
  for (std::size_t begin = 0; begin < own.size(); begin += kBlock) {
    const auto block = std::span(memory).first(std::min(kBlock, own.size() - begin));
    sum_block(sum, own.data(), begin, block);
    if (sum.mean_factor != 0.0F) {
      scale(block, sum.mean_factor);
      if (sum.wire != Wire::F32) {
        const auto halves = std::span(rounded).first(block.size());
        to_wire(sum.wire, block, halves);
        from_wire(sum.wire, halves, block);
      }
    }
    std::copy(block.begin(), block.end(), own.begin() + static_cast<std::ptrdiff_t>(begin));
  }
}

}  // namespace roentgen::dist
#endif
