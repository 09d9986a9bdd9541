// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Convolutions that use the fastest plan: the library's plans are timed on the device, once per problem.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "engine/cuda/conv/convolutions.h"
#include "engine/cuda/conv/plan_cache.h"

namespace roentgen::engine::cuda {

/// Number of plans timed per problem: the first ones in the order of the library's heuristic.
inline constexpr std::size_t kTimedPlans = 8;
/// Largest workspace of a timed plan. cuDNN's fast plans for our networks need less. A larger workspace would cost
/// memory during every step.
inline constexpr std::size_t kMostWorkspaceBytes = std::size_t{256} << 20;
/// Limit of the time that one compile spends on timing plans. Convolutions after that get the heuristic's first plan.
inline constexpr double kMostTimingSeconds = 40.0;
/// A later plan replaces the fastest plan so far only if its time is below this share of the fastest time. Timings vary
/// by about 1%.
inline constexpr double kFasterShare = 0.98;

/// Measures plans on a device. Not thread-safe.
class PlanTimer {
 public:
  virtual ~PlanTimer() = default;
  /// Best time of several runs, in seconds. Throws DeviceError if the plan fails or there is too little memory.
  [[nodiscard]] virtual double seconds(const ConvProblem& problem, ConvPlan& plan) = 0;
  /// Current time in seconds, from an arbitrary start. It bounds the time of a compile.
  [[nodiscard]] virtual double now_s() = 0;
  /// Frees the operands' memory; the next seconds() allocates it again.
  virtual void release() = 0;
};
/// Timer for a CUDA device. It repeats the plan in a CUDA graph between two events, on operands that it allocates.
[[nodiscard]] std::unique_ptr<PlanTimer> make_cuda_plan_timer(int device);

/// Returns the plans to time: deterministic ones with at most kMostWorkspaceBytes, among the library's first
/// kTimedPlans.
[[nodiscard]] std::vector<std::unique_ptr<ConvPlan>> timed_plans(Convolutions& library, const ConvProblem& problem);

/// Wraps `library`. Its fastest() returns the plan in `cache`; without one, it times timed_plans() and adds the fastest
/// to the cache. Layers with equal problems share one timing.
/// @param timer null: no timing; problems that the cache lacks get the plan of first()
[[nodiscard]] std::unique_ptr<Convolutions> make_timed_convolutions(std::unique_ptr<Convolutions> library,
                                                                    std::unique_ptr<PlanTimer> timer, PlanCache cache);

}  // namespace roentgen::engine::cuda
