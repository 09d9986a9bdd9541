// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Kernels for gradients that ranks exchange in 16 bits.
#pragma once

#include "runtime/wire_kernels.h"

namespace roentgen::engine::cuda {

/// Returns the kernels, which have no state and live until the program ends. They need streams of a CUDA device.
[[nodiscard]] const runtime::WireKernels& wire_kernels();

}  // namespace roentgen::engine::cuda
