// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/simd/flat.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/cpu/simd/flat.cpp"
#include "engine/cpu/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

#include "engine/cpu/simd/elements-inl.h"
#include "engine/cpu/simd/isa.h"

HWY_BEFORE_NAMESPACE();
namespace roentgen::engine::cpu::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Calls f(d, i) for whole vectors, and f(tag of one lane, i) for each remaining element.
template <class F>
HWY_INLINE void for_each(std::int64_t count, const F& f) {
  const hn::CappedTag<float, 16> d;
  const auto step = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + step <= count; i += step) f(d, i);
  const hn::CappedTag<float, 1> one;
  for (; i < count; ++i) f(one, i);
}

template <class T>
HWY_INLINE void sum_arrays_of(std::span<const T* const> sources, T* dst, std::int64_t count) {
  for_each(count, [&](auto d, std::int64_t i) HWY_ATTR {
    auto sum = load(d, sources[0] + i);
    for (std::size_t k = 1; k < sources.size(); ++k) sum = hn::Add(sum, load(d, sources[k] + i));
    store<false>(sum, d, dst + i);
  });
}

template <class T>
HWY_INLINE void relu_of(const T* src, T* dst, std::int64_t count) {
  for_each(count,
           [&](auto d, std::int64_t i) HWY_ATTR { store<false>(hn::Max(hn::Zero(d), load(d, src + i)), d, dst + i); });
}

template <class T>
HWY_INLINE void relu_backward_of(const T* dst, const T* diff_dst, T* diff_src, std::int64_t count) {
  for_each(count, [&](auto d, std::int64_t i) HWY_ATTR {
    const auto g = load(d, diff_dst + i);
    store<false>(hn::IfThenElseZero(hn::Gt(load(d, dst + i), hn::Zero(d)), g), d, diff_src + i);
  });
}

template <class From, class To>
HWY_INLINE void convert_of(const From* src, To* dst, std::int64_t count) {
  for_each(count, [&](auto d, std::int64_t i) HWY_ATTR { store<false>(load(d, src + i), d, dst + i); });
}

// One function for each type, because Highway's dispatch does not support templates.
void sum_arrays_f32(std::span<const float* const> sources, float* dst, std::int64_t count) {
  sum_arrays_of(sources, dst, count);
}
void sum_arrays_bf16(std::span<const Bf16* const> sources, Bf16* dst, std::int64_t count) {
  sum_arrays_of(sources, dst, count);
}
void relu_f32(const float* src, float* dst, std::int64_t count) { relu_of(src, dst, count); }
void relu_bf16(const Bf16* src, Bf16* dst, std::int64_t count) { relu_of(src, dst, count); }
void relu_backward_f32(const float* dst, const float* diff_dst, float* diff_src, std::int64_t count) {
  relu_backward_of(dst, diff_dst, diff_src, count);
}
void relu_backward_bf16(const Bf16* dst, const Bf16* diff_dst, Bf16* diff_src, std::int64_t count) {
  relu_backward_of(dst, diff_dst, diff_src, count);
}
void narrow(const float* src, Bf16* dst, std::int64_t count) { convert_of(src, dst, count); }
void widen(const Bf16* src, float* dst, std::int64_t count) { convert_of(src, dst, count); }

template <class D, class V>
HWY_INLINE V sigmoid_of(D d, V x) {
  const auto one = hn::Set(d, 1.0F);
  return hn::Div(one, hn::Add(one, hn::Exp(d, hn::Neg(hn::Max(x, hn::Set(d, -87.0F))))));
}

void silu_target(const float* src, float* dst, std::int64_t count) {
  for_each(count, [&](auto d, std::int64_t i) HWY_ATTR {
    const auto x = hn::LoadU(d, src + i);
    hn::StoreU(hn::Mul(x, sigmoid_of(d, x)), d, dst + i);
  });
}

void silu_backward_target(const float* src, const float* diff_dst, float* diff_src, std::int64_t count) {
  for_each(count, [&](auto d, std::int64_t i) HWY_ATTR {
    const auto x = hn::LoadU(d, src + i);
    const auto s = sigmoid_of(d, x);
    const auto one = hn::Set(d, 1.0F);
    const auto slope = hn::Mul(s, hn::MulAdd(x, hn::Sub(one, s), one));
    hn::StoreU(hn::Mul(hn::LoadU(d, diff_dst + i), slope), d, diff_src + i);
  });
}

void sigmoid_target(const float* src, float* dst, std::int64_t count) {
  for_each(count,
           [&](auto d, std::int64_t i) HWY_ATTR { hn::StoreU(sigmoid_of(d, hn::LoadU(d, src + i)), d, dst + i); });
}

void sigmoid_backward_target(const float* dst, const float* diff_dst, float* diff_src, std::int64_t count) {
  for_each(count, [&](auto d, std::int64_t i) HWY_ATTR {
    const auto s = hn::LoadU(d, dst + i);
    const auto slope = hn::Mul(s, hn::Sub(hn::Set(d, 1.0F), s));
    hn::StoreU(hn::Mul(hn::LoadU(d, diff_dst + i), slope), d, diff_src + i);
  });
}

std::string_view target_name_target() { return hwy::TargetName(HWY_TARGET); }

}  // namespace roentgen::engine::cpu::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace roentgen::engine::cpu::simd {

HWY_EXPORT(sum_arrays_f32);
HWY_EXPORT(sum_arrays_bf16);
HWY_EXPORT(relu_f32);
HWY_EXPORT(relu_bf16);
HWY_EXPORT(relu_backward_f32);
HWY_EXPORT(relu_backward_bf16);
HWY_EXPORT(narrow);
HWY_EXPORT(widen);
HWY_EXPORT(silu_target);
HWY_EXPORT(silu_backward_target);
HWY_EXPORT(sigmoid_target);
HWY_EXPORT(sigmoid_backward_target);
HWY_EXPORT(target_name_target);

void sum_arrays(std::span<const float* const> sources, float* dst, std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(sum_arrays_f32)(sources, dst, count);
}
void sum_arrays(std::span<const Bf16* const> sources, Bf16* dst, std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(sum_arrays_bf16)(sources, dst, count);
}
void relu(const float* src, float* dst, std::int64_t count) { HWY_DYNAMIC_DISPATCH(relu_f32)(src, dst, count); }
void relu(const Bf16* src, Bf16* dst, std::int64_t count) { HWY_DYNAMIC_DISPATCH(relu_bf16)(src, dst, count); }
void relu_backward(const float* dst, const float* diff_dst, float* diff_src, std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(relu_backward_f32)(dst, diff_dst, diff_src, count);
}
void relu_backward(const Bf16* dst, const Bf16* diff_dst, Bf16* diff_src, std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(relu_backward_bf16)(dst, diff_dst, diff_src, count);
}
void convert(const float* src, Bf16* dst, std::int64_t count) { HWY_DYNAMIC_DISPATCH(narrow)(src, dst, count); }
void convert(const Bf16* src, float* dst, std::int64_t count) { HWY_DYNAMIC_DISPATCH(widen)(src, dst, count); }
void silu(const float* src, float* dst, std::int64_t count) { HWY_DYNAMIC_DISPATCH(silu_target)(src, dst, count); }
void silu_backward(const float* src, const float* diff_dst, float* diff_src, std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(silu_backward_target)(src, diff_dst, diff_src, count);
}
void sigmoid(const float* src, float* dst, std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(sigmoid_target)(src, dst, count);
}
void sigmoid_backward(const float* dst, const float* diff_dst, float* diff_src, std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(sigmoid_backward_target)(dst, diff_dst, diff_src, count);
}
std::string_view target_name() {
  limit_targets();
  return HWY_DYNAMIC_DISPATCH(target_name_target)();
}

}  // namespace roentgen::engine::cpu::simd
#endif
