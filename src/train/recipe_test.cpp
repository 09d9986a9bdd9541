// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "train/recipe.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "core/error.h"
#include "data/source/source_testing.h"
#include "graph/loss.h"
#include "runtime/cores.h"
#include "runtime/placement.h"
#include "runtime/team.h"
#include "train/optimizer/optimizer.h"
#include "train/schedule/schedule.h"

namespace roentgen::train {
namespace {

using data::message_of;
using testing::HasSubstr;

Recipe parse(std::string_view toml, const std::vector<std::string>& overrides = {}) {
  return parse_recipe(toml, "r.toml", overrides);
}

std::string refusal(std::string_view toml, const std::vector<std::string>& overrides = {}) {
  return message_of<ConfigError>([&] { static_cast<void>(parse(toml, overrides)); });
}

TEST(Recipe, reads_every_kind_of_key) {
  const Recipe recipe = parse(R"(
[model]
name = "resnet50"
[data]
labels = ["Mass", "View:AP"]
views = "frontal"
[preprocess]
preset = "imagenet"
size = 320
[augment]
rotate = 10
[train]
epochs = 3
clip_norm = 1
partial = true
[schedule]
name = "multistep"
milestones_epochs = [1, 2.5]
)");
  EXPECT_EQ(recipe.model.name, "resnet50");
  EXPECT_EQ(recipe.data.labels, (std::vector<std::string>{"Mass", "View:AP"}));
  EXPECT_EQ(recipe.preprocess.size_px, 320);
  EXPECT_EQ(recipe.preprocess.channels, 3);
  EXPECT_EQ(recipe.augment.rotate_deg, 10.0);
  EXPECT_EQ(recipe.train.epochs, 3);
  EXPECT_EQ(recipe.train.clip_norm, 1.0);
  EXPECT_TRUE(recipe.train.partial);
  EXPECT_EQ(recipe.schedule.milestones_epochs, (std::vector<double>{1.0, 2.5}));
}

TEST(Recipe, absent_keys_keep_their_defaults) {
  const Recipe recipe = parse("");
  EXPECT_EQ(to_toml(recipe), to_toml(Recipe{}));
}

TEST(Recipe, prints_what_reads_back_as_the_same) {
  const Recipe recipe = parse("[data]\nlabels = [\"a\"]\n[data.label_policy.a]\nuncertain = \"one\"\n",
                              {"train.seed=7", "optimizer.lr=3e-4", "preprocess.size=64", "augment.flip=0.5"});
  const std::string text = to_toml(recipe);
  EXPECT_EQ(to_toml(parse(text)), text);
  EXPECT_THAT(text, HasSubstr("lr = 3e-04"));
}

TEST(Recipe, device_has_an_earlier_name) {
  EXPECT_EQ(parse("").train.device, "auto");
  EXPECT_EQ(parse("[train]\nengine = \"cpu\"\n").train.device, "cpu");
  EXPECT_EQ(parse("[train]\ndevice = \"cuda:1\"\n", {"train.engine=cpu"}).train.device, "cpu");
  EXPECT_EQ(parse("[train]\nengine = \"cpu\"\n", {"train.device=cuda"}).train.device, "cuda");
  EXPECT_THAT(to_toml(parse("[train]\nengine = \"cpu\"\n")), testing::Not(HasSubstr("engine")));
  EXPECT_THAT(refusal("[train]\nengine = \"cpu\"\ndevice = \"cpu\"\n"), HasSubstr("only train.device"));
}

TEST(Recipe, names_its_key_for_a_device_that_does_not_exist) {
  EXPECT_THAT(refusal("[train]\ndevice = \"gpu\"\n"),
              HasSubstr("r.toml: train.device: expected auto, cpu, cuda or cuda:N, got gpu"));
  EXPECT_THAT(refusal("", {"train.device=cpu:1"}), HasSubstr("--set train.device=cpu:1"));
}

TEST(Recipe, overrides_win_and_the_last_one_counts) {
  const Recipe recipe = parse("[train]\nepochs = 3\n", {"train.epochs=4", "train.epochs=5", "model.name=resnet34"});
  EXPECT_EQ(recipe.train.epochs, 5);
  EXPECT_EQ(recipe.model.name, "resnet34");
}

TEST(Recipe, refuses_an_unknown_key_naming_the_nearest) {
  EXPECT_EQ(refusal("[train]\nepoch = 3\n"),
            "[train.recipe] r.toml: expected a known key, got train.epoch; try train.epochs");
  EXPECT_THAT(refusal("[optimizer]\nlearning_rate = 1\n"), HasSubstr("got optimizer.learning_rate"));
  EXPECT_THAT(refusal("", {"data.label=[\"a\"]"}), HasSubstr("try data.labels"));
}

TEST(Recipe, names_the_override_that_brought_a_mistake_and_else_the_file) {
  EXPECT_EQ(refusal("[optimizer]\nlr = 0.1\n", {"train.epochs=2", "optimizer.lr=nan", "train.batch=4"}),
            "[train.recipe] --set optimizer.lr=nan: optimizer.lr: expected a number, 1e-12 to 1000000, got nan; try "
            "roentgen train --keys for all keys and what they take");
  EXPECT_THAT(refusal("[optimizer]\nlr = -1\n", {"optimizer.lr=-2"}), HasSubstr("] --set optimizer.lr=-2: "));
  EXPECT_THAT(refusal("[optimizer]\nlr = -1\n", {"train.epochs=2"}), HasSubstr("] r.toml: optimizer.lr"));
  EXPECT_THAT(refusal("[train]\nepoch = 3\n", {"train.epochs=2"}), HasSubstr("] r.toml: expected a known key"));
  EXPECT_EQ(parse("[optimizer]\nlr = -1\n", {"optimizer.lr=1"}).optimizer.lr, 1.0) << "an override mends a file";
  for (const char* text : {"preprocess.fit=stretch", "augment.rotate=-3", "data.blank=zero", "train.fuse=foo"}) {
    const std::string key = std::string(text).substr(0, std::string_view(text).find('='));
    EXPECT_THAT(refusal("", {text}), HasSubstr(fmt::format("] --set {}: {}: expected", text, key)));
  }
  EXPECT_THAT(refusal("[preprocess]\nfit = \"stretch\"\n"), HasSubstr("] r.toml: preprocess.fit: expected"));
  EXPECT_THAT(refusal("", {"data.blank=" + std::string(500, 'x')}), HasSubstr("xxx...: data.blank"));
}

TEST(Recipe, refuses_unknown_sections_and_keys_outside_of_sections) {
  EXPECT_THAT(refusal("[trian]\nepochs = 3\n"), HasSubstr("got [trian]; try train"));
  EXPECT_THAT(refusal("epochs = 3\n"), HasSubstr("epochs outside of all sections; try train.epochs"));
  EXPECT_THAT(refusal("train = 3\n"), HasSubstr("expected a section [train], got 3"));
}

TEST(Recipe, names_the_word_that_was_likely_meant) {
  EXPECT_EQ(refusal("[schedule]\nname = \"cosin\"\n"),
            "[train.recipe] r.toml: schedule.name: expected one of constant, multistep, cosine, poly, plateau, got "
            "\"cosin\"; try --set schedule.name=cosine");
  EXPECT_THAT(refusal("", {"optimizer.name=adamm"}), HasSubstr("try --set optimizer.name=adam"));
}

TEST(Recipe, refuses_values_of_another_kind_word_or_range) {
  EXPECT_THAT(refusal("[train]\nepochs = \"many\"\n"), HasSubstr("train.epochs: expected a whole number"));
  EXPECT_THAT(refusal("[train]\nepochs = 1.5\n"), HasSubstr("train.epochs: expected a whole number"));
  EXPECT_THAT(refusal("[train]\nepochs = 0\n"), HasSubstr("expected 1 to 1000000000, got 0"));
  EXPECT_THAT(refusal("[train]\nselect = \"f1\"\n"), HasSubstr("expected one of auroc, loss, got \"f1\""));
  EXPECT_THAT(refusal("[train]\npartial = 1\n"), HasSubstr("expected true or false"));
  EXPECT_THAT(refusal("[optimizer]\nlr = -1\n"), HasSubstr("optimizer.lr"));
  EXPECT_THAT(refusal("[optimizer]\nname = \"adagrad\"\n"), HasSubstr("sgd, adam, adamw, lars, rmsprop"));
  EXPECT_THAT(refusal("[schedule]\nmilestones_epochs = [\"a\"]\n"), HasSubstr("schedule.milestones_epochs"));
  EXPECT_THAT(refusal("[preprocess]\nfit = \"stretch\"\n"), HasSubstr("stretch"));
  EXPECT_THAT(refusal("[augment]\nrotat = 3\n"), HasSubstr("rotat"));
  EXPECT_THAT(refusal("[data]\nblank = \"zero\"\n"), HasSubstr("data.blank"));
}

TEST(Recipe, refuses_what_optimizer_schedule_and_passes_would_refuse_later) {
  for (const char* key : {"momentum", "beta1", "beta2", "epsilon"}) {
    EXPECT_THAT(refusal("", {fmt::format("optimizer.{}=1", key)}), HasSubstr("and below 1, got 1")) << key;
  }
  EXPECT_THAT(refusal("", {"optimizer.epsilon=0"}), HasSubstr("expected above 0"));
  EXPECT_THAT(refusal("", {"optimizer.lr=inf"}), HasSubstr("optimizer.lr"));
  EXPECT_THAT(refusal("", {"schedule.gamma=1"}), HasSubstr("expected above 0 and below 1, got 1"));
  EXPECT_THAT(refusal("", {"schedule.power=0"}), HasSubstr("expected above 0, got 0"));
  EXPECT_THAT(refusal("", {"model.width=8192"}), HasSubstr("expected 8 to 4096, got 8192"));
  EXPECT_THAT(refusal("", {"train.fuse=foo"}),
              HasSubstr("virtual_concat, fold_batch_norm, fold_relu, normalised_input, norm_moments, "
                        "norm_gradient, got foo"));
  EXPECT_EQ(parse("", {"train.fuse=\"batch_norm_relu,virtual_concat\""}).train.fuse, "batch_norm_relu,virtual_concat");
}

TEST(Recipe, sets_the_option_of_every_rule_that_shares_a_key) {
  const engine::OptimizerRules rules = parse("", {"optimizer.momentum=0.25"}).optimizer.rules;
  EXPECT_EQ(std::get<engine::Sgd>(rules).momentum, 0.25);
  EXPECT_EQ(std::get<engine::Lars>(rules).momentum, 0.25);
  EXPECT_EQ(std::get<engine::RmsProp>(rules).momentum, 0.25);
  EXPECT_THAT(recipe_keys(), HasSubstr("momentum = 0.9  # sgd, lars, rmsprop (at least 0 and below 1)"));
  EXPECT_THAT(recipe_keys(), HasSubstr("trust = 0.001  # lars: trust coefficient"));
}

TEST(Recipe, refuses_broken_toml_with_its_line) { EXPECT_THAT(refusal("[train]\nepochs = = 3\n"), HasSubstr("2")); }

TEST(Recipe, refuses_an_override_that_is_no_assignment) {
  for (const char* text : {"epochs=3", "train.epochs", "=3", ".epochs=3", "train.=3"}) {
    EXPECT_THAT(refusal("", {text}), HasSubstr("section.key=value")) << text;
  }
}

TEST(Recipe, refuses_a_file_that_is_absent_or_a_folder) {
  const data::TestFolder folder;
  for (const auto& path : {folder.path() / "none.toml", folder.path()}) {
    EXPECT_THAT(message_of<ConfigError>([&] { static_cast<void>(read_recipe(path, {})); }), HasSubstr(path.string()));
  }
}

TEST(Recipe, lists_every_key_once) {
  const std::string keys = recipe_keys();
  for (const char* key : {"epochs = 10", "lr = 0.0001", "stem = \"imagenet\"", "# label_policy = ...", "size = 224"}) {
    EXPECT_THAT(keys, HasSubstr(key));
  }
}

TEST(ComputeThreads, are_what_the_process_may_use_at_most) {
  const int most = runtime::available_hardware_threads();
  // OMP_THREAD_LIMIT may reduce the number.
  EXPECT_EQ(compute_threads({.threads = most}), runtime::given_team(most));
  EXPECT_EQ(compute_threads({.threads = 0}), runtime::given_team(runtime::default_compute_threads()));
  EXPECT_THROW(static_cast<void>(compute_threads({.threads = most + 1})), ConfigError);
}

TEST(TrainCores, are_shared_unless_some_are_kept_for_input) {
  EXPECT_TRUE(train_cores({}).input.empty());
  EXPECT_TRUE(train_cores({}).compute.empty());
  EXPECT_THROW(static_cast<void>(train_cores({.input_cores = "none"})), ConfigError);
  const runtime::CoreList all = runtime::usable_cores();
  EXPECT_THROW(static_cast<void>(train_cores({.input_cores = runtime::text_of(all)})), ConfigError);
  if (all.size() < 2) GTEST_SKIP() << "NOT TESTED: this process may use one core only";
  const TrainRecipe recipe{.input_cores = runtime::text_of({all.front()})};
  EXPECT_EQ(train_cores(recipe).input, runtime::CoreList{all.front()});
  EXPECT_EQ(train_cores(recipe).compute, runtime::CoreList(all.begin() + 1, all.end()));
  EXPECT_EQ(decode_workers(recipe), 1);
  EXPECT_LE(compute_threads(recipe), static_cast<int>(all.size()) - 1);
  TrainRecipe larger = recipe;
  larger.threads = std::ssize(all);
  EXPECT_THROW(static_cast<void>(compute_threads(larger)), ConfigError);
}

// Makes this process look like one of several started by a launcher, during its lifetime.
class Launched {
 public:
  explicit Launched(const char* ranks_of_host) {
    ::setenv("OMPI_COMM_WORLD_RANK", "0", 1);
    ::setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
    ::setenv("OMPI_COMM_WORLD_LOCAL_RANK", "0", 1);
    ::setenv("OMPI_COMM_WORLD_LOCAL_SIZE", ranks_of_host, 1);
  }
  ~Launched() {
    for (const char* name : {"RANK", "SIZE", "LOCAL_RANK", "LOCAL_SIZE"}) {
      ::unsetenv(("OMPI_COMM_WORLD_" + std::string(name)).c_str());
    }
  }
  Launched(const Launched&) = delete;
  Launched& operator=(const Launched&) = delete;
};

TEST(TrainCores, of_a_rank_are_kept_apart_where_there_are_enough) {
  const TrainRecipe recipe{.threads = 2};
  EXPECT_TRUE(train_cores(recipe).input.empty()) << "alone";
  const Launched launched("1");
  EXPECT_TRUE(train_cores(sharing_cores(recipe)).input.empty());
  TrainRecipe accelerated = recipe;
  accelerated.device = "cuda";
  EXPECT_TRUE(train_cores(accelerated).input.empty()) << "its cores need not compute";
  const auto cores = runtime::by_physical_core(runtime::usable_cores());
  const TrainCores own = train_cores(recipe);
  EXPECT_EQ(own.input, runtime::place(cores, {.has_input = true, .threads = 2}).input);
  EXPECT_EQ(own.input.empty(), cores.size() < 4) << cores.size() << " cores";
  const Launched crowded("100000");
  EXPECT_TRUE(train_cores(recipe).input.empty()) << "its cores are those of others, too";
}

TEST(ScheduleOptions, turn_epochs_into_steps) {
  Recipe recipe;
  recipe.train.epochs = 4;
  recipe.schedule.warmup_epochs = 0.5;
  recipe.schedule.milestones_epochs = {1, 2.5};
  const ScheduleOptions options = schedule_options(recipe, 10);
  Recipe scaled = recipe;
  scaled.optimizer.lr_batch = 4 * recipe.train.batch;
  EXPECT_DOUBLE_EQ(schedule_options(scaled, 10, 8).base_lr, 2.0 * options.base_lr);
  EXPECT_DOUBLE_EQ(schedule_options(scaled, 10).base_lr, 0.25 * options.base_lr);
  EXPECT_EQ(options.total_steps, 40);
  EXPECT_EQ(options.warmup_steps, 5);
  EXPECT_EQ(options.milestones_steps, (std::vector<std::int64_t>{10, 25}));
}

TEST(LossConfig, balances_by_the_training_counts) {
  data::SplitSummary summary;
  summary.labels = {{.positives = 10, .negatives = 30, .unknown = 5},
                    {.positives = 0, .negatives = 40},
                    {.positives = 1, .negatives = 1000}};
  EXPECT_EQ(loss_config({.positive_weights = "balanced"}, summary).positive_weights,
            (std::vector<double>{3.0, 1.0, 100.0}));
  EXPECT_TRUE(loss_config({}, summary).positive_weights.empty());
}

}  // namespace
}  // namespace roentgen::train
