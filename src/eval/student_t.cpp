// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/student_t.h"

#include <cmath>
#include <limits>

#include "core/error.h"

namespace roentgen::eval {
namespace {

// Degrees of freedom above which the normal distribution is used; it differs by less than 1e-9.
constexpr double kManyDof = 1e8;

// Returns the incomplete beta function I_x(a, b) for x <= (a + 1) / (a + b + 2), where its continued fraction converges
// fast (modified Lentz; DLMF 8.17.22).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr int kMostTerms = 10000;
  const auto kept = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1.0;
  double d = 1.0 / kept(1.0 - (a + b) * x / (a + 1.0));
  double fraction = d;
  for (int m = 1; m <= kMostTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1.0 / kept(1.0 + even * d);
    c = kept(1.0 + even / c);
    fraction *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1.0 / kept(1.0 + odd * d);
    c = kept(1.0 + odd / c);
    fraction *= d * c;
    if (std::abs(d * c - 1.0) < 1e-15) break;
  }
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  return front * fraction / a;
}

}  // namespace

double student_t_p(double t, double dof) {
  RG_ASSERT(dof > 0.0 && !std::isnan(t));
  const double size = std::abs(t);
  if (size == 0.0) return 1.0;
  if (std::isinf(size)) return 0.0;
  if (dof > kManyDof) return std::erfc(size / std::sqrt(2.0));
  const double a = dof / 2.0;
  const double b = 0.5;
  const double x = dof / (dof + size * size);
  const double rest = size * size / (dof + size * size);  // 1 - x without cancellation
  if (x <= (a + 1.0) / (a + b + 2.0)) return beta_fraction(a, b, x);
  return 1.0 - beta_fraction(b, a, rest);
}

double student_t_width(double level, double dof) {
  RG_ASSERT(level > 0.0 && level < 1.0);
  double low = 0.0;
  double high = 1.0;
  while (student_t_p(high, dof) > 1.0 - level && high < std::numeric_limits<double>::max() / 4.0) high *= 2.0;
  while (true) {
    const double middle = 0.5 * (low + high);
    if (middle <= low || middle >= high) return middle;
    (student_t_p(middle, dof) > 1.0 - level ? low : high) = middle;
  }
}

}  // namespace roentgen::eval
