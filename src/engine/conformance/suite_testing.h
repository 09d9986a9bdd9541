// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Conformance tests that every engine runs. The test executable of an engine includes this file in one source file and
// adds a line such as
//   RG_CONFORMANCE(Cpu, [] { return make_engine("cpu"); }, {kF32, kBf16})
#pragma once

#include <limits>
#include <span>
#include <utility>

#include "core/random.h"
#include "engine/conformance/conformance_testing.h"
#include "engine/reference/update.h"
#include "engine/update/rule_cases_testing.h"

namespace roentgen::engine::conformance {

// Small buckets, so that even these small graphs have several.
TEST_P(Conformance, training) { expect_passes({.form = Form::Training, .threads = 2, .bucket_bytes = 2048}); }

// Inference folds batch norms into weights, which rounds each weight once more. The error bound has enough margin for
// that, since it is made for sums of many terms.
TEST_P(Conformance, inference) { expect_passes({.form = Form::Inference, .threads = 1}); }

/// Cases in f32 only: passes and recomputation do the same in every precision.
class ConformanceVariants : public Conformance {};

TEST_P(ConformanceVariants, training_unfused) { expect_passes({.form = Form::Training, .threads = 1, .fuse = "off"}); }

TEST_P(ConformanceVariants, training_keeping_all) {
  expect_passes({.form = Form::Training, .threads = 1, .recompute = "none"});
}

TEST_P(ConformanceVariants, training_recomputing_all) {
  expect_passes({.form = Form::Training, .threads = 2, .recompute = "all"});
}

TEST_P(ConformanceVariants, inference_unfused) {
  expect_passes({.form = Form::Inference, .threads = 1, .fuse = "off"});
}

/// Images given as 8-bit or 16-bit pixels, with one channel or three. Runs the networks whose image has such channels.
class ConformancePixels : public Conformance {
 protected:
  void expect_passes_with(DType dtype, Form form) {
    const graph::Graph& graph = GetParam().tested.graph;
    const auto channels = static_cast<std::size_t>(graph.node(graph.find("image")).shape[1]);
    InputNorm norm{.dtype = dtype, .mean = {0.485, 0.456, 0.406}, .stddev = {0.229, 0.224, 0.225}};
    norm.mean.resize(channels);
    norm.stddev.resize(channels);
    expect_passes({.form = form, .threads = 2, .input_norm = std::move(norm)});
  }
};

// Product, sum and both constants are rounded by 2^-24 of numbers below 5; the values have a root mean square near 1.
// Together the error is at most 2^-21 of it, which the bound allows in addition to the sums of the nodes.
TEST_P(ConformancePixels, training_of_8_bits) { expect_passes_with(DType::U8, Form::Training); }
TEST_P(ConformancePixels, training_of_16_bits) { expect_passes_with(DType::U16, Form::Training); }
TEST_P(ConformancePixels, inference_of_16_bits) { expect_passes_with(DType::U16, Form::Inference); }

/// Returns the networks that read an image of one or three channels.
[[nodiscard]] inline std::vector<Case> pixel_cases() {
  std::vector<Case> cases = network_cases();
  std::erase_if(cases, [](const Case& tested) {
    const graph::NodeId image = tested.graph.find("image");
    if (image < 0) return true;
    const Shape& shape = tested.graph.node(image).shape;
    return shape.rank() != 4 || (shape[1] != 1 && shape[1] != 3);
  });
  return cases;
}

/// An engine, an update rule, and the numbers to run the rule with.
struct UpdateTrial {
  MakeEngine make;
  std::string name;  ///< name in the form that GoogleTest accepts
  UpdateRule rule;
  double lr = 0.1;
  double scale = 0.5;
  double clip_norm = 0.0;
};

/// Prints the trial in GoogleTest's messages.
inline void PrintTo(const UpdateTrial& trial, std::ostream* out) { *out << trial.name; }

/// Returns all cases of update rules, and one case with clipped gradients.
[[nodiscard]] inline std::vector<UpdateTrial> update_trials(const MakeEngine& make) {
  std::vector<UpdateTrial> trials{{make, "sgd_clipped", Sgd{}, 0.1, 0.5, 1.5}};
  for (const RuleCase& tested : rule_cases()) {
    trials.push_back({make, tested.name, tested.rule, tested.lr, is_optimizer(tested.rule) ? 0.5 : 1.0});
  }
  return trials;
}

/// Name of a trial in the form that GoogleTest accepts.
inline std::string rule_name(const testing::TestParamInfo<UpdateTrial>& info) { return info.param.name; }

/// Tests update rules on the arenas of an executable.
class UpdateConformance : public testing::TestWithParam<UpdateTrial> {
 protected:
  /// Arena that the rule changes, and the arenas of the rule's state.
  struct Memory {
    Arena& target;
    std::vector<std::unique_ptr<Arena>> owned{};
    std::vector<Arena*> state{};
  };
  void add_state(Memory& memory) const {
    for (std::size_t i = 0; i < state_of(GetParam().rule).size(); ++i) {
      memory.owned.push_back(executable_->make_arena(ArenaKind::Trained));
      memory.state.push_back(memory.owned.back().get());
    }
  }
  static void expect_near(const std::vector<float>& got, const std::vector<float>& expected, double bound) {
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      // The comparison is false for NaN.
      ASSERT_TRUE(std::abs(static_cast<double>(got[i]) - static_cast<double>(expected[i])) < bound)
          << "element " << i << ": " << got[i] << ", not " << expected[i];
    }
  }
  [[nodiscard]] UpdateWork work(const Memory& memory, std::int64_t step) const {
    return {.target = memory.target,
            .source = *source_,
            .state = memory.state,
            .ranges = ranges_,
            .lr = GetParam().lr,
            .step = step,
            .scale = GetParam().scale,
            .clip_norm = GetParam().clip_norm};
  }
  void SetUp() override {
    executable_ = GetParam().make()->compile(network_cases().front().graph, {.threads = 2});
    initialise(*executable_, 1);
    source_ = executable_->make_arena(ArenaKind::Trained);
    for (const ParameterSlice& slice : executable_->slices()) {
      const bool is_weight = executable_->graph().parameter(slice.parameter).role == graph::Role::Weight;
      ranges_.push_back(
          {.begin = slice.begin, .count = slice.count, .weight_decay = is_weight ? 0.01 : 0.0, .is_layer = is_weight});
    }
  }
  void draw_source(std::int64_t step) {
    for (const ParameterSlice& slice : executable_->slices()) {
      Random random(static_cast<std::uint64_t>(step), RandomStage::Test, static_cast<std::uint64_t>(slice.parameter));
      std::vector<float> values(executable_->graph().parameter(slice.parameter).shape.elements());
      for (float& value : values) value = static_cast<float>(random.uniform(-1.0, 1.0));
      executable_->load(slice.parameter, values, *source_);
    }
  }

  std::unique_ptr<Executable> executable_;
  std::unique_ptr<Arena> source_;
  std::vector<UpdateRange> ranges_;
};

TEST_P(UpdateConformance, follows_the_reference_and_leaves_padding_zero) {
  const std::unique_ptr<Arena> wanted = executable_->make_arena(ArenaKind::Trained);
  copy_arena(executable_->parameters(), *wanted);
  Memory engines{executable_->parameters()}, reference{*wanted};
  add_state(engines);
  add_state(reference);
  executable_->begin_update();
  for (std::int64_t step = 1; step <= 3; ++step) {
    draw_source(step);
    executable_->update(GetParam().rule, work(engines, step)).wait();
    reference::update(GetParam().rule, work(reference, step));
  }
  // Three float32 updates, each rounded by 2^-24 of a value below 4. Division by a root adds its relative error.
  expect_near(executable_->parameters().values(), wanted->values(), 2e-6);
  for (std::size_t i = 0; i < engines.state.size(); ++i) {
    SCOPED_TRACE(state_of(GetParam().rule)[i]);
    // At most nine roundings, each by 2^-24 of the largest value.
    const std::vector<float> state = reference.state[i]->values();
    const float largest =
        std::max(1.0F, std::abs(*std::ranges::max_element(state, {}, [](float x) { return std::abs(x); })));
    expect_near(engines.state[i]->values(), state, 9 * 0x1p-24 * static_cast<double>(largest));
  }
}

/// Tests of an engine on one network, for behaviour that does not depend on the case.
class StepConformance : public testing::TestWithParam<MakeEngine> {
 protected:
  void SetUp() override {
    executable_ = GetParam()()->compile(network_cases().front().graph, {.slots = 1});
    initialise(*executable_, 7);
    for (std::size_t i = 0; i < executable_->inputs().size(); ++i) {
      Random random(11, RandomStage::Test, i);
      for (float& value : input(i)) value = i == 0 ? static_cast<float>(random.normal()) : 1.0F;
    }
    executable_->begin_update();
  }
  [[nodiscard]] std::span<float> input(std::size_t i) {
    const std::span<std::byte> bytes = executable_->slot(static_cast<std::int64_t>(i), 0);
    return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
  }
  void step() {
    executable_->bind_slot(0);
    executable_->forward();
    executable_->backward({});
  }
  void update(double scale, double clip_norm) {
    const UpdateRange all{.begin = 0, .count = executable_->parameters().elements()};
    executable_->update(Sgd{.momentum = 0.0}, {.target = executable_->parameters(),
                                               .source = executable_->gradients(),
                                               .ranges = {&all, 1},
                                               .lr = 1.0,
                                               .scale = scale,
                                               .clip_norm = clip_norm});
  }

  std::unique_ptr<Executable> executable_;
};

TEST_P(StepConformance, changes_nothing_after_a_loss_that_is_not_finite) {
  const std::vector<float> weights = executable_->parameters().values();
  const float sound = std::exchange(input(0)[0], std::numeric_limits<float>::quiet_NaN());
  step();
  EXPECT_TRUE(std::isnan(executable_->read("loss")[0]));
  input(0)[0] = sound;
  step();  // runs another batch of the same update
  update(1.0, 0.0);
  EXPECT_EQ(executable_->parameters().values(), weights);
  for (const float value : executable_->state().values()) EXPECT_TRUE(std::isfinite(value)) << "running statistics";
  executable_->begin_update();
  step();
  update(1.0, 0.0);
  EXPECT_NE(executable_->parameters().values(), weights);
}

TEST_P(StepConformance, clips_by_the_norm_of_all_gradients) {
  step();
  const std::vector<float> weights = executable_->parameters().values(), gradients = executable_->gradients().values();
  double squares = 0.0;
  for (const float value : gradients) squares += static_cast<double>(value) * static_cast<double>(value);
  const double norm = 0.5 * std::sqrt(squares);
  update(0.5, norm / 4.0);
  EXPECT_NEAR(executable_->read_norm(), norm, 1e-6 * norm);
  const std::vector<float> got = executable_->parameters().values();
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], weights[i] - 0.125F * gradients[i], 1e-6F * (1.0F + std::abs(weights[i]))) << i;
  }
}

/// Defines all conformance tests for an engine: its name, a function that makes it, and its precisions.
#define RG_CONFORMANCE(Name, make, ...)                                                                          \
  INSTANTIATE_TEST_SUITE_P(Name, Conformance, testing::ValuesIn(trials(make, __VA_ARGS__)), test_name);          \
  INSTANTIATE_TEST_SUITE_P(Name, ConformanceVariants, testing::ValuesIn(trials(make, {kF32})), test_name);       \
  INSTANTIATE_TEST_SUITE_P(Name, ConformancePixels, testing::ValuesIn(trials(make, __VA_ARGS__, pixel_cases())), \
                           test_name);                                                                           \
  INSTANTIATE_TEST_SUITE_P(Name, UpdateConformance, testing::ValuesIn(update_trials(make)), rule_name);          \
  INSTANTIATE_TEST_SUITE_P(Name, StepConformance, testing::Values(MakeEngine(make)))

}  // namespace roentgen::engine::conformance
