// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cuda/conv/timed_convolutions.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/log.h"

namespace roentgen::engine::cuda {
namespace {

class TimedConvolutions final : public Convolutions {
 public:
  TimedConvolutions(std::unique_ptr<Convolutions> library, std::unique_ptr<PlanTimer> timer, PlanCache cache)
      : library_(std::move(library)), timer_(std::move(timer)), cache_(std::move(cache)) {}

  [[nodiscard]] std::vector<std::unique_ptr<ConvPlan>> plans(const ConvProblem& problem, std::size_t most) override {
    return library_->plans(problem, most);
  }
  [[nodiscard]] std::unique_ptr<ConvPlan> plan_named(const ConvProblem& problem, const std::string& name) override {
    return library_->plan_named(problem, name);
  }

  [[nodiscard]] std::unique_ptr<ConvPlan> fastest(const ConvProblem& problem) override {
    const std::string text = problem.text();
    const auto found = chosen_.find(text);
    if (found != chosen_.end()) return library_->plan_named(problem, found->second);
    std::unique_ptr<ConvPlan> plan = kept(problem, text);
    if (plan != nullptr) {
      ++counts_.kept;
    } else if (has_time()) {
      const double begin_s = timer_->now_s();
      plan = measured(problem, text);
      counts_.seconds += timer_->now_s() - begin_s;
    }
    if (plan == nullptr) {
      ++counts_.heuristic;
      plan = first(problem);
    }
    chosen_[text] = plan->name();
    return plan;
  }

  void finish_choice() override {
    cache_.save();
    if (timer_ != nullptr && counts_.all() > 0) {
      timer_->release();
      log::info(fmt::format("cuDNN plans of {} convolutions: {} timed in {:.1f} s, {} read from {}, {} by heuristic",
                            counts_.all(), counts_.timed, counts_.seconds, counts_.kept,
                            cache_.file().empty() ? "no file" : cache_.file().string(), counts_.heuristic));
    }
    counts_ = {};
  }

 private:
  /// Number of problems by origin of their plan.
  struct Counts {
    int kept = 0, timed = 0, heuristic = 0;
    double seconds = 0.0;  // time spent on timing plans
    [[nodiscard]] int all() const { return kept + timed + heuristic; }
  };

  [[nodiscard]] bool has_time() const { return timer_ != nullptr && counts_.seconds < kMostTimingSeconds; }

  // Plan in the cache; null if the cache has none that this library can run.
  std::unique_ptr<ConvPlan> kept(const ConvProblem& problem, const std::string& text) {
    const std::optional<std::string> name = cache_.find(text);
    if (!name) return nullptr;
    try {
      std::unique_ptr<ConvPlan> plan = library_->plan_named(problem, *name);
      if (plan->is_deterministic()) return plan;
    } catch (const DeviceError&) {
      // Continues without a plan from the cache, so that the caller times the problem.
    }
    return nullptr;
  }

  // Fastest plan by timing; null if none of the plans could be timed.
  std::unique_ptr<ConvPlan> measured(const ConvProblem& problem, const std::string& text) {
    std::unique_ptr<ConvPlan> best;
    double least_s = 0.0;
    for (std::unique_ptr<ConvPlan>& plan : timed_plans(*library_, problem)) {
      const std::optional<double> time_s = seconds_of(problem, *plan);
      if (!time_s || (best != nullptr && *time_s >= kFasterShare * least_s)) continue;
      best = std::move(plan);
      least_s = *time_s;
    }
    if (best == nullptr) return nullptr;
    ++counts_.timed;
    cache_.add(text, best->name());
    return best;
  }

  std::optional<double> seconds_of(const ConvProblem& problem, ConvPlan& plan) {
    try {
      return timer_->seconds(problem, plan);
    } catch (const DeviceError& error) {
      log::debug(fmt::format("convolution plan {} of {}: {}", plan.name(), problem.text(), error.what()));
      return std::nullopt;
    }
  }

  std::unique_ptr<Convolutions> library_;
  std::unique_ptr<PlanTimer> timer_;
  PlanCache cache_;
  std::map<std::string, std::string> chosen_;  // name of the chosen plan, by problem
  Counts counts_;
};

}  // namespace

std::vector<std::unique_ptr<ConvPlan>> timed_plans(Convolutions& library, const ConvProblem& problem) {
  std::vector<std::unique_ptr<ConvPlan>> plans = library.plans(problem, kTimedPlans);
  std::erase_if(plans, [](const auto& plan) {
    return !plan->is_deterministic() || plan->workspace_bytes() > kMostWorkspaceBytes;
  });
  return plans;
}

std::unique_ptr<Convolutions> make_timed_convolutions(std::unique_ptr<Convolutions> library,
                                                      std::unique_ptr<PlanTimer> timer, PlanCache cache) {
  return std::make_unique<TimedConvolutions>(std::move(library), std::move(timer), std::move(cache));
}

}  // namespace roentgen::engine::cuda
