// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Student's t distribution, for intervals from few training runs.
#pragma once

namespace roentgen::eval {

/// Two-sided p-value P(|T| >= |t|) of Student's t with `dof` > 0 degrees of freedom, which need not be whole. Infinite
/// `dof` means the normal distribution. Computes I_x(dof / 2, 1 / 2), x = dof / (dof + t²), by its continued fraction
/// (DLMF 8.17.22); error below 1e-12.
[[nodiscard]] double student_t_p(double t, double dof);

/// Returns the t > 0 with P(|T| <= t) = level, 0 < level < 1. This is the half width of a confidence interval in
/// standard errors. Found by bisection.
[[nodiscard]] double student_t_width(double level, double dof);

}  // namespace roentgen::eval
