// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// An executable whose steps take the time of another machine, to test the code around a step.
#pragma once

#include <memory>
#include <vector>

namespace roentgen::engine {
class Executable;
}

namespace roentgen::bench {

/// Course of a step: when buckets become ready, as shares of the step's time.
struct StepCourse {
  double forward_over = 0.0;
  /// Share of each bucket, in the order in which they become ready, ascending, the last at most 1.
  std::vector<double> buckets_ready;
};

/// Runs `steps` (at least 1) steps of an executable of training form, whose input is set, and takes the fastest.
[[nodiscard]] StepCourse measure_course(engine::Executable& executable, int steps);

/// An executable with the memory, parameters and buckets of `real`, but without its work. forward() and backward()
/// sleep; buckets become ready when `course` says so for a step of `step_s` seconds. The loss is 1, and gradients stay
/// unchanged.
[[nodiscard]] std::unique_ptr<engine::Executable> make_emulated_executable(std::unique_ptr<engine::Executable> real,
                                                                           StepCourse course, double step_s);

}  // namespace roentgen::bench
