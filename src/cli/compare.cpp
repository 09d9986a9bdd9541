// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// roentgen compare: two runs or prediction files on the same images, the difference of every AUROC with interval and p.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/command_list.h"
#include "cli/eval_set.h"
#include "cli/output_file.h"
#include "cli/prediction_match.h"
#include "cli/recipe_difference.h"
#include "core/error.h"
#include "core/log.h"
#include "eval/comparison.h"
#include "eval/split_list.h"
#include "io/file.h"
#include "io/json.h"
#include "io/sha256.h"
#include "io/toml.h"
#include "train/recipe.h"
#include "train/run_folder.h"

namespace roentgen::cli {
namespace {

namespace fs = std::filesystem;

/// A or B.
struct Side {
  /// As given on the command line.
  std::string what;
  PredictionFile predictions;
  std::string predictions_sha256;
  /// Of a run folder.
  std::optional<Value> recipe;
  /// Of a run folder: SHA-256 of its label tables.
  std::vector<std::string> csv_sha256;
};

class CompareCommand final : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "compare"; }
  [[nodiscard]] std::string_view summary() const override {
    return "Compare two runs, or files of predictions, on the same images: paired differences with intervals and p.";
  }
  [[nodiscard]] std::string_view examples() const override {
    return "roentgen compare run1 run2 --labels nih/Data_Entry_2017_v2020.csv --csv differences.csv\n"
           "roentgen compare a_test.csv b_test.csv --labels Data_Entry_2017_v2020.csv --json compare.json\n"
           "roentgen eval --predictions a.csv --predictions b.csv --labels labels.csv --preds mean.csv && roentgen "
           "compare a.csv mean.csv --labels labels.csv";
  }
  [[nodiscard]] std::vector<Option> options() override {
    return {
        {.name = "A",
         .target = &a_,
         .doc = "run folder (its preds.csv), or csv of predictions",
         .need = Need::Required},
        {.name = "B", .target = &b_, .doc = "the same; differences are B - A", .need = Need::Required},
        {.name = "--labels", .target = &labels_, .doc = "label table; given twice: A's and B's", .value_name = "FILE"},
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
  void print_recipes(const Side& a, const Side& b, Value& json) const;

  fs::path a_;
  fs::path b_;
  std::vector<std::string> labels_;
  fs::path csv_;
  std::int64_t replicates_ = 2000;
  std::int64_t seed_ = 0;
  std::int64_t threads_ = 0;
};

// What is read is never written to: the files of both runs.
Folders CompareCommand::folders() const {
  Folders folders;
  for (const fs::path& side : {a_, b_}) {
    std::error_code ignored;
    if (!fs::is_directory(side, ignored)) continue;
    const Paths own = train::RunFolder(side).own();
    folders.own.insert(folders.own.end(), own.begin(), own.end());
  }
  return folders;
}

Side read_side(const fs::path& path) {
  Side side{.what = path.string(), .predictions = {}, .predictions_sha256 = {}, .recipe = {}, .csv_sha256 = {}};
  fs::path file = path;
  if (fs::is_directory(path)) {
    const train::RunFolder folder(path);
    file = folder.predictions();
    if (!fs::exists(file) || !fs::exists(folder.recipe())) {
      throw ConfigError(error_text("cli.compare", side.what, "a run folder with preds.csv and recipe.toml",
                                   fs::exists(file) ? "no recipe.toml" : "no preds.csv",
                                   "a run that has finished an epoch with validation, or a csv of predictions"));
    }
    // Through the recipe's own table: keys that a file leaves out have their defaults.
    side.recipe = train::to_value(train::read_recipe(folder.recipe(), {}));
    if (fs::exists(folder.data())) {
      const Value data = io::parse_json(io::read_text(folder.data()).or_throw(), folder.data().string()).or_throw();
      if (const Value* tables = data.find("csv")) {
        for (const Value& table : tables->as_array()) side.csv_sha256.push_back(table.at("sha256").as_string());
      }
    }
  }
  side.predictions = read_prediction_file(file);
  side.predictions_sha256 = io::sha256_hex(io::read_text(file).or_throw());
  return side;
}

Value side_value(const Side& side, const LabelTable& table) {
  Value value = Value::table();
  value.set("kind", side.recipe ? "run" : "predictions");
  value.set("predictions_sha256", side.predictions_sha256);
  value.set("labels_sha256", table.sha256);
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
  throw DataError(error_text("cli.compare", what, "the truth of A for every image",
                             fmt::format("{} of {} labels that differ, in {} of {} images", cells, left.size(), images,
                                         a.predictions.image_ids.size()),
                             "one version of the labels for both"));
}

void CompareCommand::print_recipes(const Side& a, const Side& b, Value& json) const {
  if (!a.recipe || !b.recipe) return;
  const std::vector<RecipeDifference> differences = recipe_differences(*a.recipe, *b.recipe);
  fmt::print("\n{}", to_text(differences));
  if (differences.size() == 1 && differences[0].key == "train.seed") {
    fmt::print("The seed alone differs: what is found here is the chance of training, not a better recipe.\n");
  }
  Value recipe = Value::table();
  for (const RecipeDifference& difference : differences) {
    const Value* in_a = a.recipe->find_path(difference.key);
    const Value* in_b = b.recipe->find_path(difference.key);
    recipe.set(difference.key,
               Value::Table{{"a", in_a == nullptr ? Value() : *in_a}, {"b", in_b == nullptr ? Value() : *in_b}});
  }
  json.set("recipe", std::move(recipe));
}

// The run was trained and validated on other labels than it is scored with here: allowed, and told.
void warn_of_version(std::string_view name, const Side& side, const LabelTable& table) {
  const auto& known = side.csv_sha256;
  if (known.empty() || std::ranges::find(known, table.sha256) != known.end()) return;
  log::warning(fmt::format("{} was trained with another version of the labels than {} (sha256 {})", name, table.what,
                           table.sha256));
}

CommandResult CompareCommand::run() {
  if (labels_.empty() || labels_.size() > 2) {
    throw ConfigError(error_text("cli.arguments", "compare", "--labels FILE, once or twice",
                                 labels_.empty() ? "none" : fmt::format("{} times", labels_.size()),
                                 "roentgen compare --help"));
  }
  check_output_file("--csv", csv_, folders());
  const Side a = read_side(a_);
  Side b = read_side(b_);
  b.predictions = in_order_of(a.predictions, a.what, std::move(b.predictions), b.what);
  const LabelTable table_a = read_label_table(labels_.front(), a.predictions.labels);
  const LabelTable table_b = read_label_table(labels_.back(), b.predictions.labels);
  const EvalSet set_a = join(a.predictions, table_a, a.what);
  EvalSet set_b = join(b.predictions, table_b, b.what);
  check_truth(set_a, set_b, b.what);
  warn_of_version("A", a, table_a);
  warn_of_version("B", b, table_b);
  // Matched by name above: one image, one patient.
  set_b.predictions.image_ids = set_a.predictions.image_ids;
  set_b.predictions.patients = set_a.predictions.patients;
  const eval::Comparison comparison = eval::compare(set_a.predictions, set_b.predictions,
                                                    {.replicates = replicates_,
                                                     .seed = static_cast<std::uint64_t>(seed_),
                                                     .threads = train::compute_threads({.threads = threads_})});
  const eval::KnownList* known = eval::find_known_list(set_a.list_sha256);
  fmt::print("A: {}\nB: {}\n{} images of {} patients, list {} ({})\n", a.what, b.what, comparison.images,
             comparison.patients, set_a.list_sha256,
             known == nullptr ? "not a published list" : std::string(known->name));
  if (set_a.unknown_patients > 0) {
    fmt::print("{} images of unknown patient: each counts as a patient of its own\n", set_a.unknown_patients);
  }
  fmt::print("{}", eval::to_text(comparison));
  Value json = eval::to_value(comparison);
  json.set("list_sha256", set_a.list_sha256);
  json.set("known_list", known == nullptr ? Value() : Value(known->id));
  json.set("a", side_value(a, table_a));
  json.set("b", side_value(b, table_b));
  print_recipes(a, b, json);
  if (!csv_.empty()) io::write_file_atomically(csv_, eval::to_csv(comparison));
  return {.json = json};
}

}  // namespace

std::unique_ptr<Command> make_compare_command() { return std::make_unique<CompareCommand>(); }

}  // namespace roentgen::cli
