// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// roentgen compare: compares two models, or two recipes with several seeds each, on the same images. Prints the
// difference of every AUROC with confidence interval and p-value.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/arguments.h"
#include "cli/command_list.h"
#include "cli/data_overrides.h"
#include "cli/model_argument.h"
#include "cli/output_file.h"
#include "core/foreign_text.h"
#include "core/log.h"
#include "core/plural.h"
#include "core/terminal.h"
#include "eval/comparison.h"
#include "eval/split_list.h"
#include "eval/text_columns.h"
#include "io/file.h"
#include "score/compared_side.h"
#include "score/evaluated_data.h"
#include "score/image_part.h"
#include "score/recipe_difference.h"
#include "score/truth.h"
#include "train/recipe.h"
#include "train/run_folder.h"
#include "train/run_origin.h"

namespace roentgen::cli {
namespace {

namespace fs = std::filesystem;

class CompareCommand final : public Command {
 public:
  CompareCommand()
      : Command("compare", "Compare models on the same images, with confidence intervals.",
                "roentgen compare run1 run2 --labels nih/Data_Entry_2017_v2020.csv --csv differences.csv\n"
                "roentgen compare runs_a runs_b --labels nih/Data_Entry_2017_v2020.csv\n"
                "roentgen compare run1 run2\n"
                "roentgen compare run1 run2 --labels chexpert\n"
                "roentgen compare one_rank two_ranks four_ranks --labels nih\n"
                "roentgen compare a0.csv,a1.csv,a2.csv b0.csv,b1.csv,b2.csv --labels labels.csv\n"
                "roentgen compare a_test.csv b_test.csv --labels Data_Entry_2017_v2020.csv --json compare.json") {}
  [[nodiscard]] std::vector<Option> options() override {
    return {
        {.name = "A",
         .target = &a_,
         .doc = "run folder or csv of predictions; seeds: A1,A2, or folder of --seeds",
         .need = Need::Required},
        {.name = "B", .target = &b_, .doc = "like A; differences are B - A", .need = Need::Required},
        {.name = "MORE", .target = &more_, .doc = "further models like B, each compared with A"},
        {.name = "--labels",
         .target = &labels_,
         .doc = "true labels: data folder (default: of the runs) or table; twice: A, B",
         .value_name = "PATH"},
        {.name = "--set", .target = &overrides_, .doc = "data.key=value that overrides how the recipe reads --labels"},
        {.name = "--csv",
         .target = &csv_,
         .doc = "write the differences between the models to this csv",
         .is_output = true},
        {.name = "--replicates",
         .target = &replicates_,
         .doc = "bootstrap replicates for confidence intervals; 0 = no intervals",
         .range = {0, 1e6}},
        {.name = "--seed", .target = &seed_, .doc = "random seed of the bootstrap", .range = {.low = 0}},
        {.name = "--threads", .target = &threads_, .doc = "compute threads; 0 = all cores", .range = {0, 1e6}}};
  }
  [[nodiscard]] Folders folders() const override;
  [[nodiscard]] CommandResult run() override;

 private:
  /// Compares model A with another model, prints the result, and adds rows for the table of several models. @return
  /// JSON of the comparison
  [[nodiscard]] Value compare_with(const std::string& other, std::vector<eval::TextRow>& rows) const;

  std::string a_;
  std::string b_;
  std::vector<std::string> more_;
  std::vector<std::string> labels_;
  std::vector<std::string> overrides_;
  fs::path csv_;
  std::int64_t replicates_ = 2000;
  std::int64_t seed_ = 0;
  std::int64_t threads_ = 0;
};

// Returns the folders of all compared runs, which the command must not write to.
Folders CompareCommand::folders() const {
  Folders folders;
  folders.read.assign(labels_.begin(), labels_.end());
  std::vector<std::string> sides{a_, b_};
  sides.insert(sides.end(), more_.begin(), more_.end());
  for (const std::string& side : sides) {
    if (side.empty()) continue;
    for (const fs::path& path : model_paths(side)) {
      std::error_code ignored;
      if (!fs::is_directory(path, ignored)) {
        if (path != side) folders.read.push_back(path);
        continue;
      }
      folders.runs.push_back(path);
    }
  }
  return folders;
}

void print_choice(const score::ComparedSide& a, const score::ComparedSide& b) {
  const bool of_a = a.has_chosen_epoch(), of_b = b.has_chosen_epoch();
  if (!of_a && !of_b) return;
  terminal::print(
      fmt::format("validation images of {}: the best epoch was chosen on them, so these metrics are optimistically "
                  "biased; compare predictions of test images (eval --preds) instead\n",
                  of_a && of_b ? "A and B" : (of_a ? "A" : "B")));
}

// Prints the recipe keys whose values differ between the two models. Omits train.seed if a model was trained with
// several seeds.
void print_recipes(const score::ComparedSide& a, const score::ComparedSide& b, Value& json) {
  const auto& in_a = a.models.front().recipe;
  const auto& in_b = b.models.front().recipe;
  if (!in_a || !in_b) return;
  std::vector<score::RecipeDifference> differences = score::recipe_differences(*in_a, *in_b);
  if (a.models.size() > 1 || b.models.size() > 1) {
    std::erase_if(differences, [](const score::RecipeDifference& one) { return one.key == "train.seed"; });
  }
  terminal::print(fmt::format("\n{}", score::to_text(differences)));
  if (differences.size() == 1 && differences[0].key == "train.seed") {
    terminal::print("Only the seed differs: differences show the randomness of training, not a better recipe.\n");
  }
  json.set("recipe", score::to_value(differences));
}

std::string title(std::string_view name, const score::ComparedSide& side) {
  std::string about = side.models.size() == 1 ? std::string() : fmt::format("{} seeds", side.models.size());
  const std::string group = score::group_text(side);
  if (!group.empty()) about += (about.empty() ? "" : "; ") + group;
  return fmt::format("{}: {}{}\n", name, terminal_text(side.what), about.empty() ? "" : " (" + about + ")");
}

// Returns a row of the table that compares several models.
eval::TextRow scale_row(const score::ComparedSide& side, const eval::Estimate& auroc, const eval::Difference* against) {
  const score::ComparedModel& model = side.models.front();
  const auto count = [](std::int64_t number) { return number > 0 ? fmt::to_string(number) : std::string("-"); };
  const auto digits = [](const std::optional<double>& value, std::string_view form) {
    return value ? fmt::format(fmt::runtime(form), *value) : std::string("-");
  };
  const bool is_known = !score::group_text(side).starts_with("several");
  eval::TextRow row{side.what, count(is_known ? model.ranks : 0), count(is_known ? model.images_per_update : 0),
                    digits(auroc.value, "{:.4f}")};
  const std::optional<double> none;
  row.push_back(digits(against == nullptr ? none : against->delta.value, "{:+.4f}"));
  row.push_back(digits(against == nullptr ? none : against->p, "{:.4f}"));
  return row;
}

// Returns the options for reading a model's labels: from its own recipe, or else from the recipe of the other compared
// model.
data::SourceOptions label_options(const std::vector<score::ComparedModel>& own,
                                  const std::vector<score::ComparedModel>& other,
                                  const std::vector<std::string>& overrides) {
  check_data_overrides(overrides);
  for (const score::ComparedModel* model : {&own.front(), &other.front()}) {
    if (model->recipe) return train::read_recipe(train::RunFolder(model->what).recipe(), overrides).data;
  }
  return data_options(overrides);
}

// Returns the data folder of all runs that the arguments name. Throws ConfigError if an argument names predictions, or
// if the runs do not have the same single data folder.
std::string data_of_runs(const std::vector<std::string>& sides) {
  std::string first, common;
  for (const std::string& side : sides) {
    for (const fs::path& run : model_paths(side)) {
      const std::vector<std::string> stored = train::stored_data_folders(train::RunFolder(run));
      if (stored.size() != 1) {
        refuse_arguments("compare", "--labels PATH, once or twice, or runs with one data folder",
                         fmt::format("no --labels, and {} for {}", counted(std::ssize(stored), "data folder"),
                                     terminal_text(run.string())),
                         "--labels PATH");
      }
      const std::string folder = data::folder_of(stored.front()).string();
      if (common.empty()) {
        common = folder;
        first = run.string();
      }
      if (folder == common) continue;
      refuse_arguments("compare", fmt::format("one data folder of all runs, {} as for {}", common, first),
                       fmt::format("no --labels, and {} for {}", folder, run.string()), "--labels PATH");
    }
  }
  return common;
}

CommandResult CompareCommand::run() {
  if (labels_.size() > 2) {
    refuse_arguments("compare", "--labels PATH, once or twice", fmt::format("{} times", labels_.size()));
  }
  if (labels_.empty()) {
    std::vector<std::string> sides{a_, b_};
    sides.insert(sides.end(), more_.begin(), more_.end());
    labels_ = {data_of_runs(sides)};
  }
  if (!csv_.empty() && !more_.empty()) {
    refuse_arguments("compare --csv", "only two models, A and B", counted(std::ssize(more_), "further model"),
                     "--json instead of --csv");
  }
  std::vector<eval::TextRow> rows{{"model", "ranks", "images an update", "mean AUROC", "difference", "p"}};
  Value json = compare_with(b_, rows);
  if (more_.empty()) return {.json = json};
  Value& others = json.set("more", Value::array());
  for (const std::string& other : more_) {
    terminal::print("\n");
    others.push_back(compare_with(other, rows));
  }
  terminal::print(fmt::format("\n{}", eval::in_columns(std::move(rows), eval::LastLine::Alike)));
  return {.json = json};
}

Value CompareCommand::compare_with(const std::string& other, std::vector<eval::TextRow>& rows) const {
  std::vector<score::ComparedModel> models_a = read_models("A", a_);
  std::vector<score::ComparedModel> models_b = read_models("B", other);
  const score::ComparedModel first = models_a.front();
  const auto read_truth = [&](const std::string& path, const auto& own, const auto& beside) {
    return score::read_truth(path, first.predictions.labels, label_options(own, beside, overrides_), overrides_);
  };
  const score::Truth truth_a = read_truth(labels_.front(), models_a, models_b);
  std::optional<score::Truth> truth_b;
  if (labels_.size() > 1) truth_b = read_truth(labels_.back(), models_b, models_a);
  const score::ComparedSide a = score::make_side(a_, std::move(models_a), truth_a, first);
  const score::ComparedSide b = score::make_side(other, std::move(models_b), truth_b ? *truth_b : truth_a, first);
  score::check_truth(a, b);
  for (const std::string& warning : {score::version_warning("A", a), score::version_warning("B", b)}) {
    if (!warning.empty()) log::warning(warning);
  }
  const eval::Comparison comparison = score::compare(a, b,
                                                     {.replicates = replicates_,
                                                      .seed = static_cast<std::uint64_t>(seed_),
                                                      .threads = train::compute_threads({.threads = threads_})});
  const score::EvalSet& set = a.sets.front();
  terminal::print(title("A", a) + title("B", b) +
                  fmt::format("{} of {}, {}\n", counted(comparison.images, "image"),
                              counted(comparison.patients, "patient"), score::list_text(set.list_sha256)));
  terminal::print(score::absent_text(truth_a.dataset) + score::unknown_patients_text(set));
  print_choice(a, b);
  terminal::print(eval::to_text(comparison));
  Value json = eval::to_value(comparison);
  json.set("list_sha256", set.list_sha256);
  json.set("known_list", eval::known_list_value(set.list_sha256));
  const std::vector<std::string> absent = data::absent_labels(truth_a.dataset);
  if (!absent.empty()) json.set("absent_labels", Value::Array(absent.begin(), absent.end()));
  json.set("a", score::to_value(a));
  json.set("b", score::to_value(b));
  print_recipes(a, b, json);
  if (!csv_.empty()) io::write_file_atomically(csv_, eval::to_csv(comparison));
  if (rows.size() == 1) rows.push_back(scale_row(a, comparison.mean.a, nullptr));
  rows.push_back(scale_row(b, comparison.mean.b, &comparison.mean));
  return json;
}

}  // namespace

std::unique_ptr<Command> make_compare_command() { return std::make_unique<CompareCommand>(); }

}  // namespace roentgen::cli
