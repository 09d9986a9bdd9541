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

template <class D>
HWY_INLINE void moments_lanes(D d, const float* HWY_RESTRICT x, std::int64_t pixels, std::int64_t step,
                              const float* pivot, double* sum, double* sum_sq) {
  const auto p = hn::LoadU(d, pivot);
  for (std::int64_t begin = 0; begin < pixels; begin += kChainPixels) {
    const std::int64_t end = begin + kChainPixels < pixels ? begin + kChainPixels : pixels;
    auto s0 = hn::Zero(d), s1 = hn::Zero(d), q0 = hn::Zero(d), q1 = hn::Zero(d);
    std::int64_t i = begin;
    for (; i + 1 < end; i += 2) {
      const auto a = hn::Sub(hn::LoadU(d, x + i * step), p);
      const auto b = hn::Sub(hn::LoadU(d, x + (i + 1) * step), p);
      s0 = hn::Add(s0, a);
      s1 = hn::Add(s1, b);
      q0 = hn::MulAdd(a, a, q0);
      q1 = hn::MulAdd(b, b, q1);
    }
    for (; i < end; ++i) {
      const auto a = hn::Sub(hn::LoadU(d, x + i * step), p);
      s0 = hn::Add(s0, a);
      q0 = hn::MulAdd(a, a, q0);
    }
    flush(d, hn::Add(s0, s1), sum);
    flush(d, hn::Add(q0, q1), sum_sq);
  }
}

// The operand that may be NaN comes second: it is what x86's max gives back then, so that broken weights show.
template <class D, class V>
HWY_INLINE V relu(D d, V v) {
  return hn::Max(hn::Zero(d), v);
}

// Past the caches where the caller says so: a store there does not read the line first.
template <bool kStream, class D, class V>
HWY_INLINE void store(V value, D d, float* to) {
  if constexpr (kStream) {
    hn::Stream(value, d, to);
  } else {
    hn::StoreU(value, d, to);
  }
}

template <bool kStream, class D>
HWY_INLINE void scale_shift_lanes(D d, const ScaleShift& work, std::int64_t lane) {
  const auto scale = hn::LoadU(d, work.scale + lane);
  const auto shift = hn::LoadU(d, work.shift + lane);
  const std::int64_t step = work.block;
  const float* x = work.x + lane;
  float* y = work.y + lane;
  if (work.residual != nullptr) {
    const float* residual = work.residual + lane;
    for (std::int64_t i = 0; i < work.pixels; ++i) {
      auto v = hn::MulAdd(hn::LoadU(d, x + i * step), scale, shift);
      v = hn::Add(v, hn::LoadU(d, residual + i * step));
      if (work.relu) v = relu(d, v);
      store<kStream>(v, d, y + i * step);
    }
    return;
  }
  for (std::int64_t i = 0; i < work.pixels; ++i) {
    auto v = hn::MulAdd(hn::LoadU(d, x + i * step), scale, shift);
    if (work.relu) v = relu(d, v);
    store<kStream>(v, d, y + i * step);
  }
}

template <bool kStream, class D>
HWY_INLINE void gradient_sums_lanes(D d, const GradientSums& work, std::int64_t lane) {
  const auto zero = hn::Zero(d);
  const auto mean = hn::LoadU(d, work.mean + lane);
  const auto scale = work.scale != nullptr ? hn::LoadU(d, work.scale + lane) : zero;
  const auto shift = work.shift != nullptr ? hn::LoadU(d, work.shift + lane) : zero;
  const auto factor = work.factor != nullptr ? hn::LoadU(d, work.factor + lane) : hn::Set(d, 1.0F);
  const std::int64_t step = work.block;
  const auto one = [&](std::int64_t i, auto& sum, auto& sum_x) HWY_ATTR {
    const std::int64_t at = i * step + lane;
    const auto x = hn::LoadU(d, work.x + at);
    auto g = hn::LoadU(d, work.dy + at);
    if (work.dy2 != nullptr) g = hn::Add(g, hn::LoadU(d, work.dy2 + at));
    if (work.mask == Mask::FromY) {
      g = hn::IfThenElseZero(hn::Gt(hn::LoadU(d, work.y + at), zero), g);
    } else if (work.mask == Mask::FromX || work.y_again != nullptr) {
      auto y = hn::MulAdd(x, scale, shift);
      if (work.residual != nullptr) y = hn::Add(y, hn::LoadU(d, work.residual + at));
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
      hn::StoreU(work.is_accumulating ? hn::Add(hn::LoadU(d, work.g + at), scaled) : scaled, d, work.g + at);
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

template <class D>
HWY_INLINE void gradient_apply_lanes(D d, const GradientApply& work, std::int64_t lane) {
  const auto zero = hn::Zero(d);
  const auto scale = work.scale != nullptr ? hn::LoadU(d, work.scale + lane) : zero;
  const auto shift = work.shift != nullptr ? hn::LoadU(d, work.shift + lane) : zero;
  const auto by_g = hn::LoadU(d, work.by_g + lane);
  const auto by_x = hn::LoadU(d, work.by_x + lane);
  const auto constant = hn::LoadU(d, work.constant + lane);
  for (std::int64_t i = 0; i < work.pixels; ++i) {
    const std::int64_t at = i * work.block + lane;
    const auto x = hn::LoadU(d, work.x + at);
    auto g = hn::LoadU(d, work.g + at);
    if (work.mask == Mask::FromX || work.y_again != nullptr) {
      const auto y = hn::MulAdd(x, scale, shift);
      if (work.mask == Mask::FromX) g = hn::IfThenElseZero(hn::Gt(y, zero), g);
      if (work.y_again != nullptr) hn::StoreU(work.relu ? relu(d, y) : y, d, work.y_again + at);
    }
    auto dx = hn::MulAdd(by_g, g, hn::MulAdd(by_x, x, constant));
    if (work.add != nullptr) dx = hn::Add(dx, hn::LoadU(d, work.add + at));
    hn::StoreU(dx, d, work.dx + at);
  }
}

// Runs `lanes(d, lane)` over the block with the widest vectors that fit into it.
template <class F>
HWY_INLINE void for_lanes(int block, const F& lanes) {
  const auto over = [&](auto d) HWY_ATTR {
    for (std::int64_t lane = 0; lane < block; lane += static_cast<std::int64_t>(hn::Lanes(d))) lanes(d, lane);
  };
  if (block == 16) {
    over(hn::CappedTag<float, 16>());
  } else if (block == 8) {
    over(hn::CappedTag<float, 8>());
  } else {
    over(hn::CappedTag<float, 4>());
  }
}

void moments_target(const float* x, std::int64_t pixels, int block, const float* pivot, double* sum, double* sum_sq) {
  for_lanes(block, [&](auto d, std::int64_t lane) HWY_ATTR {
    moments_lanes(d, x + lane, pixels, block, pivot + lane, sum + lane, sum_sq + lane);
  });
}
void scale_shift_target(const ScaleShift& work) {
  if (work.stream) {
    for_lanes(work.block, [&](auto d, std::int64_t lane) HWY_ATTR { scale_shift_lanes<true>(d, work, lane); });
    hwy::FlushStream();
  } else {
    for_lanes(work.block, [&](auto d, std::int64_t lane) HWY_ATTR { scale_shift_lanes<false>(d, work, lane); });
  }
}
void gradient_sums_target(const GradientSums& work) {
  if (work.stream) {
    for_lanes(work.block, [&](auto d, std::int64_t lane) HWY_ATTR { gradient_sums_lanes<true>(d, work, lane); });
    hwy::FlushStream();
  } else {
    for_lanes(work.block, [&](auto d, std::int64_t lane) HWY_ATTR { gradient_sums_lanes<false>(d, work, lane); });
  }
}
void gradient_apply_target(const GradientApply& work) {
  for_lanes(work.block, [&](auto d, std::int64_t lane) HWY_ATTR { gradient_apply_lanes(d, work, lane); });
}

}  // namespace roentgen::engine::cpu::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace roentgen::engine::cpu::simd {

HWY_EXPORT(moments_target);
HWY_EXPORT(scale_shift_target);
HWY_EXPORT(gradient_sums_target);
HWY_EXPORT(gradient_apply_target);

void moments(const float* x, std::int64_t pixels, int block, const float* pivot, double* sum, double* sum_sq) {
  HWY_DYNAMIC_DISPATCH(moments_target)(x, pixels, block, pivot, sum, sum_sq);
}
void scale_shift(const ScaleShift& work) { HWY_DYNAMIC_DISPATCH(scale_shift_target)(work); }
void gradient_sums(const GradientSums& work) { HWY_DYNAMIC_DISPATCH(gradient_sums_target)(work); }
void gradient_apply(const GradientApply& work) { HWY_DYNAMIC_DISPATCH(gradient_apply_target)(work); }

}  // namespace roentgen::engine::cpu::simd
#endif
