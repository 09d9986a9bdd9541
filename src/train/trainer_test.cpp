// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests the training loop with image files and the reference engine: behaviour that does not depend on the engine.
#include "train/trainer.h"
#include "train/early_checks.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "io/file.h"
#include "io/json.h"
#include "io/safetensors.h"
#include "train/observer.h"
#include "train/ranks.h"
#include "train/resumed_run.h"
#include "train/trainer_testing.h"

namespace roentgen::train {
namespace {

using data::message_of;
using testing::HasSubstr;

TEST_F(Trainer, learns_what_can_be_learnt) {
  recipe_.train.epochs = 8;
  const TrainOutcome outcome = run("a");
  EXPECT_TRUE(outcome.is_finished);
  EXPECT_EQ(outcome.step, 8 * 4);
  EXPECT_LT(outcome.train_loss, 0.6);
  ASSERT_TRUE(outcome.best_value.has_value());
  EXPECT_GT(*outcome.best_value, 0.6) << "mean of about 1 for bright and 0.5, give or take 0.15, for noise";
  EXPECT_THAT(io::read_text(RunFolder(out_.path() / "a").aurocs()).or_throw(),
              testing::ContainsRegex("bright,(1|0[.]9)"));
}

TEST_F(Trainer, leaves_the_files_of_a_run) {
  const TrainOutcome outcome = run("a");
  const RunFolder folder(out_.path() / "a");
  const std::string log = io::read_text(folder.log()).or_throw();
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), outcome.step + 4);
  EXPECT_THAT(io::read_text(folder.aurocs()).or_throw(), testing::StartsWith("label,auc\nbright,"));
  EXPECT_THAT(io::read_text(folder.predictions()).or_throw(),
              testing::StartsWith("Image Index,prob_bright,prob_noise\nimg32.png,"));
  EXPECT_FALSE(std::filesystem::exists(folder.quarantine()));
  const Value plan = io::parse_json(io::read_text(folder.plan()).or_throw(), "plan").or_throw();
  EXPECT_EQ(plan.at("plan_hash").as_string(), resume_of("a").state.plan.hash);
  EXPECT_EQ(plan.at("choices").as_array().size(), resume_of("a").state.plan.choices.size());
  const auto reader = io::SafetensorsReader::open(folder.best()).or_throw();
  const CheckpointInfo info = from_metadata(reader.metadata(), "best").or_throw();
  EXPECT_EQ(info.labels, (std::vector<std::string>{"bright", "noise"}));
  EXPECT_EQ(info.training_patients.size(), 32U);
  EXPECT_EQ(info.epoch, outcome.best_epoch + 1);
  EXPECT_EQ(info.metric, "auroc");
  EXPECT_DOUBLE_EQ(info.metric_value, *outcome.best_value);
}

TEST_F(Trainer, stopped_and_resumed_anywhere_ends_with_the_same_bits) {
  recipe_.schedule.name = "plateau";
  recipe_.train.clip_norm = 0.5;
  run("straight");
  for (const std::int64_t stop : {0, 3, 4, 9}) {
    const std::string name = "stopped" + std::to_string(stop);
    if (stop == 0) {
      run(name);  // the run is complete, so resuming changes nothing
    } else {
      EXPECT_FALSE(run(name, Start::Fresh, stop).is_finished);
    }
    EXPECT_TRUE(run(name, Start::Resume).is_finished);
    expect_same_end(resume_of("straight"), resume_of(name));
    const auto log = [&](const std::string& run_name) {
      const std::string text = io::read_text(RunFolder(out_.path() / run_name).log()).or_throw();
      return std::count(text.begin(), text.end(), '\n');
    };
    EXPECT_EQ(log("straight"), log(name)) << "every update once in the log";
  }
}

// The reference engine would choose "plain", but the stored plan has another choice, as from another version.
TEST_F(Trainer, resumed_takes_the_stored_choices_of_kernels_and_no_others) {
  EXPECT_FALSE(run("a", Start::Fresh, 3).is_finished);
  Resume stored = resume_of("a");
  ASSERT_EQ(stored.state.plan.choices, (KernelChoices{{"fc/forward", "plain"}}));
  stored.state.plan.choices = {{"fc/forward", "fancy"}};
  rewrite_state("a", stored.state);
  EXPECT_TRUE(run("a", Start::Resume).is_finished);
  EXPECT_EQ(resume_of("a").state.plan.choices, stored.state.plan.choices);
}

// A different instruction set is an error. Kernels that differ for another reason, such as another version, only cause
// a warning.
TEST_F(Trainer, is_resumed_on_its_own_instruction_set_alone) {
  EXPECT_FALSE(run("a", Start::Fresh, 3).is_finished);
  Resume stored = resume_of("a");
  EXPECT_EQ(stored.state.plan.instruction_set, "reference");
  stored.state.plan.hash = "0123456789abcdef";
  stored.state.plan.instruction_set = "other";
  rewrite_state("a", stored.state);
  EXPECT_THAT(message_of<ConfigError>([&] { run("a", Start::Resume); }),
              HasSubstr("[train.resume] instruction set of the kernels: expected other, as at the start of the run, "
                        "got reference; try"));
  stored.state.plan.instruction_set = "";
  rewrite_state("a", stored.state);
  EXPECT_TRUE(run("a", Start::Resume).is_finished) << "of a version that stored none";
}

TEST_F(Trainer, resumed_by_the_default_takes_the_algorithms_of_the_run) {
  recipe_.train.algorithms = "direct";
  EXPECT_FALSE(run("a", Start::Fresh, 3).is_finished);
  const RunFolder folder(out_.path() / "a");
  Recipe now = recipe_;
  now.train.algorithms = TrainRecipe{}.algorithms;
  check_resumed_recipe(now, folder);
  EXPECT_EQ(now.train.algorithms, "direct");
}

TEST_F(Trainer, goes_on_counting_unreadable_images_where_the_run_stopped) {
  recipe_.train.max_bad = 0.04;  // allows 1.28 bad images of 32
  const std::string image = io::read_text(data_.path() / "img03.png").or_throw();
  data_.write("img03.png", "no image");
  EXPECT_FALSE(run("a", Start::Fresh, 4).is_finished) << "one epoch";
  EXPECT_EQ(resume_of("a").state.bad_samples.size(), 1U);
  data_.write("img03.png", image);
  data_.write("img05.png", "no image");
  EXPECT_THAT(message_of<DataError>([&] { run("a", Start::Resume); }), HasSubstr("got 2 of 32"));
}

TEST_F(Trainer, accumulation_is_the_mean_of_its_batches) {
  recipe_.augment = {};
  recipe_.optimizer.name = "sgd";
  recipe_.train.epochs = 1;
  recipe_.train.batch = 16;
  run("whole");
  recipe_.train.batch = 8;
  recipe_.train.accumulate = 2;
  run("halves");
  const Resume whole = resume_of("whole");
  const Resume halves = resume_of("halves");
  EXPECT_EQ(whole.state.step, halves.state.step);
  for (std::size_t i = 0; i < whole.weights.size(); ++i) {
    for (std::size_t j = 0; j < whole.weights[i].values.size(); ++j) {
      // Tolerance for two updates with f32 sums in another order.
      EXPECT_NEAR(whole.weights[i].values[j], halves.weights[i].values[j], 1e-6);
    }
  }
}

// Reads the tensors of best.safetensors.
std::vector<NamedTensor> best_of(const RunFolder& folder) {
  return read_tensors(io::SafetensorsReader::open(folder.best()).or_throw(), "");
}

TEST_F(Trainer, with_averaged_weights_resumes_to_the_same_bits) {
  recipe_.train.ema = 0.9;
  run("straight");
  EXPECT_FALSE(resume_of("straight").ema.empty());
  for (const std::int64_t stop : {3, 4, 9}) {
    const std::string name = "stopped" + std::to_string(stop);
    EXPECT_FALSE(run(name, Start::Fresh, stop).is_finished);
    EXPECT_TRUE(run(name, Start::Resume).is_finished);
    expect_same_end(resume_of("straight"), resume_of(name));
    const auto straight = best_of(RunFolder(out_.path() / "straight"));
    const auto resumed = best_of(RunFolder(out_.path() / name));
    for (std::size_t i = 0; i < straight.size(); ++i) EXPECT_EQ(straight[i].values, resumed[i].values);
  }
}

TEST_F(Trainer, remembers_the_pixels_it_was_trained_on) {
  run("straight");
  const std::vector<std::string> pixels = resume_of("straight").info.training_pixels;
  EXPECT_EQ(pixels.size(), 32U) << "all training images, no other";
  EXPECT_TRUE(std::is_sorted(pixels.begin(), pixels.end()));
  EXPECT_FALSE(run("stopped", Start::Fresh, 1).is_finished);
  EXPECT_EQ(resume_of("stopped").info.training_pixels.size(), 8U) << "a batch, whatever was decoded ahead";
  EXPECT_TRUE(run("stopped", Start::Resume).is_finished);
  EXPECT_EQ(resume_of("stopped").info.training_pixels, pixels);
}

TEST_F(Trainer, keeps_and_evaluates_averaged_weights_and_trains_the_others) {
  recipe_.train.epochs = 1;  // makes the last epoch the best
  run("plain");
  recipe_.train.ema = 0.9;
  run("averaged");
  const Resume plain = resume_of("plain");
  const Resume averaged = resume_of("averaged");
  const std::vector<NamedTensor> best = best_of(RunFolder(out_.path() / "averaged"));
  ASSERT_EQ(best.size(), averaged.ema.size());
  for (std::size_t i = 0; i < best.size(); ++i) {
    EXPECT_EQ(plain.weights[i].values, averaged.weights[i].values) << "training does not see the average";
    EXPECT_EQ(averaged.ema[i].name, "optimizer.ema." + best[i].name);
    EXPECT_EQ(averaged.ema[i].values, best[i].values);
    EXPECT_NE(best[i].values, averaged.weights[i].values);
  }
  const auto predictions = [&](const char* name) {
    return io::read_text(RunFolder(out_.path() / name).predictions()).or_throw();
  };
  EXPECT_NE(predictions("plain"), predictions("averaged"));
  recipe_.train.ema = 0.0;
  EXPECT_THAT(message_of<ConfigError>([&] { run("averaged", Start::Resume); }), HasSubstr("train.ema: expected 0.9"));
}

TEST_F(Trainer, batches_that_fill_no_update_are_left_out) {
  recipe_.train.accumulate = 3;  // 4 batches per epoch: one update of 3, 1 batch left over
  const TrainOutcome outcome = run("a");
  EXPECT_EQ(outcome.step, 4);
  recipe_.train.accumulate = 5;
  EXPECT_THAT(message_of<ConfigError>([&] { run("b"); }), HasSubstr("train.accumulate"));
}

TEST_F(Trainer, validates_in_f32_and_in_tf32_where_that_was_asked_for) {
  using engine::ComputeType;
  using engine::Form;
  recipe_.train.epochs = 1;
  for (const auto& [dtype, validation] : {std::pair("f32", ComputeType(DType::F32)),
                                          {"tf32", ComputeType::tf32()},
                                          {"bf16", ComputeType(DType::F32)},
                                          {"auto", ComputeType(DType::F32)}}) {
    engine_.types.clear();
    recipe_.train.dtype = dtype;
    run(dtype);
    ASSERT_EQ(engine_.types.size(), 2U);
    for (const auto& [form, type] : engine_.types) {
      EXPECT_EQ(type, form == Form::Training ? engine::parse_dtype(dtype) : validation) << dtype;
    }
  }
}

TEST_F(Trainer, tells_the_use_of_its_device) {
  // Monitor whose energy grows by 10 J with each reading.
  class Monitor final : public runtime::DeviceMonitor {
   public:
    std::optional<runtime::DeviceUse> read() override {
      return runtime::DeviceUse{
          .power_w = 600.0, .busy_percent = 97, .used_bytes = 3, .memory_bytes = 8, .energy_j = energy_j_ += 10.0};
    }

   private:
    double energy_j_ = 0.0;
  };
  EXPECT_FALSE(run("none").device);
  Monitor monitor;
  monitor_ = &monitor;
  recipe_.train.epochs = 1;
  const TrainOutcome outcome = run("watched");
  ASSERT_TRUE(outcome.device);
  EXPECT_DOUBLE_EQ(outcome.device->busy_percent, 97.0);
  EXPECT_GE(outcome.device->energy_j.value(), 10.0);
  EXPECT_DOUBLE_EQ(outcome.device->images_per_j.value(), 32.0 / *outcome.device->energy_j);
  const Value json = to_value(outcome, RunFolder(out_.path() / "watched"));
  EXPECT_EQ(json.at("device").at("most_used_bytes").as_integer(), 3);
  EXPECT_EQ(json.at("bound").as_string(), "compute-bound");
}

TEST_F(Trainer, stops_early_and_keeps_the_best_epoch) {
  recipe_.train.epochs = 50;
  recipe_.train.early_stop = 2;
  recipe_.optimizer.lr = 1e-9;  // too small to improve anything after the first epoch
  recipe_.train.select = "auroc";
  const TrainOutcome outcome = run("a");
  EXPECT_TRUE(outcome.is_finished);
  EXPECT_EQ(outcome.best_epoch, 0);
  EXPECT_EQ(outcome.epochs, 3);
}

TEST_F(Trainer, keeps_as_many_files_as_asked) {
  recipe_.train.keep_best = 2;
  recipe_.train.keep_last = 2;
  recipe_.train.checkpoint_steps = 3;
  run("a");
  std::int64_t best = 0;
  std::int64_t last = 0;
  for (const auto& entry : std::filesystem::directory_iterator(RunFolder(out_.path() / "a").checkpoints())) {
    best += entry.path().filename().string().starts_with("epoch-") ? 1 : 0;
    last += entry.path().filename().string().starts_with("resume") ? 1 : 0;
  }
  EXPECT_EQ(best, 2);
  EXPECT_EQ(last, 2);
}

TEST_F(Trainer, names_the_step_of_a_loss_that_is_not_finite) {
  engine_.form.makes_nan_loss = true;
  EXPECT_THAT(message_of<DataError>([&] { run("a"); }), AllOf(HasSubstr("step 1"), HasSubstr("nan")));
  EXPECT_FALSE(std::filesystem::exists(RunFolder(out_.path() / "a").resume()));
}

TEST_F(Trainer, refuses_to_resume_another_recipe_or_other_data) {
  run("a", Start::Fresh, 3);
  recipe_.optimizer.lr = 0.01;
  EXPECT_THAT(message_of<ConfigError>([&] { run("a", Start::Resume); }),
              HasSubstr("optimizer.lr: expected 0.05, as at the start of the run, got 0.01"));
  recipe_.optimizer.lr = 0.05;
  std::string csv = io::read_text(data_.path() / "labels.csv").or_throw();
  csv.replace(csv.find(",train,"), 7, ",val,");
  data_.write("labels.csv", csv);
  EXPECT_THAT(message_of<ConfigError>([&] { run("a", Start::Resume); }),
              AllOf(HasSubstr("train: expected 32 images of 32 patients"), HasSubstr("got 31 images of 31 patients")));
}

TEST_F(Trainer, resumes_with_more_epochs) {
  recipe_.train.epochs = 2;
  recipe_.schedule.name = "constant";
  run("a");
  testing::internal::CaptureStderr();
  run("a", Start::Resume);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("nothing left to do: this run ended after 2 epochs; to continue it, resume it with a larger "
                        "train.epochs"));
  recipe_.train.epochs = 4;
  run("a", Start::Resume);
  run("b");
  const Resume a = resume_of("a");
  const Resume b = resume_of("b");
  expect_same_end(a, b);
}

TEST_F(Trainer, goes_on_with_the_validation_that_failed) {
  run("straight");
  const auto image = data_.path() / "img40.png";
  const std::string whole = io::read_text(image).or_throw();
  for (const std::int64_t accumulate : {1, 3}) {  // 3: one of 4 batches is left over
    recipe_.train.accumulate = accumulate;
    const std::string straight = fmt::format("straight{}", accumulate);
    const std::string name = fmt::format("failed{}", accumulate);
    run(straight);
    data_.write("img40.png", whole.substr(0, whole.size() / 2));
    EXPECT_THAT(message_of<DataError>([&] { run(name); }), HasSubstr("img40.png"));
    data_.write("img40.png", whole);
    EXPECT_TRUE(run(name, Start::Resume).is_finished);
    expect_same_end(resume_of(straight), resume_of(name));
  }
}

TEST_F(Trainer, says_when_other_epochs_change_the_rates) {
  const std::string begun = to_toml(recipe_);
  const RunState state{.step = 3, .updates_per_epoch = 4};
  EXPECT_EQ(changed_rates(recipe_, begun, state), "");
  recipe_.train.epochs = 8;
  EXPECT_THAT(changed_rates(recipe_, begun, state),
              AllOf(HasSubstr("train.epochs was 4 and is 8"), HasSubstr("schedule cosine"), HasSubstr("step 4")));
  for (const char* independent : {"constant", "multistep", "plateau"}) {
    recipe_.schedule.name = independent;
    EXPECT_EQ(changed_rates(recipe_, begun, state), "") << independent;
  }
}

TEST(ResumedRun, tells_of_averages_that_changed) {
  const RunState state{.averages = "auto, bf16"};
  EXPECT_EQ(changed_averages(state, "auto, bf16"), "");
  EXPECT_EQ(changed_averages(state, ""), "") << "one process";
  EXPECT_EQ(changed_averages(RunState{}, "auto, f32"), "") << "a file of an older version";
  EXPECT_THAT(changed_averages(state, "auto, f32"),
              HasSubstr("--reduce and --wire auto, f32, started with auto, bf16"));
}

TEST(ResumedRun, tells_of_updates_that_changed) {
  const ServerOptions async{.way = UpdateWay::Async, .servers = 2, .staleness = 4};
  const RunState state{.updates = text_of(async)};
  EXPECT_EQ(changed_updates(state, async), "");
  EXPECT_EQ(changed_updates(RunState{}, async), "") << "a file of an older version";
  EXPECT_THAT(changed_updates(state, {}),
              HasSubstr("resumed with --update sync, started with --update async --servers 2 --staleness 4: "));
  EXPECT_THAT(changed_updates(state, {.way = UpdateWay::Async, .servers = 2}),
              HasSubstr("with --update async --servers 2 --staleness 16, "));
  EXPECT_THAT(changed_updates(state, {.way = UpdateWay::Servers, .servers = 1}),
              HasSubstr("with --update ps --servers 1, "));
}

}  // namespace
}  // namespace roentgen::train
