// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Convolutions whose fastest plan is found by timing the library's plans on the device, once for each problem.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "engine/cuda/conv/convolutions.h"
#include "engine/cuda/conv/plan_cache.h"

namespace roentgen::engine::cuda {

/// Plans that are timed for a problem: the first ones of the library's heuristic.
inline constexpr std::size_t kTimedPlans = 8;
/// Workspace of a plan that is timed. cuDNN's fast plans for the networks here want less; one that wants more costs
/// memory that every step keeps.
inline constexpr std::size_t kMostWorkspaceBytes = std::size_t{256} << 20;
/// Time after which a compile times no further problem and takes the heuristic's first plan for it.
inline constexpr double kMostTimingSeconds = 40.0;
/// Share of the least time that a later plan must stay under to be taken: repeated timings differ by about 1%.
inline constexpr double kFasterShare = 0.98;

/// Measures plans on a device. One thread.
class PlanTimer {
 public:
  virtual ~PlanTimer() = default;
  /// Time of one run, the least of several. Throws DeviceError when the plan fails, or when there is no memory for it.
  [[nodiscard]] virtual double seconds(const ConvProblem& problem, ConvPlan& plan) = 0;
  /// Time on a clock of its own, which bounds the time of a compile.
  [[nodiscard]] virtual double now_s() = 0;
  /// Gives memory back; seconds() takes it again.
  virtual void release() = 0;
};
/// Timer of a CUDA device: repeated runs in a CUDA graph, between two events, on operands in memory of its own.
[[nodiscard]] std::unique_ptr<PlanTimer> make_cuda_plan_timer(int device);

/// Plans of a problem that are timed: deterministic ones of at most kMostWorkspaceBytes among the first kTimedPlans.
[[nodiscard]] std::vector<std::unique_ptr<ConvPlan>> timed_plans(Convolutions& library, const ConvProblem& problem);

/// `library` with a fastest() that takes the cache's plan, or else times timed_plans() and adds the fastest to the
/// cache. Layers of one problem share one timing.
/// @param timer null: nothing is timed, and problems that the cache lacks get first()
[[nodiscard]] std::unique_ptr<Convolutions> make_timed_convolutions(std::unique_ptr<Convolutions> library,
                                                                    std::unique_ptr<PlanTimer> timer, PlanCache cache);

}  // namespace roentgen::engine::cuda
