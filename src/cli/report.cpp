// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// roentgen report: writes one run, or a comparison of two runs, as an HTML page.
#include <fmt/format.h>

#include <map>
#include <utility>

#include "cli/command_list.h"
#include "cli/output_file.h"
#include "core/error.h"
#include "core/log.h"
#include "core/terminal.h"
#include "data/source/table_fields.h"
#include "engine/engine.h"
#include "io/file.h"
#include "io/json.h"
#include "io/sha256.h"
#include "io/toml.h"
#include "publish/error_gallery.h"
#include "publish/report_page.h"
#include "publish/run_tables.h"
#include "score/compared_side.h"
#include "score/eval_set.h"
#include "score/evaluated_data.h"
#include "score/recipe_difference.h"
#include "score/stored_evaluation.h"
#include "score/truth.h"
#include "task/device_option.h"
#include "train/aurocs_csv.h"
#include "train/recipe.h"
#include "train/run_folder.h"

namespace roentgen::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kReplicates = 2000;  // same number as in roentgen compare

// Reads all complete lines of a log. The last line may be incomplete if the run was killed or is still running.
std::vector<Value> read_log(const fs::path& path) {
  const std::string text = io::read_text(path).or_throw();
  std::vector<Value> lines;
  std::string_view rest = text;
  for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    const std::string what = fmt::format("{} line {}", path.string(), lines.size() + 1);
    lines.push_back(io::parse_json(rest.substr(0, end), what).or_throw());
    rest.remove_prefix(end + 1);
  }
  return lines;
}

// Name of the run: the last part of its folder's path.
std::string run_name(const fs::path& folder) {
  const fs::path full = fs::absolute(folder).lexically_normal();
  return (full.has_filename() ? full : full.parent_path()).filename().string();
}

std::string short_hash(const std::string& sha256) { return sha256.substr(0, 12); }

// SHA-256 hashes of the label tables that a run was trained with.
std::vector<std::string> table_hashes(const Value& data) {
  std::vector<std::string> hashes;
  if (const Value* tables = data.find("csv"); tables != nullptr && tables->is_array()) {
    for (const Value& table : tables->as_array()) hashes.push_back(publish::text_of(table.find("sha256")));
  }
  return hashes;
}

publish::ReportRun read_run(const fs::path& path, const fs::path& evaluation) {
  const train::RunFolder folder(path);
  for (const fs::path& file : {folder.recipe(), folder.log()}) {
    if (fs::is_regular_file(file)) continue;
    throw ConfigError(error_text("cli.report", path.string(), "a run folder with recipe.toml and log.jsonl",
                                 "no " + file.filename().string(), "the --out folder of roentgen train"));
  }
  publish::ReportRun run{.name = run_name(path)};
  run.recipe = io::parse_toml(io::read_text(folder.recipe()).or_throw(), folder.recipe().string()).or_throw();
  run.log = read_log(folder.log());
  if (fs::exists(folder.data())) run.data = io::read_json(folder.data()).or_throw<ConfigError>();
  if (!evaluation.empty()) run.evaluation = score::read_evaluation(evaluation, folder.best());
  publish::check_tables("publish.report", run.data, run.evaluation);
  if (evaluation.empty() && fs::exists(folder.aurocs())) {
    for (auto& [label, auroc] : train::read_aurocs(folder.aurocs())) {
      run.validation.push_back({.label = std::move(label), .value = auroc});
    }
  }
  return run;
}

// Images, label names and true labels on which a run's metrics are based, as far as the files of the run state them.
struct FigureBasis {
  std::string list{};                           // hash of the images' names
  std::string unit = "image";                   // score::evaluated_unit()
  std::map<std::string, std::string> labels{};  // for each label "12 of 340": its positives and known images
  std::string tables{};                         // hashes of the label tables; empty for an evaluation
};

std::string counts_text(const std::string& positives, const std::string& known) { return positives + " of " + known; }

FigureBasis validation_basis(const publish::ReportRun& run) {
  FigureBasis basis{.list = publish::text_of(publish::find(run.data, {"splits", "val", "list_sha256"}))};
  for (const publish::ForestRow& row : run.validation) {
    std::string& text = basis.labels[row.label] = "an unknown number";
    const Value* counts = publish::find(run.data, {"splits", "val", "labels", row.label});
    if (counts == nullptr) continue;
    const double positives = publish::number_of(counts->find("positives")).value_or(0.0);
    const double negatives = publish::number_of(counts->find("negatives")).value_or(0.0);
    text = counts_text(fmt::format("{}", positives), fmt::format("{}", positives + negatives));
  }
  basis.tables = fmt::format("{}", fmt::join(table_hashes(run.data), ", "));
  return basis;
}

FigureBasis basis_of(const publish::ReportRun& run) {
  if (run.evaluation.is_null()) return validation_basis(run);
  FigureBasis basis{.list = publish::evaluated_list(run.evaluation), .unit = score::evaluated_unit(run.evaluation)};
  for (const auto& [label, row] : publish::find(run.evaluation, {"auroc", "labels"})->as_table()) {
    basis.labels[label] = counts_text(publish::text_of(row.find("positives")), publish::text_of(row.find("n")));
  }
  return basis;
}

// Throws ConfigError if two runs used different label tables for their validation metrics. Equal counts alone do not
// prove equal labels.
void check_same_tables(const publish::ReportRun& run, const FigureBasis& a, const FigureBasis& b,
                       const std::string& what) {
  if (!run.evaluation.is_null() || a.labels.empty()) return;
  if (!a.tables.empty() && a.tables == b.tables) return;
  const auto text = [](const FigureBasis& basis) {
    return basis.tables.empty() ? std::string("no label tables in data.json") : short_hash(basis.tables);
  };
  throw ConfigError(error_text("cli.report", what, fmt::format("the same label tables as {}: {}", run.name, text(a)),
                               text(b), "--labels PATH, so that both runs are compared with the same true labels"));
}

// Throws ConfigError unless the metrics of two runs are based on the same images, label names and true labels.
void check_same_figures(const publish::ReportRun& run, const publish::ReportRun& beside, const std::string& what) {
  const FigureBasis a = basis_of(run), b = basis_of(beside);
  const auto names = [](const FigureBasis& basis) {
    std::vector<std::string> all;
    for (const auto& [label, counts] : basis.labels) all.push_back(label);
    return all;
  };
  const auto refuse = [&](std::string_view expected, std::string_view got, std::string_view remedy) {
    throw ConfigError(error_text("cli.report", what, expected, got, remedy));
  };
  if (names(a) != names(b)) {
    refuse(fmt::format("results for the labels of {}: {}", run.name, data::first_names(names(a), 20)),
           "results for " + data::first_names(names(b), 20), "two runs with the same labels");
  }
  if (!a.list.empty() && !b.list.empty() && a.list != b.list) {
    refuse(fmt::format("results on the images of {} (list {})", run.name, short_hash(a.list)),
           fmt::format("results on other images (list {})", short_hash(b.list)),
           "evaluating both runs on the same images");
  }
  if (a.unit != b.unit) refuse("results per " + a.unit, "results per " + b.unit, "the same --by for both evaluations");
  for (const auto& [label, counts] : a.labels) {
    if (b.labels.at(label) == counts) continue;
    refuse(fmt::format("as many positive images as in {}: {} for {}", run.name, counts, label), b.labels.at(label),
           "evaluating both runs with the same version of the labels");
  }
  check_same_tables(run, a, b, what);
}

score::ComparedModel read_predictions(const fs::path& run, const fs::path& given, const publish::ReportRun& read) {
  const fs::path file = given.empty() ? train::RunFolder(run).predictions() : given;
  if (!fs::exists(file)) {
    throw ConfigError(error_text("cli.report", file.string(), "a file of predictions for --labels", "no such file",
                                 "--preds FILE, or a run that has finished an epoch with validation"));
  }
  score::ComparedModel model = score::read_model(file.string(), file);
  model.csv_sha256 = table_hashes(read.data);
  return model;
}

class ReportCommand final : public Command {
 public:
  ReportCommand()
      : Command("report", "Write a report of one run or two as a self-contained HTML page.",
                "roentgen report run --evaluation eval.json --out report.html\n"
                "roentgen report run --preds test_preds.csv --labels nih --data nih --out report.html\n"
                "roentgen report run --beside run2 --labels nih --out report.html") {}
  [[nodiscard]] std::vector<Option> options() override {
    return {
        {.name = "RUN", .target = &run_, .doc = "run folder of roentgen train", .need = Need::Required},
        {.name = "--out", .target = &out_, .doc = "HTML file to write", .need = Need::Required, .is_output = true},
        {.name = "--evaluation",
         .target = &evaluation_,
         .doc = "JSON of roentgen eval (default: AUROCs of training, without intervals)",
         .value_name = "FILE"},
        {.name = "--preds",
         .target = &predictions_,
         .doc = "csv of predictions for the curves (default: on the validation split)",
         .value_name = "FILE"},
        {.name = "--labels",
         .target = &labels_,
         .doc = "data folder or label table with the true labels for --preds",
         .value_name = "PATH"},
        {.name = "--data",
         .target = &data_,
         .doc = "folder with the images of --preds, for a gallery of the worst errors",
         .value_name = "DIR"},
        {.name = "--beside",
         .target = &beside_,
         .doc = "second run to show in all tables and plots; with --labels: differences",
         .value_name = "RUN"},
        {.name = "--beside-evaluation",
         .target = &beside_evaluation_,
         .doc = "like --evaluation, for the second run (--beside) on the same images",
         .value_name = "FILE"},
        {.name = "--beside-preds",
         .target = &beside_predictions_,
         .doc = "like --preds, for the second run (--beside) on the same images",
         .value_name = "FILE"},
        {.name = "--gallery",
         .target = &cases_,
         .doc = "number of false positives and negatives shown per finding; 0 = none",
         .range = {0, 24}},
        task::device_option(device_),
        {.name = "--image-names",
         .target = &shows_names_,
         .doc = "show image names in the gallery; a name can contain a patient's number"},
        {.name = "--forest", .target = &forest_, .doc = "write a forest plot of the AUROCs as SVG", .is_output = true}};
  }
  [[nodiscard]] Folders folders() const override {
    Folders folders{.data = data_, .made = {}, .read = {labels_}, .runs = {run_}};
    if (!beside_.empty()) folders.runs.push_back(beside_);
    return folders;
  }

  [[nodiscard]] CommandResult run() override {
    check_arguments();
    static_cast<void>(engine::parse_device(device_));
    publish::ReportInput input{.runs = {read_run(run_, evaluation_)}};
    if (!beside_.empty()) {
      input.runs.push_back(read_run(beside_, beside_evaluation_));
      if (!evaluation_.empty() || labels_.empty()) {  // otherwise the comparison of predictions makes this check
        check_same_figures(input.runs[0], input.runs[1],
                           (beside_evaluation_.empty() ? beside_ : beside_evaluation_).string());
      }
      input.recipe_differences = score::to_value(score::recipe_differences(
          publish::without_folders(input.runs[0].recipe), publish::without_folders(input.runs[1].recipe)));
    }
    if (!labels_.empty()) add_scored(input);
    warn_of_unknown_weights(input);
    add_gallery(input);
    const std::string forest = forest_.empty() ? "" : publish::forest_figure(input);
    io::write_file_atomically(out_, publish::report_page(input));
    if (!forest_.empty()) io::write_file_atomically(forest_, forest);
    terminal::print(fmt::format("{}: a self-contained page\n", out_.string()));
    return {.json = Value::Table{{"file", out_.string()},
                                 {"has_evaluation", !input.runs[0].evaluation.is_null()},
                                 {"has_curves", input.runs[0].scored.has_value()},
                                 {"has_gallery", input.gallery.has_value()}}};
  }

 private:
  void check_arguments() const {
    const auto need = [](bool holds, std::string_view what, std::string_view expected, std::string_view got) {
      if (!holds) throw ConfigError(error_text("cli.report", what, expected, got, "roentgen report --help"));
    };
    need(predictions_.empty() || !labels_.empty(), "--preds", "also --labels PATH with the true labels", "no --labels");
    need(!beside_.empty() || (beside_evaluation_.empty() && beside_predictions_.empty()),
         beside_evaluation_.empty() ? "--beside-preds" : "--beside-evaluation", "also --beside RUN with the second run",
         "no --beside");
    if (!beside_.empty()) {
      need(evaluation_.empty() == beside_evaluation_.empty(), "--beside",
           "--evaluation and --beside-evaluation, or neither", "only one");
      need(predictions_.empty() == beside_predictions_.empty(), "--beside", "--preds and --beside-preds, or neither",
           "only one");
    }
    if (!data_.empty() && !fs::is_directory(data_)) {
      throw ConfigError(error_text("cli.report", "--data " + data_.string(), "a folder with images", "no such folder",
                                   "the folder of the images, or leaving out --data"));
    }
  }

  // Warns if an evaluation does not identify the model weights. This happens for predictions that were read from a
  // file.
  void warn_of_unknown_weights(const publish::ReportInput& input) const {
    for (std::size_t i = 0; i < input.runs.size(); ++i) {
      const Value& evaluation = input.runs[i].evaluation;
      if (evaluation.is_null() || publish::find(evaluation, {"checkpoint", "weights_sha256"}) != nullptr) continue;
      if (!(i == 0 ? predictions_ : beside_predictions_).empty()) continue;
      log::warning(fmt::format(
          "{} names no weights, so nothing shows that its figures are of run {}; --preds and --labels check them",
          (i == 0 ? evaluation_ : beside_evaluation_).string(), input.runs[i].name));
    }
  }

  void add_gallery(publish::ReportInput& input) const {
    const train::RunFolder folder(run_);
    if (cases_ == 0) {
      input.no_gallery = "None was asked for (--gallery 0).";
    } else if (data_.empty()) {
      input.no_gallery =
          fmt::format("--data DIR{} fills this section: the images on which the model errs most, with heat-maps.",
                      labels_.empty() ? " with --labels PATH" : "");
    } else if (!input.runs[0].scored) {
      input.no_gallery = "No truth to tell errors by: --labels PATH, with --preds FILE or the run's own preds.csv.";
    } else if (!fs::exists(folder.best())) {
      input.no_gallery = "No heat-maps: the run folder has no checkpoints/best.safetensors.";
    } else {
      const publish::GalleryRequest request{
          .checkpoint = folder.best(),
          .data = data_,
          .cases = cases_,
          .names = shows_names_ ? publish::ImageNames::Shown : publish::ImageNames::Hidden};
      input.gallery = publish::make_gallery(input.runs[0].scored->predictions, request, *engine::make_engine(device_));
    }
  }

  // Adds each run's predictions with the true labels, and for two runs the comparison of them. Images are grouped as in
  // the evaluations: by image or by study.
  void add_scored(publish::ReportInput& input) const {
    std::vector<score::ComparedModel> models{read_predictions(run_, predictions_, input.runs[0])};
    if (input.runs.size() > 1) models.push_back(read_predictions(beside_, beside_predictions_, input.runs[1]));
    const score::ComparedModel first = models.front();
    const score::Truth truth = score::read_truth(labels_, first.predictions.labels,
                                                 train::read_recipe(train::RunFolder(run_).recipe(), {}).data);
    std::vector<score::ComparedSide> sides;
    for (std::size_t i = 0; i < models.size(); ++i) {
      publish::ReportRun& run = input.runs[i];
      sides.push_back(score::make_side(models[i].what, {models[i]}, truth, first));
      score::EvalSet& set = sides[i].sets.front();
      run.scored =
          publish::ScoredPredictions{.predictions = set.predictions,
                                     .list_sha256 = set.list_sha256,
                                     .predictions_sha256 = models[i].predictions_sha256,
                                     .labels_sha256 = fmt::format("{}", fmt::join(truth.dataset.csv_sha256, ", "))};
      if (run.evaluation.is_null() || !has_evaluated_images(input, set)) continue;
      set = score::in_unit_of(run.evaluation, std::move(set));
      score::check_figures(set, models[i].what, run.evaluation, (i == 0 ? evaluation_ : beside_evaluation_).string());
    }
    terminal::print(score::absent_text(truth.dataset));
    if (sides.size() < 2) return;
    for (const std::string& warning : {score::version_warning("A", sides[0]), score::version_warning("B", sides[1])}) {
      if (!warning.empty()) log::warning(warning);
    }
    input.comparison =
        score::compare(sides[0], sides[1], {.replicates = kReplicates, .threads = train::compute_threads({})});
  }

  // True if the curves use the same images as the evaluation; else the page says so. Throws ConfigError for two runs,
  // because the page shows their differences next to the metrics of the evaluation.
  [[nodiscard]] bool has_evaluated_images(const publish::ReportInput& input, const score::EvalSet& set) const {
    const std::string evaluated = publish::evaluated_list(input.runs[0].evaluation);
    if (evaluated.empty() || evaluated == set.list_sha256) return true;
    if (input.runs.size() < 2) return false;
    throw ConfigError(error_text("cli.report", predictions_.empty() ? "--beside" : predictions_.string(),
                                 "predictions for the images of --evaluation (list " + short_hash(evaluated) + ")",
                                 "predictions for other images (list " + short_hash(set.list_sha256) + ")",
                                 "--preds and --beside-preds for the images of --evaluation"));
  }

  fs::path run_;
  fs::path out_;
  fs::path forest_;
  fs::path evaluation_;
  fs::path predictions_;
  fs::path beside_;
  fs::path beside_evaluation_;
  fs::path beside_predictions_;
  fs::path labels_;
  fs::path data_;
  std::string device_ = "auto";
  std::int64_t cases_ = 3;
  bool shows_names_ = false;
};

}  // namespace

std::unique_ptr<Command> make_report_command() { return std::make_unique<ReportCommand>(); }

}  // namespace roentgen::cli
