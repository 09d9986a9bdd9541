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
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/case_list.h"
#include "bench/harness.h"
#include "bench/ledger/record.h"
#include "bench/options.h"
#include "bench/target.h"
#include "bench/train_group.h"
#include "core/error.h"
#include "core/log.h"
#include "core/terminal.h"
#include "data/source/dataset.h"
#include "dist/comm_thread.h"
#include "dist/launched.h"
#include "engine/device.h"
#include "io/file.h"
#include "io/json.h"
#include "io/place.h"
#include "io/sha256.h"
#include "task/device_option.h"
#include "task/model.h"
#include "task/recipe_list.h"
#include "task/train_run.h"
#include "train/early_checks.h"
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
  /// @param conditions written to `file` at the first update, when the run folder exists
  TargetWatch(const Target& target, Value conditions, std::filesystem::path file)
      : target_(target), conditions_(std::move(conditions)), file_(std::move(file)) {}
  void on_step(const train::StepRecord& /*record*/) override {
    if (!file_.empty()) io::write_file_atomically(file_, io::to_json(conditions_) + "\n");
    file_.clear();
  }
  void on_epoch(const train::EpochRecord& record) override {
    const std::optional<double> value = target_.metric == "top1" ? record.val_top1 : record.val_auroc;
    is_reached_ = is_reached_ || (value && *value >= target_.value);
  }
  [[nodiscard]] bool is_reached() const { return is_reached_; }

 private:
  const Target& target_;
  Value conditions_;
  std::filesystem::path file_;
  bool is_reached_ = false;
};

/// One run: a batch size with its recipe and folder.
struct LongRun {
  train::Recipe recipe;
  train::RunFolder folder;

  /// File of the conditions, which `train` does not know.
  [[nodiscard]] std::filesystem::path conditions() const { return folder.root() / "long.json"; }
};

/// Adds the settings of the exchange of gradients between ranks; a process alone has none.
void add_exchange(Value& table, const TrainGroup& group) {
  if (group.ranks == nullptr) return;
  table.set("reduce", group.reduce);
  table.set("wire", group.wire);
  table.set("gdr", group.gdr);
  table.set("update", train::text_of(group.servers));
}

/// Conditions on which the time of a run depends, beside its recipe and data.
Value conditions_of(const LongRun& run, const TrainGroup& group) {
  const train::Ranks ranks(group.ranks);
  Value hosts = Value::array();
  for (int rank = 1; rank < ranks.size(); ++rank) {
    if (ranks.host(rank) == ranks.host(0)) continue;
    hosts.push_back(io::sha256_hex(ranks.host(rank)).substr(0, machine_hash().size()));
  }
  Value conditions = Value::Table{{"device", run.recipe.train.device},
                                  {"threads", train::compute_threads(run.recipe.train)},
                                  {"ranks", ranks.size()},
                                  {"host", machine_hash()},
                                  {"other_hosts", std::move(hosts)}};
  add_exchange(conditions, group);
  return conditions;
}

/// Joins lines by spaces.
std::string one_line(std::string lines) {
  if (lines.ends_with('\n')) lines.pop_back();
  std::ranges::replace(lines, '\n', ' ');
  return lines;
}

/// Throws ConfigError if the folder has a run with another recipe, other data or other conditions.
void require_same_run(const LongRun& run, const TrainGroup& group) {
  if (!std::filesystem::exists(run.folder.resume())) return;
  train::Recipe recipe = run.recipe;
  train::check_resumed_recipe(recipe, run.folder);
  std::string begun;
  for (const std::string& folder : train::stored_data_folders(run.folder)) begun += folder + "\n";
  if (const std::string now = train::folder_lines(run.recipe.data); begun != now) {
    throw ConfigError(error_text("bench.long", "--data", one_line(begun) + ", as at the start of the run",
                                 one_line(now), "the same folders, or another --out"));
  }
  require_same_conditions(conditions_of(run, group), run.conditions());
}

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
             .value_name = "DIR",
             .is_input = true},
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
            task::device_option(device_)};
  }
  [[nodiscard]] bool has_rank_options() const override { return true; }
  [[nodiscard]] bool has_failed(const Value& result) const override { return !result.at("reached").as_bool(); }
  [[nodiscard]] bool is_new(const Value& result) const override { return result.at("trained").as_bool(); }
  [[nodiscard]] bool has_stopped(const Value& result) const override { return result.at("stopped").as_bool(); }

  [[nodiscard]] Value run(const Host& host) override {
    const Target target = parse_target(target_);
    std::vector<LongRun> runs;
    if (!dist::launched_rank()) runs = planned_runs(target);  // refuses a bad recipe before ranks start
    const TrainRequest request{.recipe = [&] { return planned_runs(target).front().recipe.train; },
                               .after =
                                   [&] {
                                     for (const LongRun& run : runs) run.folder.tidy_up();
                                   }};
    return host.train(request, [&](const TrainGroup& group) {
      if (runs.empty()) runs = planned_runs(target);
      return measure_all(target, runs, group, host);
    });
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
  static bool train_one(const Target& target, const LongRun& run, const TrainGroup& group, const Host& host) {
    const train::Ranks ranks(group.ranks);
    bool has_ended = false;
    if (ranks.is_first()) {
      has_ended = std::filesystem::exists(run.folder.resume()) &&
                  (time_to_target(target, run.folder.log()).epochs || train::is_finished(run.recipe, run.folder));
    }
    ranks.share(has_ended, {.name = "earlier run"});
    if (has_ended) return false;
    TargetWatch watch(target, conditions_of(run, group), run.conditions());
    const auto progress =
        train::make_progress(terminal::has_progress() ? train::ProgressStyle::Line : train::ProgressStyle::Log,
                             group.ranks == nullptr ? std::vector<std::string>{} : group.ranks->hosts());
    task::TrainRun training(
        {.earlier = task::EarlierRun::Resume,
         .group = group.ranks,
         .servers = group.servers,
         .observers = {progress.get(), &watch},
         .on_data =
             [](const data::Dataset& dataset) {
               if (std::ranges::count(dataset.samples, data::Split::Val, &data::Sample::split) > 0) return;
               throw ConfigError(error_text("bench.long", "data", "validation images", "none",
                                            "--set data.val_fraction=0.1, or a split in the data"));
             },
         .on_start = host.listen_for_stop,
         .is_stop_asked = [&] { return watch.is_reached() || (host.is_stop_asked && host.is_stop_asked()); },
         .may_share_device = group.may_share_device});
    static_cast<void>(training.train(run.recipe, run.folder));
    return true;
  }

  [[nodiscard]] Value measure_all(const Target& target, const std::vector<LongRun>& runs, const TrainGroup& group,
                                  const Host& host) const {
    if (group.servers.is_async()) {  // the log lacks the time in which a worker waits for the others
      throw ConfigError(error_text("bench.long", "--update", "sync or ps, whose updates are timed", "async",
                                   "roentgen train, which has no target"));
    }
    if (group.servers.has_servers() && runs.size() > 1) {  // the first run divides the ranks until the process ends
      throw ConfigError(error_text("bench.long", "--batch", "one size beside --servers",
                                   fmt::format("{} sizes", runs.size()), "a command for each size"));
    }
    const train::Ranks ranks(group.ranks);
    Value rows = Value::array();
    std::vector<TargetTime> times;
    bool has_trained = false, is_stopped = false;
    if (ranks.is_first()) {
      for (const LongRun& run : runs) require_same_run(run, group);
    }
    for (const LongRun& run : runs) {
      if (ranks.is_first()) log::info(fmt::format("long: {}", run.folder.root().string()));
      const bool has_begun = train_one(target, run, group, host);
      if (!has_begun && ranks.is_first()) log::info("long: it has ended before");
      has_trained = has_trained || has_begun;
      if (ranks.is_first()) {
        times.push_back(time_to_target(target, run.folder.log()));
        is_stopped = !times.back().epochs && !train::is_finished(run.recipe, run.folder);
        rows.push_back(row_of(run, times.back()));
      }
      ranks.share(is_stopped, {.name = "end of a run"});
      if (is_stopped) break;
    }
    if (!ranks.is_first()) return {};
    Value result = result_of(target, runs.front().recipe, times, std::move(rows), group, {has_trained, is_stopped});
    result.set("data", one_line(train::folder_lines(runs.front().recipe.data)));
    // Different for every change of the recipe, also by --set. The data folders have their own entry.
    train::Recipe recipe = runs.front().recipe;
    recipe.data.root.clear();
    recipe.data.sources.clear();
    const std::string text = train::to_toml(recipe);
    result.set("recipe_hash", checksum(std::as_bytes(std::span(text))));
    return result;
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
                        {"epochs_done", time.epochs_done},
                        {"run", run.folder.root().string()}};
  }

  /// Work of this process.
  struct Course {
    bool has_trained = false;
    bool is_stopped = false;
  };

  [[nodiscard]] static Value result_of(const Target& target, const train::Recipe& recipe,
                                       const std::vector<TargetTime>& times, Value rows, const TrainGroup& group,
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
                                {"ranks", train::Ranks(group.ranks).size()}};
    add_exchange(result, group);
    result.set("max_epochs", recipe.train.epochs);
    result.set("reached", fastest != nullptr);
    result.set("stopped", course.is_stopped);
    result.set("trained", course.has_trained);
    result.set("time_to_target_s", fastest != nullptr ? Value(fastest->seconds()) : Value());
    result.set("epochs_to_target", fastest != nullptr ? Value(*fastest->epochs) : Value());
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
};

}  // namespace

std::unique_ptr<Case> make_long_case() { return std::make_unique<LongCase>(); }

}  // namespace roentgen::bench
