// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Convolutions in plain C++ for the emulated device, in place of cuDNN. Test code only.
#pragma once

#include <memory>

#include "engine/cuda/conv/convolutions.h"

namespace roentgen::emulated {

/// Two plans for every problem: "forward" and "backward", which add up in opposite orders and want workspaces of
/// different sizes. A plan fills workspace and result with NaN before it computes, and refuses operands that are
/// missing or not aligned to 16 bytes. Both round each result once, from sums in f32. Factors of f32 are rounded to the
/// nearest number of TF32 where the problem allows it.
[[nodiscard]] std::unique_ptr<engine::cuda::Convolutions> make_plain_convolutions();

}  // namespace roentgen::emulated
