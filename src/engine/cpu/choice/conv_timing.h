// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// What every candidate of a choice takes: for `roentgen bench choose`, which shows what the rule loses. Compiling times
// nothing.
#pragma once

#include <functional>
#include <vector>

#include "engine/engine.h"

namespace roentgen::engine::cpu {

/// Runs one candidate once and says how many seconds that took.
using TimedRun = std::function<double()>;

/// Of each candidate the least seconds of several runs, in turns, so that a machine that slows down slows every one;
/// the first of each warms up. A machine that stands still for all runs of one leaves that one far behind the others,
/// by more than algorithms differ: then all run again, twice at most.
[[nodiscard]] std::vector<double> least_seconds(const std::vector<TimedRun>& candidates);

/// Engine::measure_choices() of the CPU engine. Kernels run alone, on buffers of their own, without what plans add to
/// them (norms, moments, sums). Layers that are alike are timed once.
[[nodiscard]] std::vector<MeasuredChoice> measure_choices(const graph::Graph& graph, const CompileOptions& options);

}  // namespace roentgen::engine::cpu
