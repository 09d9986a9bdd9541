// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Compares Student's t with closed forms (1, 2 and 4 degrees of freedom), with textbook tables, and with the integral
// of the density.
#include "eval/student_t.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace roentgen::eval {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(StudentT, p_agrees_with_the_closed_forms) {
  for (const double t : {1e-3, 0.1, 0.7, 1.0, 2.0, 4.3, 30.0, 1000.0}) {
    EXPECT_NEAR(student_t_p(t, 1.0), 1.0 - 2.0 / std::numbers::pi * std::atan(t), 1e-12) << t;
    EXPECT_NEAR(student_t_p(-t, 2.0), 1.0 - t / std::sqrt(2.0 + t * t), 1e-12) << t;
    const double q = 1.0 + t * t / 4.0;
    EXPECT_NEAR(student_t_p(t, 4.0), 1.0 - 0.75 * t / std::sqrt(q) * (1.0 - t * t / (12.0 * q)), 1e-12) << t;
    EXPECT_NEAR(student_t_p(t, kInfinity), std::erfc(t / std::sqrt(2.0)), 1e-15) << t;
  }
  EXPECT_EQ(student_t_p(0.0, 3.0), 1.0);
  EXPECT_EQ(student_t_p(kInfinity, 3.0), 0.0);
  EXPECT_NEAR(student_t_p(1.96, 1e8), student_t_p(1.96, kInfinity), 1e-8) << "no step where the normal takes over";
}

TEST(StudentT, p_agrees_with_the_density_where_degrees_are_no_whole_number) {
  constexpr double kDof = 2.7;
  constexpr double kT = 1.9;
  constexpr int kSteps = 20000;  // steps of Simpson's rule; error below 1e-13
  const double scale =
      std::exp(std::lgamma((kDof + 1.0) / 2.0) - std::lgamma(kDof / 2.0)) / std::sqrt(kDof * std::numbers::pi);
  const auto density = [&](double t) { return scale * std::pow(1.0 + t * t / kDof, -(kDof + 1.0) / 2.0); };
  double sum = density(0.0) + density(kT);
  for (int i = 1; i < kSteps; ++i) sum += (i % 2 == 0 ? 2.0 : 4.0) * density(kT * i / kSteps);
  EXPECT_NEAR(student_t_p(kT, kDof), 1.0 - 2.0 * sum * kT / kSteps / 3.0, 1e-11);
}

TEST(StudentT, width_agrees_with_the_printed_table) {
  EXPECT_NEAR(student_t_width(0.95, 1.0), 12.706204736432095, 1e-9);
  EXPECT_NEAR(student_t_width(0.95, 2.0), 4.302652729696142, 1e-10);
  EXPECT_NEAR(student_t_width(0.95, 4.0), 2.7764451051977987, 1e-10);
  EXPECT_NEAR(student_t_width(0.95, 60.0), 2.0002978, 1e-7);
  EXPECT_NEAR(student_t_width(0.95, kInfinity), 1.959963984540054, 1e-10);
  EXPECT_NEAR(student_t_p(student_t_width(0.9, 3.3), 3.3), 0.1, 1e-12);
}

}  // namespace
}  // namespace roentgen::eval
