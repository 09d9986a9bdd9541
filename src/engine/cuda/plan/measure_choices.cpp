// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cuda/plan/measure_choices.h"

#include <map>
#include <string>
#include <utility>

#include "core/error.h"
#include "engine/cuda/plan/executable.h"

namespace roentgen::engine::cuda {
namespace {

// Times of a problem's plans, and the heuristic's choice.
struct Measured {
  std::string chosen;
  std::map<std::string, double> seconds;
};

// Returns the first plan of every problem, and times every plan of the problem.
class SurveyedConvolutions final : public Convolutions {
 public:
  explicit SurveyedConvolutions(const MeasuredDevice& device) : device_(device) {}
  [[nodiscard]] std::vector<std::unique_ptr<ConvPlan>> plans(const ConvProblem& problem, std::size_t most) override {
    return device_.convolutions.plans(problem, most);
  }
  [[nodiscard]] std::unique_ptr<ConvPlan> plan_named(const ConvProblem& problem, const std::string& name) override {
    return device_.convolutions.plan_named(problem, name);
  }
  [[nodiscard]] std::unique_ptr<ConvPlan> fastest(const ConvProblem& problem) override {
    std::unique_ptr<ConvPlan> plan = first(problem);
    order_.push_back(problem.text());
    if (!measured_.contains(order_.back())) measured_[order_.back()] = measure(problem, *plan);
    return plan;
  }
  [[nodiscard]] const std::vector<std::string>& order() const { return order_; }  ///< problem of each call of fastest()
  [[nodiscard]] const Measured& measured(const std::string& problem) const { return measured_.at(problem); }

 private:
  Measured measure(const ConvProblem& problem, ConvPlan& chosen) {
    Measured result{.chosen = chosen.name(), .seconds = {{chosen.name(), device_.timer.seconds(problem, chosen)}}};
    for (const std::unique_ptr<ConvPlan>& plan : timed_plans(device_.convolutions, problem)) {
      if (result.seconds.contains(plan->name())) continue;
      try {
        result.seconds[plan->name()] = device_.timer.seconds(problem, *plan);
      } catch (const DeviceError&) {
        // Skips a plan that cannot run.
      }
    }
    return result;
  }

  MeasuredDevice device_;
  std::vector<std::string> order_;
  std::map<std::string, Measured> measured_;  // by problem
};

}  // namespace

std::vector<MeasuredChoice> measure_choices(const graph::Graph& graph, CompileOptions options,
                                            const MeasuredDevice& device) {
  if (options.form != Form::Training || !options.choices.empty()) {
    throw ConfigError(error_text("engine.cuda", "timing of cuDNN plans", "training options without stored plans",
                                 "other options", "reporting this bug"));
  }
  options.algorithms = Algorithms::Auto;
  SurveyedConvolutions surveyed(device);
  const Plan plan = make_plan(graph, options, surveyed, device.multiprocessors);
  device.timer.release();
  std::vector<MeasuredChoice> all;
  for (const PlanEntry& entry : plan.entries) {
    if (!plan.choices.contains(entry.name)) continue;
    const std::string& problem = surveyed.order().at(all.size());
    const Measured& measured = surveyed.measured(problem);
    all.push_back({.name = entry.name, .layer = problem, .chosen = measured.chosen, .seconds = measured.seconds});
  }
  RG_ASSERT(all.size() == surveyed.order().size());
  return all;
}

}  // namespace roentgen::engine::cuda
