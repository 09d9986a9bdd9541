// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Copies of values in another order or type of elements.
#pragma once

#include <memory>

#include "engine/plan/kernel.h"
#include "engine/plan/layout.h"
#include "runtime/stream.h"

namespace roentgen::engine::cuda {

/// Plan kernel of to = from: two layouts of one shape (N, C, H, W) or (N, K), each Plain or ChannelsLast. Padding of
/// `to` becomes zero. Queued on `stream`.
[[nodiscard]] std::unique_ptr<Kernel> reorder_kernel(const Located& from, const Located& to, runtime::Stream* stream);

}  // namespace roentgen::engine::cuda
