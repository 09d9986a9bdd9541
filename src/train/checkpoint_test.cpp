// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Weights, metadata and resume files: written files read back equal, and files that do not fit are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "core/error.h"
#include "data/source/source_testing.h"
#include "io/safetensors.h"
#include "train/ema.h"
#include "train/flat_model_testing.h"
#include "train/load_checkpoint.h"
#include "train/optimizer/optimizer.h"
#include "train/resume.h"

namespace roentgen::train {
namespace {

using data::message_of;
using data::TestFolder;
using testing::HasSubstr;

CheckpointInfo sample_info() {
  return {.labels = {"Mass", "Pleural, \"thick\""},
          .preprocess = data::preset("xray").to_value(),
          .recipe = "[train]\nepochs = 3\n",
          .graph = "graph \"x\"\n",
          .training_patients = {"00ab", "11cd"},
          .patient_salt = "salt",
          .patient_namespace = "nih",
          .splits = {{.split = "train", .images = 10, .patients = 4, .list_sha256 = "ff"}},
          .step = 12,
          .epoch = 3,
          .metric = "auroc",
          .metric_value = 0.1 + 0.2};
}

RunState sample_state() {
  RunState state{.step = 12,
                 .epoch = 2,
                 .step_in_epoch = 1,
                 .loss_sum = 0.1 + 0.2,
                 .best_score = -1.0 / 3.0,
                 .has_best = true,
                 .best_epoch = 1,
                 .epochs_without_improvement = 1,
                 .schedule = Value::Table{{"factor", 0.1}},
                 .kept_best = {{"epoch-002.safetensors", 0.9}, {"epoch-001.safetensors", 0.8}},
                 .bad_samples = {3, 4'000'000'000U},
                 .updates_per_epoch = 5,
                 .threads = 2,
                 .seed = 7,
                 .plan = {.choices = {{"dtype", "bf16"}, {"layer1.0.conv1/forward", "winograd"}},
                          .hash = "0123",
                          .choice_revision = 1,
                          .measured_sha256 = "4567",
                          .engine = "cuda"},
                 .averages = "ring, bf16",
                 .updates = "--update async --servers 2 --staleness 4",
                 .loss_scale = engine::LossScale{.scale = 0x1p14, .good_updates = 3, .skipped = 2}};
  return state;
}

std::unique_ptr<ReferenceExecutable> make_executable(float first) {
  auto executable = std::make_unique<ReferenceExecutable>(flat_model(2, 4, 3), engine::CompileOptions{});
  for (std::int32_t id = 0; id < 2; ++id) {
    std::vector<float> values(static_cast<std::size_t>(executable->graph().parameter(id).shape.elements()));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = first + static_cast<float>(i);
    executable->load(id, values);
  }
  return executable;
}

TEST(CheckpointInfo, survives_its_metadata) {
  const auto read = from_metadata(to_metadata(sample_info()), "file");
  ASSERT_TRUE(read.ok()) << read.error();
  EXPECT_EQ(read.value(), sample_info());
}

TEST(CheckpointInfo, names_the_key_that_is_missing_or_broken) {
  for (const auto& [key, value] : to_metadata(sample_info())) {
    auto metadata = to_metadata(sample_info());
    metadata.erase(key);
    if (key == "split_rule") continue;
    const auto read = from_metadata(metadata, "file");
    ASSERT_FALSE(read.ok()) << key;
    EXPECT_THAT(read.error(), HasSubstr("file")) << key;
  }
  auto metadata = to_metadata(sample_info());
  metadata["labels"] = "[\"Mass\"";
  EXPECT_THAT(from_metadata(metadata, "file").error(), HasSubstr("labels"));
}

TEST(CheckpointInfo, of_old_files_draws_splits_by_the_spelling_of_patients) {
  auto metadata = to_metadata(sample_info());
  EXPECT_EQ(metadata["split_rule"], "2");
  metadata.erase("split_rule");
  EXPECT_EQ(from_metadata(metadata, "file").value().split_rule, data::SplitRule::Written);
  metadata["split_rule"] = "3";
  EXPECT_THAT(from_metadata(metadata, "file").error(),
              HasSubstr("expected 1 or 2 under metadata key split_rule, got '3'"));
}

TEST(CheckpointInfo, has_pixel_hashes_where_there_are_any) {
  CheckpointInfo info = sample_info();
  info.training_pixels = {"0123456789abcdef", "ffffffffffffffff"};
  auto metadata = to_metadata(info);
  EXPECT_EQ(from_metadata(metadata, "file").value(), info);
  for (const char* bad : {"0123456789abcde", "0123456789abcdeg"}) {
    metadata["training_pixels"] = bad;
    EXPECT_THAT(from_metadata(metadata, "file").error(), HasSubstr("metadata key training_pixels"));
  }
}

TEST(CheckpointInfo, is_refused_without_a_key_of_the_preprocessing_or_with_an_unknown_loss) {
  for (const char* key : {"size", "channels", "fit", "filter", "intensity", "mean", "std"}) {
    CheckpointInfo info = sample_info();
    Value kept = Value::table();
    for (const auto& [name, value] : info.preprocess.as_table()) {
      if (name != key) kept.set(name, value);
    }
    info.preprocess = kept;
    const auto read = from_metadata(to_metadata(info), "file");
    ASSERT_FALSE(read.ok()) << key;
    EXPECT_THAT(read.error(), HasSubstr(std::string("preprocess with ") + key));
  }
  CheckpointInfo info = sample_info();
  info.preprocess = Value::array();
  EXPECT_FALSE(from_metadata(to_metadata(info), "file").ok());
  info = sample_info();
  info.loss = "hinge";
  EXPECT_THAT(from_metadata(to_metadata(info), "file").error(),
              HasSubstr("sigmoid or softmax under metadata key loss, got 'hinge'"));
}

// Files without these keys come from programs that behaved like the defaults expected here.
TEST(CheckpointInfo, of_an_older_file_decodes_jpeg_at_full_size) {
  CheckpointInfo info = sample_info();
  Value kept = Value::table();
  for (const auto& [name, value] : info.preprocess.as_table()) {
    if (name != "jpeg" && name != "resize") kept.set(name, value);
  }
  info.preprocess = kept;
  const auto read = from_metadata(to_metadata(info), "file");
  ASSERT_TRUE(read.ok()) << read.error();
  const data::Preprocess preprocess = data::preprocess_from_value(read.value().preprocess);
  EXPECT_EQ(preprocess.jpeg, data::JpegSize::Exact);
  EXPECT_FALSE(preprocess.is_cut());
}

TEST(RunState, survives_its_value) { EXPECT_EQ(run_state_from_value(to_value(sample_state())), sample_state()); }

// Ranks on different types of machines have different plans; the checkpoint contains the plan of rank 0.
TEST(RunState, of_an_older_file_has_rank_0s_plan) {
  Value kept = Value::table();
  const Value now = to_value(sample_state());
  for (const auto& [key, value] : now.as_table()) {
    if (key != "plan_choice_revision" && key != "plan_measured_sha256") kept.set(key, value);
  }
  kept.set("plan_kind", "one; 2 threads");
  kept.set("other_plans",
           Value::Array{Value::Table{{"plan_kind", "two"}, {"plan_choices", Value::Array{}}, {"plan_hash", "89ab"}}});
  RunState expected = sample_state();
  expected.plan.choice_revision = 0;
  expected.plan.measured_sha256 = "";
  EXPECT_EQ(run_state_from_value(kept), expected);
}

TEST(RunState, is_refused_with_a_plan_that_is_damaged) {
  Value damaged = to_value(sample_state());
  damaged.set("plan_choices", Value::Array{Value::Array{"layer1.0.conv1/forward"}});
  EXPECT_THROW(static_cast<void>(run_state_from_value(damaged)), ConfigError);
}

TEST(Weights, carry_a_batch_counter_for_every_batch_norm) {
  const TestFolder folder;
  const auto path = folder.path() / "w.safetensors";
  const std::vector<NamedTensor> weights{{.name = "bn1.weight", .shape = Shape{1}, .values = {1.0F}},
                                         {.name = "bn1.running_mean", .shape = Shape{1}, .values = {2.0F}}};
  write_weights(path, weights, 42, {});
  const auto reader = io::SafetensorsReader::open(path).or_throw();
  const io::TensorInfo* counter = reader.find("bn1.num_batches_tracked");
  ASSERT_NE(counter, nullptr);
  EXPECT_EQ(counter->dtype, DType::I64);
  EXPECT_EQ(counter->shape, Shape{});
  std::int64_t value = 0;
  std::memcpy(&value, reader.bytes(*counter).data(), sizeof value);
  EXPECT_EQ(value, 42);
  EXPECT_EQ(read_tensors(reader, "").size(), 2U) << "the counter is no weight";
}

TEST(Weights, load_by_name_whatever_the_layout) {
  const auto from = make_executable(1.0F);
  const auto to = make_executable(100.0F);
  EXPECT_TRUE(load_weights(weights_of(*from), *to, "w", Strictness::Strict).is_clean());
  for (std::int32_t id = 0; id < 2; ++id) EXPECT_EQ(from->store(id), to->store(id));
}

TEST(Weights, refuse_what_is_not_finite_and_negative_variances_by_name) {
  const std::vector<graph::Parameter> parameters{
      {.name = "bn.running_mean", .shape = Shape{2}, .role = graph::Role::RunningMean, .init = {}},
      {.name = "bn.running_var", .shape = Shape{2}, .role = graph::Role::RunningVariance, .init = {}}};
  const auto refusal = [&](std::vector<float> mean, std::vector<float> variance) {
    const std::vector<NamedTensor> tensors{{.name = "bn.running_mean", .shape = Shape{2}, .values = std::move(mean)},
                                           {.name = "bn.running_var", .shape = Shape{2}, .values = std::move(variance)},
                                           {.name = "other", .shape = Shape{1}, .values = {NAN}}};  // never called
    return message_of<ConfigError>([&] { require_sound(tensors, parameters, "w"); });
  };
  EXPECT_THAT(refusal({1.0F, NAN}, {1.0F, 1.0F}), HasSubstr("w: bn.running_mean: expected finite values, got nan"));
  EXPECT_THAT(refusal({1.0F, 2.0F}, {INFINITY, 1.0F}), HasSubstr("bn.running_var"));
  EXPECT_THAT(refusal({1.0F, 2.0F}, {1.0F, -0.5F}), HasSubstr("at least 0, got -0.5 at element 1"));
  EXPECT_NO_THROW(
      require_sound({{.name = "bn.running_mean", .shape = Shape{2}, .values = {-1.0F, 0.0F}}}, parameters, "w"));

  const auto executable = make_executable(1.0F);
  std::vector<NamedTensor> weights = weights_of(*make_executable(5.0F));
  weights[1].values[0] = NAN;
  EXPECT_THROW(load_weights(weights, *executable, "w", Strictness::Partial), ConfigError);
  EXPECT_EQ(executable->store(0), make_executable(1.0F)->store(0)) << "nothing was loaded";
}

TEST(Weights, refuse_missing_extra_and_misshapen_tensors_and_change_nothing) {
  const auto full = weights_of(*make_executable(1.0F));
  std::vector<std::pair<std::string, std::vector<NamedTensor>>> cases;
  cases.emplace_back("1 missing (fc.bias)", std::vector<NamedTensor>{full[0]});
  cases.emplace_back("1 unexpected (extra)", full);
  cases.back().second.push_back({.name = "extra", .shape = Shape{1}, .values = {0.0F}});
  cases.emplace_back("1 of another shape (fc.bias: (4), not (3))", full);
  cases.back().second[1] = {.name = "fc.bias", .shape = Shape{4}, .values = std::vector<float>(4)};
  for (const auto& [expected, tensors] : cases) {
    const auto executable = make_executable(7.0F);
    const auto before = executable->store(0);
    EXPECT_THAT(message_of<ConfigError>([&] {
                  static_cast<void>(load_weights(tensors, *executable, "w.safetensors", Strictness::Strict));
                }),
                AllOf(HasSubstr("w.safetensors"), HasSubstr(expected)));
    EXPECT_EQ(executable->store(0), before) << expected;
    EXPECT_FALSE(load_weights(tensors, *executable, "w", Strictness::Partial).is_clean());
    EXPECT_EQ(executable->store(0), full[0].values) << "partial loads what fits";
  }
}

TEST(Resume, restores_weights_and_optimizer_state) {
  const TestFolder folder;
  const auto path = folder.path() / "resume.safetensors";
  const auto from = make_executable(1.0F);
  Optimizer optimizer("adam", {}, *from);
  for (const OptimizerState& state : optimizer.state()) {
    from->load(0, std::vector<float>(48, 5.0F), state.arena);
    from->load(1, std::vector<float>{1.0F, 2.0F, 3.0F}, state.arena);
  }
  write_resume(path, {.executable = *from, .optimizer = optimizer}, sample_info(), sample_state());

  const Resume resume = read_resume(path);
  EXPECT_EQ(resume.info, sample_info());
  EXPECT_EQ(resume.state, sample_state());
  const auto to = make_executable(9.0F);
  Optimizer fresh("adam", {}, *to);
  apply_resume(resume, {.executable = *to, .optimizer = fresh}, "resume");
  EXPECT_EQ(to->store(0), from->store(0));
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(fresh.state()[i].arena.values(), optimizer.state()[i].arena.values());
  }
}

TEST(Resume, refuses_the_state_of_another_optimizer) {
  const TestFolder folder;
  const auto path = folder.path() / "resume.safetensors";
  const auto executable = make_executable(1.0F);
  Optimizer adam("adam", {}, *executable);
  write_resume(path, {.executable = *executable, .optimizer = adam}, sample_info(), sample_state());
  Optimizer sgd("sgd", {}, *executable);
  EXPECT_THAT(message_of<ConfigError>(
                  [&] { apply_resume(read_resume(path), {.executable = *executable, .optimizer = sgd}, "resume"); }),
              HasSubstr("the state of sgd"));
}

TEST(Resume, refuses_weights_only_and_any_cut) {
  const TestFolder folder;
  const auto best = folder.path() / "best.safetensors";
  const auto executable = make_executable(1.0F);
  write_weights(best, weights_of(*executable), 1, to_metadata(sample_info()));
  EXPECT_THAT(message_of<ConfigError>([&] { static_cast<void>(read_resume(best)); }), HasSubstr("weights only"));

  const auto size = std::filesystem::file_size(best);
  for (const std::uintmax_t cut : {std::uintmax_t{0}, std::uintmax_t{4}, size / 2, size - 1}) {
    std::filesystem::resize_file(best, cut);
    EXPECT_THAT(message_of<ConfigError>([&] { static_cast<void>(read_resume(best)); }), HasSubstr(best.string()));
  }
}

TEST(LoadCheckpoint, runs_the_stored_graph_for_any_batch) {
  const TestFolder folder;
  const auto path = folder.path() / "best.safetensors";
  const auto executable = make_executable(1.0F);
  CheckpointInfo info = sample_info();
  info.labels = {"a", "b", "c"};
  info.graph =
      "graph \"flat\"\ninput image (N, 1, 4, 4)\nflat = flatten(image)\nfc = linear(flat, out=3)\n"
      "output logits = fc\n";
  write_weights(path, weights_of(*executable), 1, to_metadata(info));
  ReferenceEngine engine;
  const LoadedModel model = load_checkpoint(path, engine, {.batch = 5});
  EXPECT_EQ(model.executable->inputs()[0].shape, (Shape{5, 1, 4, 4}));
  EXPECT_EQ(model.executable->store(1), executable->store(1));
  EXPECT_EQ(model.preprocess, data::preset("xray"));
  info.labels = {"a", "b"};
  write_weights(path, weights_of(*executable), 1, to_metadata(info));
  EXPECT_THAT(
      message_of<ConfigError>([&] { static_cast<void>(read_checkpoint(path.parent_path() / "none")); }),
      HasSubstr("none: expected a checkpoint file, got no such file; try checking the path, or checkpoints/best"));
  EXPECT_THAT(message_of<ConfigError>([&] { static_cast<void>(load_checkpoint(path, engine, {})); }),
              HasSubstr("output logits has 2 values per image"));
}

TEST(LoadCheckpoint, names_the_file_whose_preprocessing_it_refuses) {
  const TestFolder folder;
  const auto path = folder.path() / "best.safetensors";
  CheckpointInfo info = sample_info();
  info.preprocess.set("fit", "stretch");
  write_weights(path, weights_of(*make_executable(1.0F)), 1, to_metadata(info));
  ReferenceEngine engine;
  EXPECT_THAT(message_of<ConfigError>([&] { static_cast<void>(load_checkpoint(path, engine, {})); }),
              AllOf(HasSubstr("[data.preprocess] " + path.string() + ": preprocess.fit: expected one of"),
                    HasSubstr("got stretch; try a checkpoint")));
}

}  // namespace
}  // namespace roentgen::train
