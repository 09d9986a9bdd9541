// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/simd/batch_norm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/cpu/simd/batch_norm.cpp"
#include "engine/cpu/simd/targets.h"

#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "engine/cpu/simd/elements-inl.h"

HWY_BEFORE_NAMESPACE();
namespace roentgen::engine::cpu::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::int64_t kChainPixels = 64;

template <class D, class V>
HWY_INLINE void flush(D d, V sum, double* to) {
  alignas(64) float lanes[16];
  hn::Store(sum, d, lanes);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) to[i] += static_cast<double>(lanes[i]);
}

template <class D, class X>
HWY_INLINE void moments_lanes(D d, const X* HWY_RESTRICT x, std::int64_t pixels, std::int64_t step, const float* pivot,
                              double* sum, double* sum_sq) {
  const auto p = hn::LoadU(d, pivot);
  for (std::int64_t begin = 0; begin < pixels; begin += kChainPixels) {
    const std::int64_t end = begin + kChainPixels < pixels ? begin + kChainPixels : pixels;
    auto s0 = hn::Zero(d), s1 = hn::Zero(d), q0 = hn::Zero(d), q1 = hn::Zero(d);
    std::int64_t i = begin;
    for (; i + 1 < end; i += 2) {
      const auto a = hn::Sub(load(d, x + i * step), p);
      const auto b = hn::Sub(load(d, x + (i + 1) * step), p);
      s0 = hn::Add(s0, a);
      s1 = hn::Add(s1, b);
      q0 = hn::MulAdd(a, a, q0);
      q1 = hn::MulAdd(b, b, q1);
    }
    for (; i < end; ++i) {
      const auto a = hn::Sub(load(d, x + i * step), p);
      s0 = hn::Add(s0, a);
      q0 = hn::MulAdd(a, a, q0);
    }
    flush(d, hn::Add(s0, s1), sum);
    flush(d, hn::Add(q0, q1), sum_sq);
  }
}

// The operand that may be NaN is second: x86's max then returns it, so that NaN from broken weights is not hidden.
template <class D, class V>
HWY_INLINE V relu(D d, V v) {
  return hn::Max(hn::Zero(d), v);
}

template <bool kStream, class D, class X, class Y>
HWY_INLINE void scale_shift_lanes(D d, const ScaleShift<X, Y>& work, std::int64_t lane) {
  const auto scale = hn::LoadU(d, work.scale + lane);
  const auto shift = hn::LoadU(d, work.shift + lane);
  const std::int64_t step = work.block;
  const X* x = work.x + lane;
  Y* y = work.y + lane;
  if (work.residual != nullptr) {
    const Y* residual = work.residual + lane;
    for (std::int64_t i = 0; i < work.pixels; ++i) {
      auto v = hn::MulAdd(load(d, x + i * step), scale, shift);
      v = hn::Add(v, load(d, residual + i * step));
      if (work.relu) v = relu(d, v);
      store<kStream>(v, d, y + i * step);
    }
    return;
  }
  for (std::int64_t i = 0; i < work.pixels; ++i) {
    auto v = hn::MulAdd(load(d, x + i * step), scale, shift);
    if (work.relu) v = relu(d, v);
    store<kStream>(v, d, y + i * step);
  }
}

template <bool kStream, class D, class X, class Y>
HWY_INLINE void gradient_sums_lanes(D d, const GradientSums<X, Y>& work, std::int64_t lane) {
  const auto zero = hn::Zero(d);
  const auto mean = hn::LoadU(d, work.mean + lane);
  const auto scale = work.scale != nullptr ? hn::LoadU(d, work.scale + lane) : zero;
  const auto shift = work.shift != nullptr ? hn::LoadU(d, work.shift + lane) : zero;
  const auto factor = work.factor != nullptr ? hn::LoadU(d, work.factor + lane) : hn::Set(d, 1.0F);
  const std::int64_t step = work.block;
  const auto one = [&](std::int64_t i, auto& sum, auto& sum_x) HWY_ATTR {
    const std::int64_t at = i * step + lane;
    const auto x = load(d, work.x + at);
    auto g = load(d, work.dy + at);
    if (work.dy2 != nullptr) g = hn::Add(g, load(d, work.dy2 + at));
    if (work.mask == Mask::FromY) {
      g = hn::IfThenElseZero(hn::Gt(load(d, work.y + at), zero), g);
    } else if (work.mask == Mask::FromX || work.y_again != nullptr) {
      auto y = hn::MulAdd(x, scale, shift);
      if (work.residual != nullptr) y = hn::Add(y, load(d, work.residual + at));
      if (work.mask == Mask::FromX) {
        g = hn::IfThenElseZero(hn::Gt(y, zero), g);
        y = relu(d, y);
      }
      if (work.y_again != nullptr) store<kStream>(y, d, work.y_again + at);
    }
    sum = hn::Add(sum, g);
    sum_x = hn::MulAdd(g, hn::Sub(x, mean), sum_x);
    if (work.g != nullptr) {
      const auto scaled = hn::Mul(g, factor);
      store<false>(work.is_accumulating ? hn::Add(load(d, work.g + at), scaled) : scaled, d, work.g + at);
    }
  };
  for (std::int64_t begin = 0; begin < work.pixels; begin += kChainPixels) {
    const std::int64_t end = begin + kChainPixels < work.pixels ? begin + kChainPixels : work.pixels;
    auto s0 = zero, s1 = zero, q0 = zero, q1 = zero;
    std::int64_t i = begin;
    for (; i + 1 < end; i += 2) {
      one(i, s0, q0);
      one(i + 1, s1, q1);
    }
    for (; i < end; ++i) one(i, s0, q0);
    flush(d, hn::Add(s0, s1), work.sum + lane);
    flush(d, hn::Add(q0, q1), work.sum_x + lane);
  }
}

template <class D, class X, class Y>
HWY_INLINE void gradient_apply_lanes(D d, const GradientApply<X, Y>& work, std::int64_t lane) {
  const auto zero = hn::Zero(d);
  const auto scale = work.scale != nullptr ? hn::LoadU(d, work.scale + lane) : zero;
  const auto shift = work.shift != nullptr ? hn::LoadU(d, work.shift + lane) : zero;
  const auto by_g = hn::LoadU(d, work.by_g + lane);
  const auto by_x = hn::LoadU(d, work.by_x + lane);
  const auto constant = hn::LoadU(d, work.constant + lane);
  for (std::int64_t i = 0; i < work.pixels; ++i) {
    const std::int64_t at = i * work.block + lane;
    const auto x = load(d, work.x + at);
    auto g = load(d, work.g + at);
    if (work.mask == Mask::FromX || work.y_again != nullptr) {
      const auto y = hn::MulAdd(x, scale, shift);
      if (work.mask == Mask::FromX) g = hn::IfThenElseZero(hn::Gt(y, zero), g);
      if (work.y_again != nullptr) store<false>(work.relu ? relu(d, y) : y, d, work.y_again + at);
    }
    auto dx = hn::MulAdd(by_g, g, hn::MulAdd(by_x, x, constant));
    store<false>(dx, d, work.dx + at);
  }
}

template <class X>
HWY_INLINE void moments_of(const X* x, std::int64_t pixels, int block, const float* pivot, double* sum,
                           double* sum_sq) {
  for_lanes(block, [&](auto d, std::int64_t lane) HWY_ATTR {
    moments_lanes(d, x + lane, pixels, block, pivot + lane, sum + lane, sum_sq + lane);
  });
}
template <class X, class Y>
HWY_INLINE void scale_shift_of(const ScaleShift<X, Y>& work) {
  if (work.stream) {
    for_lanes(work.block, [&](auto d, std::int64_t lane) HWY_ATTR { scale_shift_lanes<true>(d, work, lane); });
    hwy::FlushStream();
  } else {
    for_lanes(work.block, [&](auto d, std::int64_t lane) HWY_ATTR { scale_shift_lanes<false>(d, work, lane); });
  }
}
template <class X, class Y>
HWY_INLINE void gradient_sums_of(const GradientSums<X, Y>& work) {
  if (work.stream) {
    for_lanes(work.block, [&](auto d, std::int64_t lane) HWY_ATTR { gradient_sums_lanes<true>(d, work, lane); });
    hwy::FlushStream();
  } else {
    for_lanes(work.block, [&](auto d, std::int64_t lane) HWY_ATTR { gradient_sums_lanes<false>(d, work, lane); });
  }
}
template <class X, class Y>
HWY_INLINE void gradient_apply_of(const GradientApply<X, Y>& work) {
  for_lanes(work.block, [&](auto d, std::int64_t lane) HWY_ATTR { gradient_apply_lanes(d, work, lane); });
}

// One function for each pair of types, because Highway's dispatch does not support templates.
void moments_f32(const float* x, std::int64_t pixels, int block, const float* pivot, double* sum, double* sum_sq) {
  moments_of(x, pixels, block, pivot, sum, sum_sq);
}
void moments_bf16(const Bf16* x, std::int64_t pixels, int block, const float* pivot, double* sum, double* sum_sq) {
  moments_of(x, pixels, block, pivot, sum, sum_sq);
}
#define RG_LOOPS(X, Y, suffix)                                                            \
  void scale_shift_##suffix(const ScaleShift<X, Y>& work) { scale_shift_of(work); }       \
  void gradient_sums_##suffix(const GradientSums<X, Y>& work) { gradient_sums_of(work); } \
  void gradient_apply_##suffix(const GradientApply<X, Y>& work) { gradient_apply_of(work); }
ROENTGEN_NORM_TYPES(RG_LOOPS)
#undef RG_LOOPS

}  // namespace roentgen::engine::cpu::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace roentgen::engine::cpu::simd {

HWY_EXPORT(moments_f32);
HWY_EXPORT(moments_bf16);

template <>
void moments(const float* x, std::int64_t pixels, int block, const float* pivot, double* sum, double* sum_sq) {
  HWY_DYNAMIC_DISPATCH(moments_f32)(x, pixels, block, pivot, sum, sum_sq);
}
template <>
void moments(const Bf16* x, std::int64_t pixels, int block, const float* pivot, double* sum, double* sum_sq) {
  HWY_DYNAMIC_DISPATCH(moments_bf16)(x, pixels, block, pivot, sum, sum_sq);
}

#define RG_DISPATCH(X, Y, suffix)                        \
  HWY_EXPORT(scale_shift_##suffix);                      \
  HWY_EXPORT(gradient_sums_##suffix);                    \
  HWY_EXPORT(gradient_apply_##suffix);                   \
  template <>                                            \
  void scale_shift(const ScaleShift<X, Y>& work) {       \
    HWY_DYNAMIC_DISPATCH(scale_shift_##suffix)(work);    \
  }                                                      \
  template <>                                            \
  void gradient_sums(const GradientSums<X, Y>& work) {   \
    HWY_DYNAMIC_DISPATCH(gradient_sums_##suffix)(work);  \
  }                                                      \
  template <>                                            \
  void gradient_apply(const GradientApply<X, Y>& work) { \
    HWY_DYNAMIC_DISPATCH(gradient_apply_##suffix)(work); \
  }
ROENTGEN_NORM_TYPES(RG_DISPATCH)
#undef RG_DISPATCH

}  // namespace roentgen::engine::cpu::simd
#endif
