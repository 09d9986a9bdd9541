// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// An executable that sleeps for the step time of another machine, to test the code around a training step.
#pragma once

#include <memory>
#include <vector>

namespace roentgen::engine {
class Executable;
}

namespace roentgen::bench {

/// Progress of a training step: times at which buckets become ready, as shares of the step's time.
struct StepCourse {
  double forward_over = 0.0;
  /// Share of the step's time after which each bucket is ready; ascending, the last at most 1.
  std::vector<double> buckets_ready;
};

/// Runs `steps` (at least 1) steps of an executable compiled for training, and returns the course of the fastest step.
/// The input must be set.
[[nodiscard]] StepCourse measure_course(engine::Executable& executable, int steps);

/// Creates an executable with the memory, parameters and buckets of `real`, but without its computation. forward() and
/// backward() sleep. Buckets become ready at the times in `course`, scaled to a step of `step_s` seconds. The loss is
/// 1, and gradients stay unchanged.
[[nodiscard]] std::unique_ptr<engine::Executable> make_emulated_executable(std::unique_ptr<engine::Executable> real,
                                                                           StepCourse course, double step_s);

}  // namespace roentgen::bench
