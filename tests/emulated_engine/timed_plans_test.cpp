// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests timed convolution plans of the CUDA engine, with a timer whose times the tests set.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "core/folder_testing.h"
#include "engine/cuda/conv/timed_convolutions.h"
#include "engine/cuda/plan/executable.h"
#include "engine/cuda/plan/measure_choices.h"
#include "graph/loss.h"
#include "io/file.h"
#include "models/model.h"
#include "tests/emulated_cuda/device.h"
#include "tests/emulated_engine/plain_convolutions.h"

namespace roentgen::emulated {
namespace {
using engine::Algorithms;
using engine::CompileOptions;
using engine::Form;
using engine::Plan;
using engine::cuda::ConvPlan;
using engine::cuda::ConvProblem;
using engine::cuda::make_timed_convolutions;
using engine::cuda::PlanCache;
using engine::cuda::PlanTimer;

constexpr const char* kDevice = "Emulated sm_90 cuDNN 0";

// Calls of the fake timer, and the times that it returns.
struct Timings {
  std::map<std::string, double> seconds{{"forward", 2e-3}, {"backward", 1e-3}};  // time of each plan
  // Time that passes on the clock in each call
  double second_of_each = 0.0;
  std::vector<std::string> problems;  // problem of each call
  int releases = 0;
  double clock_s = 0.0;
};

class FakeTimer final : public PlanTimer {
 public:
  explicit FakeTimer(Timings& timings) : timings_(timings) {}
  [[nodiscard]] double seconds(const ConvProblem& problem, ConvPlan& plan) override {
    timings_.problems.push_back(problem.text());
    timings_.clock_s += timings_.second_of_each;
    const auto found = timings_.seconds.find(plan.name());
    if (found == timings_.seconds.end()) throw DeviceError("the plan failed");
    return found->second;
  }
  [[nodiscard]] double now_s() override { return timings_.clock_s; }
  void release() override { ++timings_.releases; }

 private:
  Timings& timings_;
};

graph::Graph network() {
  return graph::with_loss(
      models::build_model({.name = "resnet18", .labels = 3, .channels = 1, .image_px = 32, .batch = 2, .width = 8}),
      {});
}

class TimedPlans : public ::testing::Test {
 protected:
  std::unique_ptr<engine::Executable> compile(const CompileOptions& options, const std::string& device = kDevice) {
    return engine::cuda::make_executable(
        graph_, options,
        {.device = std::make_unique<EmulatedDevice>(),
         .convolutions = make_timed_convolutions(make_plain_convolutions(), std::make_unique<FakeTimer>(timings_),
                                                 PlanCache(file_, device)),
         .multiprocessors = 2});
  }
  // Choices of a new compilation for training.
  std::map<std::string, std::string> choices(const std::string& device = kDevice) {
    return compile({.dtype = DType::Bf16}, device)->plan().choices;
  }
  // Number of plan entries for which this convolution plan was chosen.
  static std::ptrdiff_t count_of(const std::map<std::string, std::string>& choices, std::string_view plan) {
    return std::ranges::count_if(choices, [&](const auto& choice) { return choice.second == plan; });
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "cuda" / "plans.json";
  graph::Graph graph_ = network();
  Timings timings_;
};

TEST_F(TimedPlans, training_takes_the_fastest_of_each_problem_timed_once) {
  const auto chosen = choices();
  EXPECT_EQ(count_of(chosen, "forward"), 0);
  EXPECT_GT(count_of(chosen, "backward"), 50);
  // Times each problem once with both plans, although several layers share a problem.
  const std::set<std::string> problems(timings_.problems.begin(), timings_.problems.end());
  EXPECT_EQ(timings_.problems.size(), 2 * problems.size());
  EXPECT_LT(static_cast<std::ptrdiff_t>(problems.size()), count_of(chosen, "backward"));
  EXPECT_EQ(timings_.releases, 1);
}

TEST_F(TimedPlans, first_plan_stays_unless_another_is_clearly_faster) {
  timings_.seconds = {{"forward", 1.00e-3}, {"backward", 0.99e-3}};
  EXPECT_EQ(count_of(choices(), "backward"), 0);
}

TEST_F(TimedPlans, second_compile_takes_kept_plans_and_times_nothing) {
  const auto first = choices();
  timings_.problems.clear();
  timings_.seconds = {{"forward", 1e-3}, {"backward", 2e-3}};
  EXPECT_EQ(choices(), first);
  EXPECT_TRUE(timings_.problems.empty());
}

TEST_F(TimedPlans, plan_without_a_timer_is_that_of_the_cache) {
  const std::string hash = compile({.dtype = DType::Bf16})->plan().hash();
  const auto convolutions = make_timed_convolutions(make_plain_convolutions(), nullptr, PlanCache(file_, kDevice));
  EXPECT_EQ(engine::cuda::make_plan(graph_, {.dtype = DType::Bf16}, *convolutions, 2).hash(), hash);
  const auto uncached = make_timed_convolutions(make_plain_convolutions(), nullptr, PlanCache({}, kDevice));
  const Plan plan = engine::cuda::make_plan(graph_, {.dtype = DType::Bf16}, *uncached, 2);
  EXPECT_EQ(count_of(plan.choices, "backward"), 0);
}

TEST_F(TimedPlans, files_that_are_broken_or_of_another_device_are_replaced_with_one_warning) {
  const auto expect_replaced = [&](std::string_view reason) {
    timings_.problems.clear();
    testing::internal::CaptureStderr();
    static_cast<void>(choices());
    const std::string log = testing::internal::GetCapturedStderr();
    EXPECT_NE(log.find("are not used: "), std::string::npos) << log;
    EXPECT_EQ(log.find("are not used: "), log.rfind("are not used: ")) << log;
    EXPECT_NE(log.find(reason), std::string::npos) << log;
    EXPECT_FALSE(timings_.problems.empty());
    timings_.problems.clear();
    static_cast<void>(choices());
    EXPECT_TRUE(timings_.problems.empty()) << "the file was not replaced";
  };
  static_cast<void>(choices("Another card"));
  expect_replaced("it is for Another card, not Emulated sm_90 cuDNN 0");
  const std::string text = io::read_text(file_).or_throw();
  for (const std::string& broken : {std::string(), text.substr(0, text.size() / 2), std::string("[1]\n")}) {
    std::ofstream(file_) << broken;
    expect_replaced(file_.string());
  }
  std::ofstream(file_) << R"({"version": 2, "device": "Emulated sm_90 cuDNN 0", "plans": {}})";
  expect_replaced("it has version 2");
}

TEST_F(TimedPlans, kept_plan_that_the_library_lacks_is_timed_again) {
  const auto wanted = choices();
  PlanCache cache(file_, kDevice);
  const std::string problem = timings_.problems.front();
  cache.add(problem, "e17,2=3");
  cache.save();
  timings_.problems.clear();
  EXPECT_EQ(choices(), wanted);
  EXPECT_EQ(timings_.problems, (std::vector<std::string>{problem, problem}));
}

TEST_F(TimedPlans, caches_of_two_processes_keep_the_plans_of_both) {
  PlanCache one(file_, kDevice), other(file_, kDevice);
  EXPECT_EQ(one.find("a"), std::nullopt);
  EXPECT_EQ(other.find("b"), std::nullopt);
  one.add("a", "first");
  other.add("b", "second");
  one.save();
  other.save();
  PlanCache both(file_, kDevice);
  EXPECT_EQ(both.find("a"), "first");
  EXPECT_EQ(both.find("b"), "second");
}

TEST_F(TimedPlans, folder_that_cannot_be_written_costs_a_warning) {
  std::ofstream(folder_.path() / "cuda") << "a file where the folder belongs";
  testing::internal::CaptureStderr();
  EXPECT_GT(count_of(choices(), "backward"), 0);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("cuDNN plans are not stored: "), std::string::npos);
}

TEST_F(TimedPlans, stored_choices_are_obeyed_and_nothing_is_timed) {
  auto stored = choices();
  bool is_forward = false;
  for (auto& [key, choice] : stored) {
    if (choice == "backward" && (is_forward = !is_forward)) choice = "forward";
  }
  timings_.problems.clear();
  EXPECT_EQ(compile({.choices = stored})->plan().choices, stored);
  EXPECT_TRUE(timings_.problems.empty());
}

TEST_F(TimedPlans, measured_choices_of_a_file_are_taken_instead) {
  static_cast<void>(choices());
  const std::string problem = timings_.problems.front();
  timings_.problems.clear();
  std::filesystem::remove(file_);
  const auto executable = compile({.choice = {.measured = {{problem, "forward"}}}, .dtype = DType::Bf16});
  EXPECT_GT(count_of(executable->plan().choices, "backward"), 0);
  EXPECT_EQ(executable->plan().measured_choices, count_of(executable->plan().choices, "forward"));
  EXPECT_GT(executable->plan().measured_choices, 0);
  EXPECT_EQ(std::ranges::count(timings_.problems, problem), 0);
}

TEST_F(TimedPlans, heuristic_and_inference_time_nothing_and_do_not_look_at_kept_plans) {
  static_cast<void>(choices());
  timings_.problems.clear();
  for (const CompileOptions& options : {CompileOptions{.algorithms = Algorithms::Heuristic, .dtype = DType::Bf16},
                                        CompileOptions{.form = Form::Inference}}) {
    const auto chosen = compile(options)->plan().choices;
    EXPECT_EQ(count_of(chosen, "backward"), 0);
    EXPECT_GT(count_of(chosen, "forward"), 0);
  }
  EXPECT_TRUE(timings_.problems.empty());
}

TEST_F(TimedPlans, time_of_a_compile_is_bounded_and_the_rest_is_timed_by_the_next) {
  timings_.second_of_each = 3.0;
  const auto chosen = choices();
  const auto timed = timings_.problems.size();
  EXPECT_LE(3.0 * static_cast<double>(timed), engine::cuda::kMostTimingSeconds + 2 * 3.0);
  EXPECT_GT(count_of(chosen, "forward"), 0);
  EXPECT_GT(count_of(chosen, "backward"), 0);
  const std::set<std::string> first(timings_.problems.begin(), timings_.problems.end());
  timings_.problems.clear();
  static_cast<void>(choices());
  EXPECT_FALSE(timings_.problems.empty());
  for (const std::string& problem : timings_.problems) EXPECT_FALSE(first.contains(problem)) << problem;
}

TEST_F(TimedPlans, plans_that_fail_are_left_out) {
  timings_.seconds = {{"forward", 1.0}};
  EXPECT_EQ(count_of(choices(), "backward"), 0);
  // If no plan can be timed, the heuristic's first plan is used and not stored.
  std::filesystem::remove(file_);
  timings_.seconds = {};
  EXPECT_EQ(count_of(choices(), "backward"), 0);
  EXPECT_FALSE(std::filesystem::exists(file_));
}

TEST_F(TimedPlans, measured_choices_have_every_plan_of_every_choice) {
  FakeTimer timer(timings_);
  const auto library = make_plain_convolutions();
  const auto measured = engine::cuda::measure_choices(graph_, {.dtype = DType::Bf16},
                                                      {.convolutions = *library, .timer = timer, .multiprocessors = 2});
  std::map<std::string, std::string> chosen;
  for (const engine::MeasuredChoice& choice : measured) {
    chosen[choice.name] = choice.chosen;
    EXPECT_EQ(choice.seconds, timings_.seconds);
    EXPECT_NE(choice.layer.find(choice.name.ends_with("/forward")         ? "forward "
                                : choice.name.ends_with("/backward_data") ? "data_gradient "
                                                                          : "weight_gradient "),
              std::string::npos)
        << choice.name << ": " << choice.layer;
  }
  auto wanted = compile({.algorithms = Algorithms::Heuristic, .dtype = DType::Bf16})->plan().choices;
  wanted.erase(std::string(engine::kDtypeChoice));
  EXPECT_EQ(chosen, wanted);
  EXPECT_EQ(timings_.releases, 1);
  EXPECT_THROW(static_cast<void>(engine::cuda::measure_choices(graph_, {.form = Form::Inference},
                                                               {.convolutions = *library, .timer = timer})),
               ConfigError);
}

TEST(ConvProblem, texts_tell_problems_apart) {
  const ConvProblem problem{.images = 2, .channels = 8, .size = {6, 7}, .out_channels = 16, .kernel = {3, 5}};
  EXPECT_EQ(problem.text(), "forward bf16 n2 c8 6x7 o16 k3x5 s1x1 p0x0 d1x1 g1");
  std::set<std::string> texts{problem.text()};
  const auto expect_other = [&](auto change) {
    ConvProblem other = problem;
    change(other);
    EXPECT_TRUE(texts.insert(other.text()).second) << other.text();
  };
  expect_other([](ConvProblem& p) { p.pass = engine::cuda::ConvPass::DataGradient; });
  expect_other([](ConvProblem& p) { p.pass = engine::cuda::ConvPass::WeightGradient; });
  expect_other([](ConvProblem& p) { p.dtype = DType::F16; });
  expect_other([](ConvProblem& p) { p.dtype = DType::F32; });
  expect_other([](ConvProblem& p) { p.dtype = DType::F32, p.may_round_to_tf32 = false; });
  expect_other([](ConvProblem& p) { p.images = 3; });
  expect_other([](ConvProblem& p) { p.channels = 16; });
  expect_other([](ConvProblem& p) { p.size = {7, 6}; });
  expect_other([](ConvProblem& p) { p.out_channels = 8; });
  expect_other([](ConvProblem& p) { p.kernel = {5, 3}; });
  expect_other([](ConvProblem& p) { p.stride = {2, 1}; });
  expect_other([](ConvProblem& p) { p.pad = {1, 0}; });
  expect_other([](ConvProblem& p) { p.dilation = {1, 2}; });
  expect_other([](ConvProblem& p) { p.groups = 2; });
}

}  // namespace
}  // namespace roentgen::emulated
