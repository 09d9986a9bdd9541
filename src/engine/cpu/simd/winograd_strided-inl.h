// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The transforms of three taps that move by two values, or by half of one (winograd_window.h). The two taps that lie
// two values apart: F(4, 2) by Toom and Cook's construction as in winograd_axes-inl.h, at the points p, -p, q, -q and
// infinity. Positions: those of the four points, three results of the tap between, infinity, the fourth of these.
// Included by the sources of kernels once for each target.
#if defined(ROENTGEN_ENGINE_CPU_SIMD_WINOGRAD_STRIDED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ROENTGEN_ENGINE_CPU_SIMD_WINOGRAD_STRIDED_INL_H_
#undef ROENTGEN_ENGINE_CPU_SIMD_WINOGRAD_STRIDED_INL_H_
#else
#define ROENTGEN_ENGINE_CPU_SIMD_WINOGRAD_STRIDED_INL_H_
#endif

#include <hwy/highway.h>

#include "engine/cpu/simd/winograd_axes-inl.h"
#include "engine/cpu/simd/winograd_window.h"

HWY_BEFORE_NAMESPACE();
namespace roentgen::engine::cpu::simd::HWY_NAMESPACE {

/// Two points and what the transforms multiply by; all but the distances are exact in binary. Of the pairs up to 5/2 in
/// eighths these leave the least error: with the tap between, two thirds of 3x3 windows' along an axis.
constexpr double kStridedPoints[2] = {0.375, 1.25};
struct StridedNumbers {
  float point[2], square[2], cube[2];
  float distance[2];  ///< 1 / the product of a point's distances from the others
  float sum = static_cast<float>(kStridedPoints[0] * kStridedPoints[0] + kStridedPoints[1] * kStridedPoints[1]);
  float product = static_cast<float>(kStridedPoints[0] * kStridedPoints[0] * kStridedPoints[1] * kStridedPoints[1]);
  constexpr StridedNumbers() : point{}, square{}, cube{}, distance{} {
    for (int i = 0; i < 2; ++i) {
      const double p = kStridedPoints[i], q = kStridedPoints[1 - i];
      point[i] = static_cast<float>(p);
      square[i] = static_cast<float>(p * p);
      cube[i] = static_cast<float>(p * p * p);
      distance[i] = static_cast<float>(1.0 / (2.0 * p * (p * p - q * q)));
    }
  }
};
constexpr StridedNumbers kStrided{};

/// Where positions lie: of point p or q (0, 1) and its negative, of infinity, of result `i` of the tap between.
constexpr int at_point(int i) { return 2 * i; }
constexpr int at_negative(int i) { return 2 * i + 1; }
constexpr int kAtInfinity = WinogradAxis::kAtInfinity;
constexpr int at_between(int i) { return i < 3 ? 4 + i : 8; }
/// And where transformed taps do.
constexpr int weight_at(int position) { return WinogradAxis{3, WinogradStep::Two}.weight_of(position); }

/// B^T of F(4, 2): five values x(i).
template <class D, class X, class Y>
HWY_INLINE void two_taps_input(D d, const X& x, const Y& y) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::Vec<D> v[5] = {x(0), x(1), x(2), x(3), x(4)};
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    const auto other = hn::Set(d, kStrided.square[1 - i]), point = hn::Set(d, kStrided.point[i]);
    const auto odd = hn::NegMulAdd(other, v[1], v[3]), even = hn::NegMulAdd(other, v[0], v[2]);
    y(at_point(i), hn::MulAdd(point, even, odd));
    y(at_negative(i), hn::NegMulAdd(point, even, odd));
  }
  const auto upper = hn::NegMulAdd(hn::Set(d, kStrided.sum), v[2], v[4]);
  y(kAtInfinity, hn::MulAdd(hn::Set(d, kStrided.product), v[0], upper));
}
/// A^T of it: four results.
template <class D, class X, class Y>
HWY_INLINE void two_taps_output(D d, const X& x, const Y& y) {
  namespace hn = hwy::HWY_NAMESPACE;
  const auto set = [d](float number) HWY_ATTR { return hn::Set(d, number); };
  const auto& k = kStrided;
  const auto p = x(at_point(0)), minus_p = x(at_negative(0)), q = x(at_point(1)), minus_q = x(at_negative(1));
  const auto sum_p = hn::Add(p, minus_p), sum_q = hn::Add(q, minus_q);
  const auto difference_p = hn::Sub(p, minus_p), difference_q = hn::Sub(q, minus_q);
  y(0, hn::Add(sum_p, sum_q));
  y(1, hn::MulAdd(set(k.point[0]), difference_p, hn::Mul(set(k.point[1]), difference_q)));
  y(2, hn::MulAdd(set(k.square[0]), sum_p, hn::Mul(set(k.square[1]), sum_q)));
  y(3, hn::MulAdd(set(k.cube[0]), difference_p, hn::MulAdd(set(k.cube[1]), difference_q, x(kAtInfinity))));
}

template <WinogradAxis kAxis>
requires(kAxis.step == WinogradStep::Two) struct Input<kAxis> {
  static constexpr int kFrom = kAxis.values(), kTo = kAxis.positions();
  template <class D, class X, class Y>
  static HWY_INLINE void apply(D d, const X& x, const Y& y) {
    two_taps_input(
        d, [&](int i) HWY_ATTR { return x(2 * i); }, y);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) y(at_between(i), x(2 * i + 1));
  }
};
template <WinogradAxis kAxis>
requires(kAxis.is_half()) struct Input<kAxis> {
  static constexpr int kFrom = kAxis.values(), kTo = kAxis.positions();
  template <class D, class X, class Y>
  static HWY_INLINE void apply(D d, const X& x, const Y& y) {
    two_taps_input(d, x, y);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) y(at_between(i), x(kAxis.step == WinogradStep::HalfEven ? i + 1 : i));
  }
};

template <WinogradAxis kAxis>
requires(kAxis.step == WinogradStep::Two) struct Output<kAxis> {
  static constexpr int kFrom = kAxis.positions(), kTo = kAxis.out();
  template <class D, class X, class Y>
  static HWY_INLINE void apply(D d, const X& x, const Y& y) {
    namespace hn = hwy::HWY_NAMESPACE;
    two_taps_output(d, x, [&](int i, hn::Vec<D> v) HWY_ATTR { y(i, hn::Add(v, x(at_between(i)))); });
  }
};
template <WinogradAxis kAxis>
requires(kAxis.is_half()) struct Output<kAxis> {
  static constexpr int kFrom = kAxis.positions(), kTo = kAxis.out();
  template <class D, class X, class Y>
  static HWY_INLINE void apply(D d, const X& x, const Y& y) {
    namespace hn = hwy::HWY_NAMESPACE;
    constexpr int kFirst = kAxis.step == WinogradStep::HalfEven ? 0 : 1;
    two_taps_output(d, x, [&](int i, hn::Vec<D> v) HWY_ATTR {
      y(2 * i + kFirst, v);
      y(2 * i + 1 - kFirst, x(at_between(i)));
    });
  }
};

template <WinogradAxis kAxis>
requires(kAxis.step == WinogradStep::Two) struct Gradient<kAxis> {
  static constexpr int kFrom = kAxis.out(), kTo = kAxis.positions();
  template <class D, class X, class Y>
  static HWY_INLINE void apply(D d, const X& x, const Y& y) {
    namespace hn = hwy::HWY_NAMESPACE;
    const hn::Vec<D> v[kFrom] = {x(0), x(1), x(2), x(3)};
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) {
      const auto square = hn::Set(d, kStrided.square[i]), point = hn::Set(d, kStrided.point[i]);
      const auto even = hn::MulAdd(square, v[2], v[0]), odd = hn::MulAdd(square, v[3], v[1]);
      y(at_point(i), hn::MulAdd(point, odd, even));
      y(at_negative(i), hn::NegMulAdd(point, odd, even));
    }
    y(kAtInfinity, v[3]);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) y(at_between(i), v[i]);
  }
};

template <WinogradAxis kAxis>
requires(kAxis.step == WinogradStep::Two) struct Weights<kAxis> {
  static constexpr int kFrom = kAxis.taps, kTo = kAxis.weights();
  template <class D, class X, class Y>
  static HWY_INLINE void apply(D d, const X& x, const Y& y) {
    namespace hn = hwy::HWY_NAMESPACE;
    const hn::Vec<D> first = x(0), between = x(1), last = x(2);
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) {
      const auto even = hn::Mul(hn::Set(d, kStrided.distance[i]), first);
      const auto odd = hn::Mul(hn::Set(d, kStrided.distance[i] * kStrided.point[i]), last);
      y(at_point(i), hn::Add(odd, even));
      y(at_negative(i), hn::Sub(odd, even));
    }
    y(weight_at(kAtInfinity), last);
    y(weight_at(at_between(0)), between);
  }
};

template <WinogradAxis kAxis>
requires(kAxis.step == WinogradStep::Two) struct WeightsGradient<kAxis> {
  static constexpr int kFrom = kAxis.weights(), kTo = kAxis.taps;
  template <class D, class X, class Y>
  static HWY_INLINE void apply(D d, const X& x, const Y& y) {
    namespace hn = hwy::HWY_NAMESPACE;
    auto first = hn::Zero(d), last = x(weight_at(kAtInfinity));
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) {
      const auto plus = x(at_point(i)), minus = x(at_negative(i));
      first = hn::MulAdd(hn::Set(d, kStrided.distance[i]), hn::Sub(plus, minus), first);
      last = hn::MulAdd(hn::Set(d, kStrided.distance[i] * kStrided.point[i]), hn::Add(plus, minus), last);
    }
    y(0, first);
    y(1, x(weight_at(at_between(0))));
    y(2, last);
  }
};
/// Weight gradients have no half step, and its weights are those of the stride.
template <WinogradAxis kAxis>
requires(kAxis.is_half()) struct Gradient<kAxis> : NoTransform {
};
template <WinogradAxis kAxis>
requires(kAxis.is_half()) struct Weights<kAxis> : NoTransform {
};
template <WinogradAxis kAxis>
requires(kAxis.is_half()) struct WeightsGradient<kAxis> : NoTransform {
};

}  // namespace roentgen::engine::cpu::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
