// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Transforms of Winograd's F(4, taps) along one axis, from x(i) to y(i, v). They use the Toom-Cook construction (Lavin
// & Gray, arXiv 1509.09308; Barabasz et al., arXiv 1803.10986). Values are coefficients of a polynomial, which is
// evaluated at 0, at p and -p for a few numbers p, and at infinity. Even and odd powers, which p and -p share, are
// computed once. An axis with one tap is copied. Kernel sources include this file once for each target.
#if defined(ROENTGEN_ENGINE_CPU_SIMD_WINOGRAD_AXES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ROENTGEN_ENGINE_CPU_SIMD_WINOGRAD_AXES_INL_H_
#undef ROENTGEN_ENGINE_CPU_SIMD_WINOGRAD_AXES_INL_H_
#else
#define ROENTGEN_ENGINE_CPU_SIMD_WINOGRAD_AXES_INL_H_
#endif

#include <hwy/highway.h>

#include <array>
#include <tuple>

#include "engine/cpu/simd/winograd_window.h"

HWY_BEFORE_NAMESPACE();
namespace roentgen::engine::cpu::simd::HWY_NAMESPACE {

/// Points p of F(4, taps), and the factors of the transforms. Points whose powers are close to each other cause less
/// rounding. For 3x3 windows, these points give half the error of the customary 1 and 2. For 7 taps they give a quarter
/// of the error of 1/4, 1/2, 1 and 2. All are exact in binary.
template <int kTaps>
struct WinogradPoints {
  static constexpr int kPairs = (kTaps + 1) / 2;
  using Numbers = std::array<double, kPairs>;
  static constexpr Numbers points() {
    if constexpr (kTaps == 3) return {0.625, 1.5};
    if constexpr (kTaps == 5) return {0.5, 1.0, 2.0};
    if constexpr (kTaps == 7) return {0.375, 0.8125, 1.25, 2.5};
  }
  /// Returns points()[pair] to the power `exponent`.
  static constexpr double power(int pair, int exponent) {
    double made = 1.0;
    for (int i = 0; i < exponent; ++i) made *= points()[pair];
    return made;
  }
  /// Coefficient of t^`exponent` in the product of (t - p^2) over all pairs except `left_out` (-1: over all).
  static constexpr double coefficient(int left_out, int exponent) {
    std::array<double, kPairs + 1> made{1.0};
    for (int pair = 0; pair < kPairs; ++pair) {
      if (pair == left_out) continue;
      for (int i = kPairs; i >= 0; --i) made[i] = (i > 0 ? made[i - 1] : 0.0) - made[i] * power(pair, 2);
    }
    return made[exponent];
  }
  /// Returns 1 / (product of the distances from p to all other points: -p, 0 and the other pairs).
  static constexpr float at(int pair) {
    double product = 2.0 * power(pair, 2);
    for (int other = 0; other < kPairs; ++other) {
      if (other != pair) product *= power(pair, 2) - power(other, 2);
    }
    return static_cast<float>(1.0 / product);
  }
  static constexpr float at_zero() { return static_cast<float>(1.0 / coefficient(-1, 0)); }
};

/// Constants of WinogradPoints in arrays, for loops with compile-time bounds.
template <int kTaps>
struct WinogradNumbers {
  using P = WinogradPoints<kTaps>;
  static constexpr int kPairs = P::kPairs;
  static constexpr int kMostPower = kTaps > 4 ? kTaps : 4;
  std::array<std::array<float, kMostPower>, kPairs> power{};  ///< [pair][exponent]
  std::array<std::array<float, kPairs>, kPairs> others{};     ///< coefficients by [pair left out][exponent of t]
  std::array<float, kPairs> all{};                            ///< [exponent of t]
  std::array<std::array<float, kMostPower>, kPairs> at{};     ///< [pair][exponent]: power / distances of the point
  constexpr WinogradNumbers() {
    for (int pair = 0; pair < kPairs; ++pair) {
      for (int i = 0; i < kMostPower; ++i) {
        power[pair][i] = static_cast<float>(P::power(pair, i));
        at[pair][i] = P::at(pair) * power[pair][i];
      }
      for (int i = 0; i < kPairs; ++i) others[pair][i] = static_cast<float>(P::coefficient(pair, i));
      all[pair] = static_cast<float>(P::coefficient(-1, pair));
    }
  }
};
template <int kTaps>
constexpr WinogradNumbers<kTaps> kWinogradNumbers{};

/// Sum over `kCount` terms of x(first + 2 i) * t^i, where t is p^2 of the pair.
template <int kTaps, int kFirst, int kCount, class D, class X>
HWY_INLINE auto every_second(D d, int pair, const X& x) {
  namespace hn = hwy::HWY_NAMESPACE;
  auto sum = x(kFirst + 2 * (kCount - 1));
#pragma GCC unroll 8
  for (int i = kCount - 2; i >= 0; --i) {
    sum = hn::MulAdd(hn::Set(d, kWinogradNumbers<kTaps>.power[pair][2]), sum, x(kFirst + 2 * i));
  }
  return sum;
}

/// Transform of an axis with one tap: a copy.
struct OneTap {
  static constexpr int kFrom = 1, kTo = 1;
  template <class D, class X, class Y>
  static HWY_INLINE void apply(D /*d*/, const X& x, const Y& y) {
    y(0, x(0));
  }
};

/// Input transform B^T of `taps` + 3 values.
template <WinogradAxis kAxis>
struct Input {
  static constexpr int kTaps = kAxis.taps;
  static constexpr int kFrom = kAxis.positions(), kTo = kAxis.positions();
  template <class D, class X, class Y>
  static HWY_INLINE void apply(D d, const X& x, const Y& y) {
    namespace hn = hwy::HWY_NAMESPACE;
    constexpr const auto& k = kWinogradNumbers<kTaps>;
    constexpr int kPairs = WinogradPoints<kTaps>::kPairs;
    hn::Vec<D> v[kFrom];
#pragma GCC unroll 16
    for (int i = 0; i < kFrom; ++i) v[i] = x(i);
    auto first = v[kTo - 2], last = v[kTo - 1];
#pragma GCC unroll 8
    for (int i = kPairs - 1; i >= 0; --i) {
      first = hn::MulAdd(hn::Set(d, k.all[i]), v[2 * i], first);
      last = hn::MulAdd(hn::Set(d, k.all[i]), v[2 * i + 1], last);
    }
    y(0, first);
    y(kTo - 1, last);
#pragma GCC unroll 8
    for (int pair = 0; pair < kPairs; ++pair) {
      auto even = v[kTo - 2], odd = v[kTo - 3];
#pragma GCC unroll 8
      for (int i = kPairs - 2; i >= 0; --i) {
        even = hn::MulAdd(hn::Set(d, k.others[pair][i]), v[2 * i + 2], even);
        odd = hn::MulAdd(hn::Set(d, k.others[pair][i]), v[2 * i + 1], odd);
      }
      y(2 * pair + 1, hn::MulAdd(hn::Set(d, k.power[pair][1]), odd, even));
      y(2 * pair + 2, hn::NegMulAdd(hn::Set(d, k.power[pair][1]), odd, even));
    }
  }
};
template <WinogradAxis kAxis>
requires(kAxis.taps == 1) struct Input<kAxis> : OneTap {
};

/// Computes rows 1 to `kTo` - 1 of the product with a matrix whose columns are the powers of p and -p. An even row i is
/// the sum over pairs of even[pair][i] * sum[pair]; an odd row i is the sum of odd[pair][i] * difference[pair]. The
/// last row includes `last`.
template <int kTo, class D, class W, class V, class Y>
HWY_INLINE void powers_of_pairs(D d, const W& even, const W& odd, const V& sum, const V& difference,
                                hwy::HWY_NAMESPACE::Vec<D> last, const Y& y) {
  namespace hn = hwy::HWY_NAMESPACE;
  constexpr int kPairs = static_cast<int>(std::tuple_size_v<W>);
#pragma GCC unroll 8
  for (int i = 1; i < kTo; ++i) {
    const V& terms = i % 2 == 0 ? sum : difference;
    const W& weight = i % 2 == 0 ? even : odd;
    auto made = hn::Mul(hn::Set(d, weight[kPairs - 1][i]), terms[kPairs - 1]);
    if (i == kTo - 1) made = hn::MulAdd(hn::Set(d, weight[kPairs - 1][i]), terms[kPairs - 1], last);
#pragma GCC unroll 8
    for (int pair = kPairs - 2; pair >= 0; --pair) {
      made = hn::MulAdd(hn::Set(d, weight[pair][i]), terms[pair], made);
    }
    y(i, made);
  }
}

/// Output transform A^T: from positions to four results.
template <WinogradAxis kAxis>
struct Output {
  static constexpr int kTaps = kAxis.taps;
  static constexpr int kFrom = kAxis.positions(), kTo = kAxis.out();
  template <class D, class X, class Y>
  static HWY_INLINE void apply(D d, const X& x, const Y& y) {
    namespace hn = hwy::HWY_NAMESPACE;
    constexpr const auto& k = kWinogradNumbers<kTaps>;
    constexpr int kPairs = WinogradPoints<kTaps>::kPairs;
    hn::Vec<D> sum[kPairs], difference[kPairs];
    auto first = x(0);
#pragma GCC unroll 8
    for (int pair = 0; pair < kPairs; ++pair) {
      const auto plus = x(2 * pair + 1), minus = x(2 * pair + 2);
      sum[pair] = hn::Add(plus, minus);
      difference[pair] = hn::Sub(plus, minus);
      first = hn::Add(first, sum[pair]);
    }
    y(0, first);
    powers_of_pairs<kTo>(d, k.power, k.power, sum, difference, x(kFrom - 1), y);
  }
};
template <WinogradAxis kAxis>
requires(kAxis.taps == 1) struct Output<kAxis> : OneTap {
};

/// Transform A of four gradients of results.
template <WinogradAxis kAxis>
struct Gradient {
  static constexpr int kTaps = kAxis.taps;
  static constexpr int kFrom = kAxis.out(), kTo = kAxis.positions();
  template <class D, class X, class Y>
  static HWY_INLINE void apply(D d, const X& x, const Y& y) {
    namespace hn = hwy::HWY_NAMESPACE;
    const hn::Vec<D> v[kFrom] = {x(0), x(1), x(2), x(3)};
    const auto value = [&](int i) HWY_ATTR { return v[i]; };
    y(0, v[0]);
#pragma GCC unroll 8
    for (int pair = 0; pair < WinogradPoints<kTaps>::kPairs; ++pair) {
      const auto even = every_second<kTaps, 0, 2>(d, pair, value), odd = every_second<kTaps, 1, 2>(d, pair, value);
      const auto point = hn::Set(d, kWinogradNumbers<kTaps>.power[pair][1]);
      y(2 * pair + 1, hn::MulAdd(point, odd, even));
      y(2 * pair + 2, hn::NegMulAdd(point, odd, even));
    }
    y(kTo - 1, v[kFrom - 1]);
  }
};
template <WinogradAxis kAxis>
requires(kAxis.taps == 1) struct Gradient<kAxis> : OneTap {
};

/// Transform G of the taps.
template <WinogradAxis kAxis>
struct Weights {
  static constexpr int kTaps = kAxis.taps;
  static constexpr int kFrom = kTaps, kTo = kAxis.positions();
  template <class D, class X, class Y>
  static HWY_INLINE void apply(D d, const X& x, const Y& y) {
    namespace hn = hwy::HWY_NAMESPACE;
    constexpr const auto& k = kWinogradNumbers<kTaps>;
    hn::Vec<D> v[kFrom];
#pragma GCC unroll 8
    for (int i = 0; i < kFrom; ++i) v[i] = x(i);
    const auto value = [&](int i) HWY_ATTR { return v[i]; };
    y(0, hn::Mul(hn::Set(d, WinogradPoints<kTaps>::at_zero()), v[0]));
#pragma GCC unroll 8
    for (int pair = 0; pair < WinogradPoints<kTaps>::kPairs; ++pair) {
      const auto even = hn::Mul(hn::Set(d, k.at[pair][0]), every_second<kTaps, 0, (kTaps + 1) / 2>(d, pair, value));
      const auto odd = hn::Mul(hn::Set(d, k.at[pair][1]), every_second<kTaps, 1, kTaps / 2>(d, pair, value));
      y(2 * pair + 1, hn::Add(even, odd));
      y(2 * pair + 2, hn::Sub(even, odd));
    }
    y(kTo - 1, v[kFrom - 1]);
  }
};
template <WinogradAxis kAxis>
requires(kAxis.taps == 1) struct Weights<kAxis> : OneTap {
};

/// Transform G^T: from positions to the gradient of the taps.
template <WinogradAxis kAxis>
struct WeightsGradient {
  static constexpr int kTaps = kAxis.taps;
  static constexpr int kFrom = kAxis.positions(), kTo = kTaps;
  template <class D, class X, class Y>
  static HWY_INLINE void apply(D d, const X& x, const Y& y) {
    namespace hn = hwy::HWY_NAMESPACE;
    constexpr const auto& k = kWinogradNumbers<kTaps>;
    constexpr int kPairs = WinogradPoints<kTaps>::kPairs;
    hn::Vec<D> sum[kPairs], difference[kPairs];
#pragma GCC unroll 8
    for (int pair = 0; pair < kPairs; ++pair) {
      const auto plus = x(2 * pair + 1), minus = x(2 * pair + 2);
      sum[pair] = hn::Mul(hn::Set(d, k.at[pair][0]), hn::Add(plus, minus));
      difference[pair] = hn::Sub(plus, minus);
    }
    auto all = sum[0];
#pragma GCC unroll 8
    for (int pair = 1; pair < kPairs; ++pair) all = hn::Add(all, sum[pair]);
    y(0, hn::MulAdd(hn::Set(d, WinogradPoints<kTaps>::at_zero()), x(0), all));
    powers_of_pairs<kTo>(d, k.power, k.at, sum, difference, x(kFrom - 1), y);
  }
};
template <WinogradAxis kAxis>
requires(kAxis.taps == 1) struct WeightsGradient<kAxis> : OneTap {
};

}  // namespace roentgen::engine::cpu::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
