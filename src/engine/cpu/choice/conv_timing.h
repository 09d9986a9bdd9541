// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Times every algorithm that can compute a convolution pass, for `roentgen bench choose`, which shows how much slower
// the chosen algorithm is than the fastest. Compiling never times anything.
#pragma once

#include <functional>
#include <vector>

#include "engine/engine.h"

namespace roentgen::engine::cpu {

/// Runs one algorithm once and returns its time in seconds.
using TimedRun = std::function<double()>;

/// Best time of each algorithm over several runs, in seconds. Algorithms take turns, so that a machine that slows down
/// affects all of them; the first run of each is a warm-up. The machine may stall during all runs of one algorithm. If
/// one therefore appears slower than algorithms ever differ, all are timed again, at most twice.
[[nodiscard]] std::vector<double> least_seconds(const std::vector<TimedRun>& candidates);

/// Engine::measure_choices() of the CPU engine. Kernels run alone on separate buffers, without the work that plans fuse
/// into them (norms, moments, sums). Equal layers are timed once.
[[nodiscard]] std::vector<MeasuredChoice> measure_choices(const graph::Graph& graph, const CompileOptions& options);

}  // namespace roentgen::engine::cpu
