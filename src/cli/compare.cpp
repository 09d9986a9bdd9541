// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// roentgen compare: two runs or prediction files on the same images, or several of each, the difference of every AUROC
// with interval and p.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/command_list.h"
#include "cli/compare_side.h"
#include "cli/eval_data.h"
#include "cli/eval_output.h"
#include "cli/eval_part.h"
#include "cli/eval_set.h"
#include "cli/output_file.h"
#include "cli/prediction_match.h"
#include "cli/recipe_difference.h"
#include "cli/truth.h"
#include "core/error.h"
#include "core/foreign_text.h"
#include "core/log.h"
#include "core/plural.h"
#include "core/terminal.h"
#include "eval/comparison.h"
#include "eval/split_list.h"
#include "io/file.h"
#include "train/recipe.h"
#include "train/run_folder.h"

namespace roentgen::cli {
namespace {

namespace fs = std::filesystem;

/// A or B.
struct Side {
  std::string what;
  std::vector<ComparedModel> models;
  LabelTable table;
  /// One a model: the same images in the same order.
  std::vector<EvalSet> sets;

  [[nodiscard]] std::vector<eval::Predictions> predictions() const {
    std::vector<eval::Predictions> all;
    for (const EvalSet& set : sets) all.push_back(set.predictions);
    return all;
  }
};

class CompareCommand final : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "compare"; }
  [[nodiscard]] std::string_view summary() const override {
    return "Compare two models, or two recipes over seeds, on the same images: differences with intervals and p.";
  }
  [[nodiscard]] std::string_view examples() const override {
    return "roentgen compare run1 run2 --labels nih/Data_Entry_2017_v2020.csv --csv differences.csv\n"
           "roentgen compare runs_a runs_b --labels nih/Data_Entry_2017_v2020.csv\n"
           "roentgen compare run1 run2 --labels chexpert\n"
           "roentgen compare a0.csv,a1.csv,a2.csv b0.csv,b1.csv,b2.csv --labels labels.csv\n"
           "roentgen compare a_test.csv b_test.csv --labels Data_Entry_2017_v2020.csv --json compare.json\n"
           "roentgen eval --predictions a.csv --predictions b.csv --labels labels.csv --preds mean.csv && roentgen "
           "compare a.csv mean.csv --labels labels.csv";
  }
  [[nodiscard]] std::vector<Option> options() override {
    return {
        {.name = "A",
         .target = &a_,
         .doc = "run folder (its preds.csv) or csv of predictions; several seeds of one recipe: A1,A2,A3, or the "
                "folder of train --seeds",
         .need = Need::Required},
        {.name = "B", .target = &b_, .doc = "the same; differences are B - A", .need = Need::Required},
        {.name = "--labels",
         .target = &labels_,
         .doc = "data folder or label table, read as A's recipe says; given twice: A's and B's, each by its own",
         .value_name = "PATH"},
        {.name = "--set", .target = &overrides_, .doc = "data.key=value: how --labels is read, over the recipe"},
        {.name = "--csv", .target = &csv_, .doc = "write the differences to this csv", .is_output = true},
        {.name = "--replicates",
         .target = &replicates_,
         .doc = "bootstrap replicates; 0 = no intervals",
         .least = 0,
         .most = 1e6},
        {.name = "--seed", .target = &seed_, .doc = "of the bootstrap", .least = 0},
        {.name = "--threads", .target = &threads_, .doc = "compute threads; 0 = all cores", .least = 0, .most = 1e6}};
  }
  [[nodiscard]] Folders folders() const override;
  [[nodiscard]] CommandResult run() override;

 private:
  std::string a_;
  std::string b_;
  std::vector<std::string> labels_;
  std::vector<std::string> overrides_;
  fs::path csv_;
  std::int64_t replicates_ = 2000;
  std::int64_t seed_ = 0;
  std::int64_t threads_ = 0;
};

// What is read is never written to: the files of all runs.
Folders CompareCommand::folders() const {
  Folders folders;
  folders.read.assign(labels_.begin(), labels_.end());
  for (const std::string& side : {a_, b_}) {
    if (side.empty()) continue;
    for (const fs::path& path : model_paths(side)) {
      std::error_code ignored;
      if (!fs::is_directory(path, ignored)) {
        if (path != side) folders.read.push_back(path);
        continue;
      }
      const Paths own = train::RunFolder(path).own();
      folders.own.insert(folders.own.end(), own.begin(), own.end());
    }
  }
  return folders;
}

// A run's preds.csv is of its validation images by its best epoch.
bool chose_epoch_here(const Side& side) {
  return std::ranges::any_of(side.models, [](const ComparedModel& model) { return model.recipe.has_value(); });
}

void print_choice(const Side& a, const Side& b) {
  const bool of_a = chose_epoch_here(a), of_b = chose_epoch_here(b);
  if (!of_a && !of_b) return;
  terminal::print(fmt::format(
      "validation images of {}: the best epoch was chosen on them, so figures lean upwards; predictions of test images "
      "(eval --preds) do not\n",
      of_a && of_b ? "A and B" : (of_a ? "A" : "B")));
}

Value side_value(const Side& side) {
  Value value = Value::table();
  value.set("kind", side.models.front().recipe ? "run" : "predictions");
  value.set("seeds", static_cast<std::int64_t>(side.models.size()));
  value.set("epoch_chosen_on_these_images", chose_epoch_here(side));
  Value hashes = Value::array();
  for (const ComparedModel& model : side.models) hashes.push_back(model.predictions_sha256);
  value.set("predictions_sha256", side.models.size() == 1 ? Value(side.models.front().predictions_sha256) : hashes);
  value.set("labels_sha256", side.table.sha256_value());
  return value;
}

void check_truth(const EvalSet& a, const EvalSet& b, std::string_view what) {
  const auto& left = a.predictions.labels;
  const auto& right = b.predictions.labels;
  const std::size_t K = a.predictions.label_names.size();
  std::int64_t cells = 0;
  std::int64_t images = 0;
  for (std::size_t begin = 0; begin < left.size(); begin += K) {
    std::int64_t here = 0;
    for (std::size_t k = 0; k < K; ++k) here += left[begin + k] == right[begin + k] ? 0 : 1;
    cells += here;
    images += here > 0 ? 1 : 0;
  }
  if (cells == 0) return;
  throw DataError(error_text(
      "cli.compare", what, "the truth of A for every image",
      fmt::format("{} of {} that {}, in {} of {}", cells, counted(std::ssize(left), "label"),
                  plural(cells, "differs", "differ"), images, counted(std::ssize(a.predictions.image_ids), "image")),
      "one version of the labels for both"));
}

// Over several seeds each, these are no difference of the recipes.
void print_recipes(const Side& a, const Side& b, Value& json) {
  const auto& in_a = a.models.front().recipe;
  const auto& in_b = b.models.front().recipe;
  if (!in_a || !in_b) return;
  std::vector<RecipeDifference> differences = recipe_differences(*in_a, *in_b);
  if (a.models.size() > 1 || b.models.size() > 1) {
    std::erase_if(differences, [](const RecipeDifference& one) { return one.key == "train.seed"; });
  }
  terminal::print(fmt::format("\n{}", to_text(differences)));
  if (differences.size() == 1 && differences[0].key == "train.seed") {
    terminal::print("The seed alone differs: what is found here is the chance of training, not a better recipe.\n");
  }
  Value recipe = Value::table();
  for (const RecipeDifference& difference : differences) {
    const Value* left = in_a->find_path(difference.key);
    const Value* right = in_b->find_path(difference.key);
    recipe.set(difference.key,
               Value::Table{{"a", left == nullptr ? Value() : *left}, {"b", right == nullptr ? Value() : *right}});
  }
  json.set("recipe", std::move(recipe));
}

// The run was trained and validated on other labels than it is scored with here: allowed, and told.
void warn_of_version(std::string_view name, const Side& side) {
  for (const ComparedModel& model : side.models) {
    const auto& known = model.csv_sha256;
    if (known.empty()) continue;
    for (const LabelFile& file : side.table.files) {
      if (std::ranges::find(known, file.sha256) != known.end()) continue;
      log::warning(fmt::format("{} was trained with another version of the labels than {} (sha256 {})", name, file.name,
                               file.sha256));
      return;
    }
  }
}

std::string seeds_text(const Side& side) {
  return side.models.size() == 1 ? std::string() : fmt::format(" ({} seeds)", side.models.size());
}

// How a side's labels are read: as its own recipe says, else the other side's.
data::SourceOptions label_options(const std::vector<ComparedModel>& own, const std::vector<ComparedModel>& other,
                                  const std::vector<std::string>& overrides) {
  check_data_overrides(overrides);
  for (const ComparedModel* model : {&own.front(), &other.front()}) {
    if (model->recipe) return train::read_recipe(model->recipe_file, overrides).data;
  }
  return data_options(overrides);
}

// `first`: the model whose images and labels all others have, in its order.
Side make_side(std::string what, std::vector<ComparedModel> models, LabelTable table, const ComparedModel& first) {
  Side side{.what = std::move(what), .models = std::move(models), .table = std::move(table), .sets = {}};
  for (ComparedModel& model : side.models) {
    model.predictions = in_order_of(first.predictions, first.what, std::move(model.predictions), model.what);
    side.sets.push_back(join(model.predictions, side.table, model.what));
  }
  return side;
}

CommandResult CompareCommand::run() {
  if (labels_.empty() || labels_.size() > 2) {
    throw ConfigError(error_text("cli.arguments", "compare", "--labels PATH, once or twice",
                                 labels_.empty() ? "none" : fmt::format("{} times", labels_.size()),
                                 "roentgen compare --help"));
  }
  check_output_file("--csv", csv_, folders());
  std::vector<ComparedModel> models_a = read_models("A", a_);
  std::vector<ComparedModel> models_b = read_models("B", b_);
  const ComparedModel first = models_a.front();
  const std::vector<std::string>& names = first.predictions.labels;
  LabelTable table_a = read_truth(labels_.front(), names, label_options(models_a, models_b, overrides_), overrides_);
  LabelTable table_b = labels_.size() == 1 ? table_a
                                           : read_truth(labels_.back(), names,
                                                        label_options(models_b, models_a, overrides_), overrides_);
  const Side a = make_side(a_, std::move(models_a), std::move(table_a), first);
  Side b = make_side(b_, std::move(models_b), std::move(table_b), first);
  const EvalSet& set_a = a.sets.front();
  check_truth(set_a, b.sets.front(), b.models.front().what);
  warn_of_version("A", a);
  warn_of_version("B", b);
  std::vector<eval::Predictions> all_a = a.predictions();
  std::vector<eval::Predictions> all_b = b.predictions();
  for (std::vector<eval::Predictions>* side : {&all_a, &all_b}) {
    for (eval::Predictions& predictions : *side) {  // matched by name above: one image, one patient
      predictions.image_ids = set_a.predictions.image_ids;
      predictions.patients = set_a.predictions.patients;
    }
  }
  const eval::Comparison comparison = eval::compare(all_a, all_b,
                                                    {.replicates = replicates_,
                                                     .seed = static_cast<std::uint64_t>(seed_),
                                                     .threads = train::compute_threads({.threads = threads_})});
  terminal::print(fmt::format("A: {}{}\nB: {}{}\n{} of {}, {}\n", terminal_text(a.what), seeds_text(a),
                              terminal_text(b.what), seeds_text(b), counted(comparison.images, "image"),
                              counted(comparison.patients, "patient"), list_text(set_a.list_sha256)));
  terminal::print(absent_text(a.table.absent, set_a.predictions.label_count()));
  if (set_a.unknown_patients > 0) {
    terminal::print(unknown_patients_text(set_a.unknown_patients));
  }
  print_choice(a, b);
  terminal::print(eval::to_text(comparison));
  Value json = eval::to_value(comparison);
  json.set("list_sha256", set_a.list_sha256);
  json.set("known_list", known_list_value(set_a.list_sha256));
  if (!a.table.absent.empty()) json.set("absent_labels", names_value(a.table.absent));
  json.set("a", side_value(a));
  json.set("b", side_value(b));
  print_recipes(a, b, json);
  if (!csv_.empty()) io::write_file_atomically(csv_, eval::to_csv(comparison));
  return {.json = json};
}

}  // namespace

std::unique_ptr<Command> make_compare_command() { return std::make_unique<CompareCommand>(); }

}  // namespace roentgen::cli
