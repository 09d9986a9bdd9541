// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Times every candidate of a choice, for `roentgen bench choose`, which shows the cost of the rule. Compiling times
// nothing.
#pragma once

#include <functional>
#include <vector>

#include "engine/engine.h"

namespace roentgen::engine::cpu {

/// Runs one candidate once and says how many seconds that took.
using TimedRun = std::function<double()>;

/// Least seconds of several runs of each candidate. Candidates take turns, so a machine that slows down affects all;
/// the first run of each is a warm-up. A machine may stall during all runs of one candidate. Then that one is slower by
/// more than algorithms differ, and all run again, at most twice.
[[nodiscard]] std::vector<double> least_seconds(const std::vector<TimedRun>& candidates);

/// Engine::measure_choices() of the CPU engine. Kernels run alone, on buffers of their own, without what plans add to
/// them (norms, moments, sums). Layers that are alike are timed once.
[[nodiscard]] std::vector<MeasuredChoice> measure_choices(const graph::Graph& graph, const CompileOptions& options);

}  // namespace roentgen::engine::cpu
