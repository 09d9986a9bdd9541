// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Convolutions in plain C++ for the emulated device, in place of cuDNN. Test code only.
#pragma once

#include <memory>

#include "engine/cuda/conv/convolutions.h"

namespace roentgen::emulated {

/// Offers two plans for every problem: "forward" and "backward". They sum in opposite orders and need workspaces of
/// different sizes. A plan fills workspace and result with NaN before it computes. It throws if operands are missing or
/// not aligned to 16 bytes. Both plans sum in f32 and round each result once. They round f32 factors to TF32 if the
/// problem allows it.
[[nodiscard]] std::unique_ptr<engine::cuda::Convolutions> make_plain_convolutions();

}  // namespace roentgen::emulated
