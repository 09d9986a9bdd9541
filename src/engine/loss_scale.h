// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Loss scale: a factor of the loss's gradient, so that gradients stored in f16 do not vanish (Micikevicius et al. 2018,
// arXiv:1710.03740). Numbers are those of torch.amp.GradScaler.
#pragma once

#include <cstdint>

namespace roentgen::engine {

/// Growth ends here: a scale of this size or more is not doubled. So the scale, its inverse and scaled losses stay
/// finite in float32, whose largest number is 2^128.
inline constexpr double kLargestGrownScale = 0x1p100;

/// Options of the loss scale of an executable that stores gradients in f16. An update whose gradients overflow changes
/// nothing and halves the scale; `growth_updates` updates in a row without overflow double it, up to
/// kLargestGrownScale.
struct LossScaling {
  double start = 65536.0;              ///< scale of the first update; positive
  std::int64_t growth_updates = 2000;  ///< at least 1
};

/// Loss scale between two updates. Plain value; the same on all ranks of a run, whose gradients are the same.
struct LossScale {
  double scale = 1.0;             ///< factor of the loss's gradient
  std::int64_t good_updates = 0;  ///< updates since it last changed
  std::int64_t skipped = 0;       ///< updates of the run that an overflow skipped
  friend bool operator==(const LossScale&, const LossScale&) = default;
};

}  // namespace roentgen::engine
