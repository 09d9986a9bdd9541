// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// log, exp, sin, cos and pow that give the same bits on every machine. They use only +, -, *, / and sqrt, which IEEE
// 754 rounds exactly. The order of operations is fixed and never contracted (the build passes -ffp-contract=off). libm
// does not promise this, and synthetic data sets must not change with the C library. Errors are a few units in the last
// place, so results are not correctly rounded.
#pragma once

namespace roentgen {

/// Natural logarithm of a finite x > 0; -infinity for x <= 0.
[[nodiscard]] double portable_log(double x);
/// e^x; 0 or infinity if x is outside about +-708.
[[nodiscard]] double portable_exp(double x);
/// Sine of an angle in radians, |x| < 1e6.
[[nodiscard]] double portable_sin(double angle_rad);
/// Cosine of an angle in radians, |x| < 1e6.
[[nodiscard]] double portable_cos(double angle_rad);
/// x^y for x >= 0, computed as exp(y log x). The relative error is up to about |y log x| units in the last place.
[[nodiscard]] double portable_pow(double x, double y);

}  // namespace roentgen
