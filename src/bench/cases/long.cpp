// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Case `long`: trains with a recipe until a validation metric reaches its target, once for every batch size.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/case_list.h"
#include "bench/harness.h"
#include "bench/options.h"
#include "bench/target.h"
#include "core/error.h"
#include "core/log.h"
#include "core/terminal.h"
#include "data/source/dataset.h"
#include "dist/comm_thread.h"
#include "dist/launched.h"
#include "engine/device.h"
#include "io/place.h"
#include "task/device_option.h"
#include "task/model.h"
#include "task/recipe_list.h"
#include "task/train_run.h"
#include "train/observer.h"
#include "train/ranks.h"
#include "train/run_folder.h"
#include "train/run_origin.h"

namespace roentgen::bench {
namespace {

constexpr std::string_view kCounted =
    "updates with their waits for images, and validations; not: listing data, compiling, writing checkpoints";

/// Watches the epochs of a run for its target.
class TargetWatch final : public train::Observer {
 public:
  explicit TargetWatch(const Target& target) : target_(target) {}
  void on_epoch(const train::EpochRecord& record) override {
    const std::optional<double> value = target_.metric == "top1" ? record.val_top1 : record.val_auroc;
    is_reached_ = is_reached_ || (value && *value >= target_.value);
  }
  [[nodiscard]] bool is_reached() const { return is_reached_; }

 private:
  const Target& target_;
  bool is_reached_ = false;
};

/// One run: a batch size with its recipe and folder.
struct LongRun {
  train::Recipe recipe;
  train::RunFolder folder;
};

class LongCase final : public Case {
 public:
  LongCase()
      : Case("long test: time to train until a validation metric reaches its target",
             "roentgen bench long --recipe default --data nih --target auroc=0.84 --out long --batch 16,32") {}
  [[nodiscard]] std::vector<Option> options() override {
    return {{.name = "--recipe", .target = &recipe_, .doc = "TOML file, or name of a built-in recipe"},
            {.name = "--data",
             .target = &data_,
             .doc = "data folder with labels; several (DIR or NAME=DIR) are joined",
             .value_name = "DIR"},
            {.name = "--out",
             .target = &out_,
             .doc = "folder of the runs, such as batch-16; runs in it continue",
             .value_name = "DIR"},
            {.name = "--target",
             .target = &target_,
             .doc = "validation metric to reach: auroc=0.84, or top1=0.762 (softmax loss)"},
            {.name = "--model",
             .target = &model_,
             .doc = "built-in model (see roentgen models), or file of inspect --print"},
            {.name = "--batch", .target = &batches_, .doc = "batch sizes, such as 16,32 (default: of the recipe)"},
            {.name = "--set", .target = &overrides_, .doc = "section.key=value that overrides the recipe"},
            task::device_option(device_),
            {.name = "--ranks", .target = &ranks_, .doc = "processes (ranks) that train together", .range = {1, 65536}},
            {.name = "--oversubscribe",
             .target = &may_oversubscribe_,
             .doc = "allow more threads than the machine has cores"}};
  }
  [[nodiscard]] bool has_failed(const Value& result) const override { return !result.at("reached").as_bool(); }
  [[nodiscard]] bool is_new(const Value& result) const override { return result.at("trained").as_bool(); }
  [[nodiscard]] bool has_stopped(const Value& result) const override { return result.at("stopped").as_bool(); }

  [[nodiscard]] Value run(const Host& host) override {
    const Target target = parse_target(target_);
    const std::vector<LongRun> runs = planned_runs(target);
    RankRequest request{.may_oversubscribe = may_oversubscribe_};
    if (!dist::launched_rank()) {
      if (ranks_ <= 1) return measure_all(target, runs, nullptr, host);
      request.ranks = ranks_;
      return host.start_ranks(request, {});
    }
    request.threads = [&] { return train::compute_threads(runs.front().recipe.train); };
    return host.join_ranks(request, [&](dist::CommThread* group) { return measure_all(target, runs, group, host); });
  }

 private:
  /// Reads the recipe for every batch size. Throws ConfigError for missing options and settings that do not fit.
  [[nodiscard]] std::vector<LongRun> planned_runs(const Target& target) const {
    for (const auto& [option, is_missing] :
         {std::pair{"--recipe FILE", recipe_.empty()}, {"--data DIR", data_.empty()}, {"--out DIR", out_.empty()}}) {
      if (is_missing) throw ConfigError(error_text("bench.long", option, "a value", "none", option));
    }
    for (const std::string& folder : data_) io::refuse_inside_data("--out", out_, data::folder_of(folder));
    std::vector<std::string> changes = overrides_;
    if (!device_.empty()) changes.push_back("train.device=" + device_);
    std::vector<LongRun> runs;
    const std::vector<std::int64_t> batches =
        batches_.empty() ? std::vector{task::read_recipe(recipe_, changes).train.batch} : parse_batches(batches_);
    if (std::set(batches.begin(), batches.end()).size() != batches.size()) {
      throw ConfigError(error_text("bench.long", "--batch", "different sizes", batches_, "each size once"));
    }
    for (const std::int64_t batch : batches) {
      std::vector<std::string> own = changes;
      own.push_back(fmt::format("train.batch={}", batch));
      train::Recipe recipe = task::read_recipe(recipe_, own);
      recipe.train.device = engine::resolve_device(engine::parse_device(recipe.train.device)).text();
      if (!model_.empty()) task::set_model(recipe.model, model_);
      data::place_folders(recipe.data, data_);
      if (target.metric == "top1" && recipe.loss.name != "softmax") {
        throw ConfigError(error_text("bench.long", "--target top1", "a recipe with loss.name = \"softmax\"",
                                     recipe.loss.name, "--set loss.name=softmax, or --target auroc=NUMBER"));
      }
      runs.push_back({std::move(recipe), train::RunFolder(out_ / fmt::format("batch-{}", batch))});
    }
    return runs;
  }

  /// Trains one run until its target or its end; a run that has ended is left as it is. Returns true if it trained.
  static bool train_one(const Target& target, const LongRun& run, dist::CommThread* group, const Host& host) {
    const train::Ranks ranks(group);
    bool has_ended = false;
    if (ranks.is_first()) {
      has_ended = time_to_target(target, run.folder.log()).epochs || train::is_finished(run.recipe, run.folder);
    }
    ranks.share(has_ended, {.name = "earlier run"});
    if (has_ended) return false;
    TargetWatch watch(target);
    const auto progress =
        train::make_progress(terminal::has_progress() ? train::ProgressStyle::Line : train::ProgressStyle::Log,
                             group == nullptr ? std::vector<std::string>{} : group->hosts());
    task::TrainRun training(
        {.earlier = task::EarlierRun::Resume,
         .group = group,
         .observers = {progress.get(), &watch},
         .on_data =
             [](const data::Dataset& dataset) {
               if (std::ranges::count(dataset.samples, data::Split::Val, &data::Sample::split) > 0) return;
               throw ConfigError(error_text("bench.long", "data", "validation images", "none",
                                            "--set data.val_fraction=0.1, or a split in the data"));
             },
         .on_start = host.listen_for_stop,
         .is_stop_asked = [&] { return watch.is_reached() || (host.is_stop_asked && host.is_stop_asked()); }});
    static_cast<void>(training.train(run.recipe, run.folder));
    return true;
  }

  [[nodiscard]] Value measure_all(const Target& target, const std::vector<LongRun>& runs, dist::CommThread* group,
                                  const Host& host) const {
    const train::Ranks ranks(group);
    Value rows = Value::array();
    std::vector<TargetTime> times;
    bool has_trained = false, is_stopped = false;
    for (const LongRun& run : runs) {
      if (ranks.is_first()) log::info(fmt::format("long: {}", run.folder.root().string()));
      const bool has_begun = train_one(target, run, group, host);
      if (!has_begun && ranks.is_first()) log::info("long: it has ended before");
      has_trained = has_trained || has_begun;
      if (!ranks.is_first()) continue;
      times.push_back(time_to_target(target, run.folder.log()));
      is_stopped = !times.back().epochs && !train::is_finished(run.recipe, run.folder);
      rows.push_back(row_of(run, times.back()));
      if (is_stopped) break;
    }
    if (!ranks.is_first()) return {};
    return result_of(target, runs.front().recipe, times, std::move(rows), ranks.size(), {has_trained, is_stopped});
  }

  [[nodiscard]] static Value row_of(const LongRun& run, const TargetTime& time) {
    return Value::Table{{"batch", run.recipe.train.batch},
                        {"reached", time.epochs.has_value()},
                        {"time_to_target_s", time.epochs ? Value(time.seconds()) : Value()},
                        {"epochs_to_target", time.epochs ? Value(*time.epochs) : Value()},
                        {"best", time.best ? Value(*time.best) : Value()},
                        {"images_per_s", time.images_per_s()},
                        {"train_s", time.train_s},
                        {"val_s", time.val_s},
                        {"epochs", time.epochs_done},
                        {"run", run.folder.root().string()}};
  }

  /// Work of this process.
  struct Course {
    bool has_trained = false;
    bool is_stopped = false;
  };

  [[nodiscard]] static Value result_of(const Target& target, const train::Recipe& recipe,
                                       const std::vector<TargetTime>& times, Value rows, int ranks,
                                       const Course& course) {
    const TargetTime* fastest = nullptr;
    for (const TargetTime& time : times) {
      if (time.epochs && (fastest == nullptr || time.seconds() < fastest->seconds())) fastest = &time;
    }
    Value result = Value::Table{{"case", "long"},
                                {"target", fmt::format("{}={}", target.metric, target.value)},
                                {"model", recipe.model.name},
                                {"image_px", recipe.preprocess.size_px},
                                {"device", recipe.train.device},
                                {"dtype", recipe.train.dtype},
                                {"ranks", ranks},
                                {"max_epochs", recipe.train.epochs},
                                {"reached", fastest != nullptr},
                                {"stopped", course.is_stopped},
                                {"trained", course.has_trained},
                                {"time_to_target_s", fastest != nullptr ? Value(fastest->seconds()) : Value()},
                                {"epochs_to_target", fastest != nullptr ? Value(*fastest->epochs) : Value()}};
    // Without training in this process, its energy says nothing about the speed.
    if (fastest != nullptr && course.has_trained) result.set("images_per_s", fastest->images_per_s());
    result.set("counted", kCounted);
    result.set("runs", std::move(rows));
    add_environment(result);
    return result;
  }

  std::filesystem::path recipe_;
  std::vector<std::string> data_;
  std::filesystem::path out_;
  std::string target_;
  std::string model_;
  std::string batches_;
  std::vector<std::string> overrides_;
  std::string device_;
  std::int64_t ranks_ = 1;
  bool may_oversubscribe_ = false;
};

}  // namespace

std::unique_ptr<Case> make_long_case() { return std::make_unique<LongCase>(); }

}  // namespace roentgen::bench
