// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Which of the algorithms that were timed a convolution takes.
#pragma once

#include <functional>
#include <vector>

#include "engine/cpu/conv_algorithm.h"
#include "engine/cpu/timing_store.h"

namespace roentgen::engine::cpu {

/// The fastest of the candidates that win over direct, which is one of them, by enough: small differences are noise,
/// and some are less accurate, so by 5% (Winograd, Split2) or 2%. Those whose kernels also gather moments (`gathers`)
/// save the batch norm behind them a pass over the result: they may be slower than direct by 2%; among those that win
/// time alone decides. Direct where none does.
/// @param timings of every candidate: of the convolution alone, without any gathering
[[nodiscard]] ConvAlgorithm fastest_algorithm(const std::vector<ConvAlgorithm>& candidates, const Timings& timings,
                                              const std::function<bool(ConvAlgorithm)>& gathers);

}  // namespace roentgen::engine::cpu
