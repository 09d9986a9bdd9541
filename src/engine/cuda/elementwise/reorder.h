// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Copies a value into another order or type of its elements.
#pragma once

#include <memory>

#include "engine/plan/kernel.h"
#include "engine/plan/layout.h"
#include "runtime/stream.h"

namespace roentgen::engine::cuda {

/// Plan kernel of to = from. Both have the same shape (N, C, H, W) or (N, K), and layouts Plain or ChannelsLast.
/// Padding of `to` becomes zero. The kernel queues its work on `stream`.
[[nodiscard]] std::unique_ptr<Kernel> reorder_kernel(const Located& from, const Located& to, runtime::Stream* stream);

}  // namespace roentgen::engine::cuda
