// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// How algorithms are timed, and which of them a convolution takes.
#pragma once

#include <functional>
#include <vector>

#include "engine/cpu/conv_algorithm.h"
#include "engine/cpu/timing_store.h"

namespace roentgen::engine::cpu {

/// Runs one candidate once and says how many seconds that took.
using TimedRun = std::function<double()>;

/// Of each candidate the least seconds of several runs, in turns, so that a machine that slows down slows every one;
/// the first of each warms up. A machine that stands still for all runs of one leaves that one far behind the others,
/// by more than algorithms differ: then all run again, twice at most.
[[nodiscard]] std::vector<double> least_seconds(const std::vector<TimedRun>& candidates);

/// The fastest of the candidates that win by enough over the first one, direct or, of bf16 values, Bf16: small
/// differences are noise, and some are less accurate or leave a pass to the batch norm behind them, so by 5% (Winograd,
/// Split2, WinogradBf16) or 2%. Those whose kernels also gather moments (`gathers`) save the batch norm behind them a
/// pass over the result: they may be slower than the first by 2%; Pointwise, whose kernels take over most of the batch
/// norms before and behind them, in any pass by 10%. Among those that win time alone decides. The first
/// where none does.
/// @param timings of every candidate: of the convolution alone, without any gathering
[[nodiscard]] ConvAlgorithm fastest_algorithm(const std::vector<ConvAlgorithm>& candidates, const Timings& timings,
                                              const std::function<bool(ConvAlgorithm)>& gathers);

}  // namespace roentgen::engine::cpu
