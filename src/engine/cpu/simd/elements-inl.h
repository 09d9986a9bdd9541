// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Loads and stores of f32 vectors in memory that holds f32 or bf16, and the loop over the lanes of a block. Kernel
// sources include it once for each target, which is why the include guard toggles, as in Highway.
#if defined(ROENTGEN_ENGINE_CPU_SIMD_ELEMENTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ROENTGEN_ENGINE_CPU_SIMD_ELEMENTS_INL_H_
#undef ROENTGEN_ENGINE_CPU_SIMD_ELEMENTS_INL_H_
#else
#define ROENTGEN_ENGINE_CPU_SIMD_ELEMENTS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "engine/cpu/plan/bf16.h"

HWY_BEFORE_NAMESPACE();
namespace roentgen::engine::cpu::simd::HWY_NAMESPACE {

/// Loads one number per lane of `d`, converted to f32.
template <class D>
HWY_INLINE auto load(D d, const float* from) {
  return hwy::HWY_NAMESPACE::LoadU(d, from);
}
template <class D>
HWY_INLINE auto load(D d, const Bf16* from) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::Rebind<std::uint16_t, D> d16;
  const hn::Rebind<std::uint32_t, D> d32;
  const auto bits = hn::LoadU(d16, reinterpret_cast<const std::uint16_t*>(from));
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(d32, bits)));
}

/// Stores the vector. If `kStream`, it bypasses the caches, which avoids reading the line first; `to` must then be
/// aligned to the vector.
template <bool kStream, class D, class V>
HWY_INLINE void store(V value, D d, float* to) {
  if constexpr (kStream) {
    hwy::HWY_NAMESPACE::Stream(value, d, to);
  } else {
    hwy::HWY_NAMESPACE::StoreU(value, d, to);
  }
}
/// Bits of the numbers rounded to bf16, as to_bf16() does.
template <class D, class V>
HWY_INLINE auto bf16_bits(V value, D /*d*/) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::Rebind<std::uint32_t, D> d32;
  const auto bits = hn::BitCast(d32, value);
  const auto upper = hn::ShiftRight<16>(bits);
  const auto odd = hn::And(upper, hn::Set(d32, 1U));
  const auto rounded = hn::ShiftRight<16>(hn::Add(hn::Add(bits, hn::Set(d32, 0x7fffU)), odd));
  const auto is_nan = hn::RebindMask(d32, hn::IsNaN(value));
  return hn::IfThenElse(is_nan, hn::Or(upper, hn::Set(d32, 0x40U)), rounded);
}
/// Stores the numbers rounded to bf16, as to_bf16() does.
template <bool kStream, class D, class V>
HWY_INLINE void store(V value, D d, Bf16* to) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::Rebind<std::int32_t, D> di32;
  const hn::Rebind<std::uint16_t, D> d16;
  const auto half = hn::DemoteTo(d16, hn::BitCast(di32, bf16_bits(value, d)));
  // Highway streams at least 16 bytes.
  if constexpr (kStream && hn::MaxLanes(d16) >= 8) {
    hn::Stream(half, d16, reinterpret_cast<std::uint16_t*>(to));
  } else {
    hn::StoreU(half, d16, reinterpret_cast<std::uint16_t*>(to));
  }
}

/// Returns the value that a load after the store would return: rounded if the memory holds bf16.
template <class D, class V>
HWY_INLINE V as_stored(V value, D /*d*/, const float* /*at*/) {
  return value;
}
template <class D, class V>
HWY_INLINE V as_stored(V value, D d, const Bf16* /*at*/) {
  namespace hn = hwy::HWY_NAMESPACE;
  return hn::BitCast(d, hn::ShiftLeft<16>(bf16_bits(value, d)));
}

/// Calls lanes(d, lane) for a block of 16, 8 or 4 numbers, with the widest vectors that fit into the block.
template <class F>
HWY_INLINE void for_lanes(int block, const F& lanes) {
  const auto over = [&](auto d) HWY_ATTR {
    for (std::int64_t lane = 0; lane < block; lane += static_cast<std::int64_t>(hwy::HWY_NAMESPACE::Lanes(d)))
      lanes(d, lane);
  };
  if (block == 16) {
    over(hwy::HWY_NAMESPACE::CappedTag<float, 16>());
  } else if (block == 8) {
    over(hwy::HWY_NAMESPACE::CappedTag<float, 8>());
  } else {
    over(hwy::HWY_NAMESPACE::CappedTag<float, 4>());
  }
}

}  // namespace roentgen::engine::cpu::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
