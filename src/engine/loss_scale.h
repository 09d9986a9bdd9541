// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Loss scale: factor of the loss's gradient. It keeps gradients stored in f16 from underflow to 0 (Micikevicius et al.
// 2018, arXiv:1710.03740). Default numbers are those of torch.amp.GradScaler.
#pragma once

#include <cstdint>

namespace roentgen::engine {

/// Limit of growth: a scale of this size or more is not doubled. It keeps the scale, its inverse and scaled losses
/// finite in float32, whose largest number is nearly 2^128.
inline constexpr double kLargestGrownScale = 0x1p100;

/// Options of the loss scale, for executables that store gradients in f16. If gradients overflow, the update is skipped
/// and the scale halved. After `growth_updates` updates in a row without overflow the scale is doubled, up to
/// kLargestGrownScale.
struct LossScaling {
  double start = 65536.0;              ///< loss scale of the first update; positive
  std::int64_t growth_updates = 2000;  ///< at least 1
};

/// Loss scale between two updates. Plain value; equal on all ranks of a run, since they apply the same gradients.
struct LossScale {
  double scale = 1.0;             ///< factor of the loss's gradient
  std::int64_t good_updates = 0;  ///< updates since the scale last changed
  std::int64_t skipped = 0;       ///< number of updates of the run skipped because of an overflow
  friend bool operator==(const LossScale&, const LossScale&) = default;
};

}  // namespace roentgen::engine
