// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests training in f16 on the emulated CUDA engine: the loss scale, and that an update with an overflow changes
// nothing.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/emulated_engine/steps_testing.h"

namespace roentgen::emulated {
namespace {
using engine::CompileOptions;
using engine::LossScale;
using engine::conformance::Case;

/// Factor that makes any gradient overflow f16.
constexpr double kHuge = 0x1p90;

CompileOptions in_f16(double start, std::int64_t growth_updates = 2000) {
  return {.slots = 1, .dtype = DType::F16, .loss_scaling = {.start = start, .growth_updates = growth_updates}};
}

/// A small network in f16 that uses slot 0.
struct Half {
  explicit Half(const CompileOptions& options, EmulatedEngine engine = EmulatedEngine()) {
    executable = engine.compile(network("resnet18", 2, models::Stem::ImageNet, 8).graph, options);
    initialise(*executable, kSeed);
    fill_slot(*executable, 0, kSeed);
  }
  void compute() const {
    executable->begin_update();
    executable->forward();
    executable->backward({});
  }
  void update(double clip_norm = 0.0) const {
    const engine::UpdateRange all{.begin = 0, .count = executable->parameters().elements()};
    executable->update(engine::Sgd{.momentum = 0.0}, {.target = executable->parameters(),
                                                      .source = executable->gradients(),
                                                      .ranges = {&all, 1},
                                                      .lr = 0.01,
                                                      .clip_norm = clip_norm});
  }
  void step() const {
    compute();
    update();
  }
  [[nodiscard]] std::vector<float> weights() const { return executable->parameters().values(); }
  [[nodiscard]] LossScale scale() const { return executable->read_loss_scale().value(); }
  [[nodiscard]] float* image() const { return reinterpret_cast<float*>(executable->slot(0, 0).data()); }

  std::unique_ptr<engine::Executable> executable;
};

TEST(EmulatedCuda, overflow_changes_no_weight_and_halves_the_loss_scale) {
  const Half half(in_f16(kHuge));
  const std::vector<float> weights = half.weights();
  half.step();
  EXPECT_TRUE(std::isfinite(half.executable->read("loss")[0]));
  EXPECT_EQ(half.executable->loss_scale()->scale, kHuge) << "what the forward began with";
  EXPECT_EQ(half.scale(), (LossScale{.scale = kHuge / 2.0, .skipped = 1}));
  EXPECT_EQ(half.weights(), weights);
  for (const float value : half.executable->state().values()) EXPECT_TRUE(std::isfinite(value));
  half.step();
  EXPECT_EQ(half.executable->loss_scale()->scale, kHuge / 2.0);
  EXPECT_EQ(half.scale().skipped, 2);
}

TEST(EmulatedCuda, loss_scale_doubles_after_good_updates_alone) {
  const Half half(in_f16(64.0, 3));
  const std::vector<float> weights = half.weights();
  half.step();
  half.step();
  EXPECT_EQ(half.scale(), (LossScale{.scale = 64.0, .good_updates = 2}));
  half.step();
  EXPECT_EQ(half.scale(), (LossScale{.scale = 128.0}));
  EXPECT_NE(half.weights(), weights);
  // An update rule that is no optimizer, such as averaging weights, does not count as an update.
  const engine::UpdateRange all{.begin = 0, .count = half.executable->parameters().elements()};
  const auto average = half.executable->make_arena(engine::ArenaKind::Trained);
  half.executable->update(engine::Average{.share = 0.5},
                          {.target = *average, .source = half.executable->parameters(), .ranges = {&all, 1}});
  EXPECT_EQ(half.scale(), (LossScale{.scale = 128.0}));
}

TEST(EmulatedCuda, loss_that_is_not_finite_leaves_weights_and_loss_scale) {
  const Half half(in_f16(64.0));
  const std::vector<float> weights = half.weights();
  *half.image() = std::numeric_limits<float>::quiet_NaN();
  half.step();
  EXPECT_TRUE(std::isnan(half.executable->read("loss")[0]));
  EXPECT_EQ(half.scale(), (LossScale{.scale = 64.0}));
  EXPECT_EQ(half.weights(), weights);
  for (const float value : half.executable->state().values()) EXPECT_TRUE(std::isfinite(value));
}

// Scales are powers of two, so gradients have the same digits under all scales, except values that f16 cannot hold.
TEST(EmulatedCuda, updates_and_norms_are_without_the_loss_scale) {
  const Half one(in_f16(256.0)), other(in_f16(512.0));
  for (const Half* half : {&one, &other}) {
    half->compute();
    half->update(0.5);
  }
  const double norm = one.executable->read_norm();
  EXPECT_NEAR(other.executable->read_norm(), norm, 1e-3 * norm);
  const std::vector<float> a = one.weights(), b = other.weights();
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-5F) << i;
}

// All ranks get the same mean of gradients, so an overflow on one rank affects all.
TEST(EmulatedCuda, overflow_of_one_rank_skips_the_update_of_all) {
  const Half sound(in_f16(64.0)), overflowing(in_f16(kHuge));
  const std::vector<float> weights = sound.weights();
  sound.compute();
  overflowing.compute();
  overflowing.executable->set_loss_scale({.scale = 64.0});
  std::vector<float> mean = sound.executable->gradients().values();
  const std::vector<float> others = overflowing.executable->gradients().values();
  for (std::size_t i = 0; i < mean.size(); ++i) mean[i] = (mean[i] + others[i]) / 2.0F;
  for (const Half* rank : {&sound, &overflowing}) {
    rank->executable->gradients().upload(0, mean);
    rank->update();
    EXPECT_EQ(rank->weights(), weights);
    EXPECT_EQ(rank->scale(), (LossScale{.scale = 32.0, .skipped = 1}));
  }
}

TEST(EmulatedCuda, loss_scale_goes_on_where_it_is_set_and_is_absent_in_other_types) {
  const Half half(in_f16(64.0, 3));
  half.executable->set_loss_scale({.scale = 16.0, .good_updates = 2, .skipped = 5});
  half.step();
  EXPECT_EQ(half.scale(), (LossScale{.scale = 32.0, .skipped = 5}));
  const Half bf16({.slots = 1, .dtype = DType::Bf16});
  bf16.executable->set_loss_scale({.scale = 16.0});
  bf16.step();
  EXPECT_EQ(bf16.executable->loss_scale(), std::nullopt);
  EXPECT_EQ(bf16.executable->read_loss_scale(), std::nullopt);
}

TEST(EmulatedCuda, scaling_that_could_never_grow_is_refused) {
  EXPECT_THROW(Half(in_f16(0.0)), ConfigError);
  EXPECT_THROW(Half(in_f16(1.0, 0)), ConfigError);
}

// The first steps overflow, so that the scale changes while recorded CUDA graphs stay the same.
TEST(EmulatedCuda, steps_in_f16_give_the_same_bits_in_any_schedule) {
  const Case tested = network("resnet18", 2, models::Stem::ImageNet, 8);
  const CompileOptions options{.dtype = DType::F16, .loss_scaling = {.start = 0x1p24, .growth_updates = 2}};
  const Trained wanted = train(tested, options, EmulatedEngine({}, Graphs::None), engine::Sgd{}, 10, Slots::Kept);
  for (const float loss : wanted.losses) EXPECT_TRUE(std::isfinite(loss));
  EXPECT_NE(wanted.losses.front(), wanted.losses.back()) << "it learns";
  for (const Schedule schedule : {Schedule::LatestFirst, Schedule::OnlyNeeded, Schedule::Random}) {
    const DeviceOptions device{.schedule = schedule, .order = Order::Random, .seed = kSeed};
    const Trained got = train(tested, options, EmulatedEngine(device), engine::Sgd{}, 10);
    EXPECT_EQ(got.losses, wanted.losses) << "schedule " << static_cast<int>(schedule) << ", seed " << kSeed;
    EXPECT_EQ(got.parameters, wanted.parameters) << "schedule " << static_cast<int>(schedule) << ", seed " << kSeed;
  }
}

// Tolerance: half of the tolerance for bf16 in steps_test.cpp. f16 has three bits more, but ReLUs that flip reduce the
// gain.
TEST(EmulatedCuda, ten_steps_in_f16_follow_those_in_f32) {
  const Case tested = network("resnet18", 12, models::Stem::ImageNet, 8);
  const Trained wanted = train(tested, {.dtype = DType::F32}, EmulatedEngine(), engine::Sgd{}, 10);
  const CompileOptions options{.dtype = DType::F16, .loss_scaling = {.start = 1024.0}};
  const Trained got = train(tested, options, EmulatedEngine(), engine::Sgd{}, 10);
  for (std::size_t i = 0; i < wanted.losses.size(); ++i) {
    // Max pooling picks another candidate if several round to the same value, and the runs diverge from there, as in
    // bf16.
    EXPECT_NEAR(got.losses[i], wanted.losses[i], 0.05F * wanted.losses[i]) << "step " << i << ", seed " << kSeed;
  }
  EXPECT_NE(got.losses, wanted.losses);
}

}  // namespace
}  // namespace roentgen::emulated
