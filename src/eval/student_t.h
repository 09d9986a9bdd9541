// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Student's t distribution, for intervals from few runs.
#pragma once

namespace roentgen::eval {

/// P(|T| >= |t|) for T with `dof` > 0 degrees of freedom, which need not be whole; infinity = the normal distribution.
/// I_x(dof / 2, 1 / 2), x = dof / (dof + t²), by its continued fraction (DLMF 8.17.22); error below 1e-12.
[[nodiscard]] double student_t_p(double t, double dof);

/// The t > 0 with P(|T| <= t) = level, 0 < level < 1: the half width of an interval in standard errors. By bisection.
[[nodiscard]] double student_t_width(double level, double dof);

}  // namespace roentgen::eval
