// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Measures all convolution plans that training may use, for `roentgen bench choose`.
#pragma once

#include <vector>

#include "engine/cuda/conv/timed_convolutions.h"
#include "engine/engine.h"

namespace roentgen::engine::cuda {

/// Device to measure, with its convolution library and timer.
struct MeasuredDevice {
  Convolutions& convolutions;  ///< convolution library of the device
  PlanTimer& timer;            ///< timer of plans on the device
  int multiprocessors = 1;     ///< as in DeviceSetup
};

/// Times all plans for Engine::measure_choices(). In the result, a layer is ConvProblem::text() and an algorithm is
/// ConvPlan::name(). The chosen algorithm is the heuristic's: Convolutions::first(). `options` must have the training
/// form and no stored choices.
[[nodiscard]] std::vector<MeasuredChoice> measure_choices(const graph::Graph& graph, CompileOptions options,
                                                          const MeasuredDevice& device);

}  // namespace roentgen::engine::cuda
