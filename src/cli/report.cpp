// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// roentgen report: a run folder as one page to look at and pass on.
#include <fmt/format.h>

#include <utility>

#include "cli/command_list.h"
#include "cli/output_file.h"
#include "core/error.h"
#include "core/terminal.h"
#include "engine/engine.h"
#include "io/file.h"
#include "io/json.h"
#include "io/sha256.h"
#include "io/toml.h"
#include "publish/error_gallery.h"
#include "publish/report_page.h"
#include "score/eval_set.h"
#include "score/evaluated_data.h"
#include "score/prediction_file.h"
#include "score/stored_evaluation.h"
#include "score/truth.h"
#include "train/aurocs_csv.h"
#include "train/recipe.h"
#include "train/run_folder.h"

namespace roentgen::cli {
namespace {

namespace fs = std::filesystem;

// All whole lines: of a run that was killed, or goes on, the last one may be cut short.
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

class ReportCommand final : public Command {
 public:
  ReportCommand()
      : Command(
            "report",
            "Write a run as one self-contained HTML page: results with intervals, curves, worst errors, recipe.",
            "roentgen report run --evaluation eval.json --out report.html\n"
            "roentgen report run --evaluation eval.json --preds test_preds.csv --labels nih/Data_Entry_2017_v2020.csv "
            "--data nih --out report.html") {}
  [[nodiscard]] std::vector<Option> options() override {
    return {{.name = "RUN", .target = &run_, .doc = "run folder of roentgen train", .need = Need::Required},
            {.name = "--out", .target = &out_, .doc = "page to write", .need = Need::Required, .is_output = true},
            {.name = "--evaluation",
             .target = &evaluation_,
             .doc = "JSON of roentgen eval: AUROCs with intervals; none = the run's aucs.csv",
             .value_name = "FILE"},
            {.name = "--preds",
             .target = &predictions_,
             .doc = "csv of predictions for ROC curves and reliability; none = the run's preds.csv (validation)",
             .value_name = "FILE"},
            {.name = "--labels",
             .target = &labels_,
             .doc = "data folder or label table with their truth",
             .value_name = "PATH"},
            {.name = "--data",
             .target = &data_,
             .doc = "folder with the images of --preds: the page gets a gallery of the worst errors with heat-maps",
             .value_name = "DIR"},
            {.name = "--gallery",
             .target = &cases_,
             .doc = "false positives, and false negatives, of each finding in the gallery; 0 = none",
             .range = {0, 24}},
            {.name = "--image-names",
             .target = &shows_names_,
             .doc = "name images in the gallery: a name can hold a patient's number"},
            {.name = "--forest",
             .target = &forest_,
             .doc = "also write the AUROCs with their intervals as an SVG picture",
             .is_output = true}};
  }
  // Nothing is written into the run's own files.
  [[nodiscard]] Folders folders() const override {
    return {.data = data_, .own = run_.empty() ? Paths{} : train::RunFolder(run_).own(), .read = {labels_}};
  }

  [[nodiscard]] CommandResult run() override {
    const train::RunFolder folder(run_);
    for (const fs::path& file : {folder.recipe(), folder.log()}) {
      if (fs::is_regular_file(file)) continue;
      throw ConfigError(error_text("cli.report", run_.string(), "a run folder with recipe.toml and log.jsonl",
                                   "no " + file.filename().string(), "the --out folder of roentgen train"));
    }
    if (!predictions_.empty() && labels_.empty()) {
      throw ConfigError(error_text("cli.report", "--preds", "--labels PATH with the truth beside it", "none",
                                   "roentgen report --help"));
    }
    if (!data_.empty() && !fs::is_directory(data_)) {
      throw ConfigError(error_text("cli.report", "--data " + data_.string(), "a folder with images", "no such folder",
                                   "the folder of the images, or no --data"));
    }
    publish::ReportInput input;
    input.recipe = io::parse_toml(io::read_text(folder.recipe()).or_throw(), folder.recipe().string()).or_throw();
    input.log = read_log(folder.log());
    if (fs::exists(folder.data())) input.data = io::read_json(folder.data()).or_throw<ConfigError>();
    if (!evaluation_.empty()) input.evaluation = score::read_evaluation(evaluation_, folder.best());
    if (evaluation_.empty() && fs::exists(folder.aurocs())) {
      for (auto& [label, auroc] : train::read_aurocs(folder.aurocs())) {
        input.validation.push_back({.label = std::move(label), .value = auroc});
      }
    }
    if (!labels_.empty()) input.scored = read_scored(folder);
    add_gallery(folder, input);
    const std::string forest = forest_.empty() ? "" : publish::forest_figure(input);
    io::write_file_atomically(out_, publish::report_page(input));
    if (!forest_.empty()) io::write_file_atomically(forest_, forest);
    terminal::print(fmt::format("{}: one page, nothing beside it needed\n", out_.string()));
    return {.json = Value::Table{{"file", out_.string()},
                                 {"has_evaluation", !input.evaluation.is_null()},
                                 {"has_curves", input.scored.has_value()},
                                 {"has_gallery", input.gallery.has_value()}}};
  }

 private:
  void add_gallery(const train::RunFolder& folder, publish::ReportInput& input) const {
    if (cases_ == 0) {
      input.no_gallery = "None was asked for (--gallery 0).";
    } else if (data_.empty()) {
      input.no_gallery = "No images to show: --data DIR, since a run does not say where its images lie.";
    } else if (!input.scored) {
      input.no_gallery = "No truth to tell errors by: --labels PATH, with --preds FILE or the run's own preds.csv.";
    } else if (!fs::exists(folder.best())) {
      input.no_gallery = "No heat-maps: the run folder has no checkpoints/best.safetensors.";
    } else {
      const publish::GalleryRequest request{
          .checkpoint = folder.best(),
          .data = data_,
          .cases = cases_,
          .names = shows_names_ ? publish::ImageNames::Shown : publish::ImageNames::Hidden};
      input.gallery = publish::make_gallery(input.scored->predictions, request, *engine::make_engine("cpu"));
    }
  }

  [[nodiscard]] publish::ScoredPredictions read_scored(const train::RunFolder& folder) const {
    const fs::path file = predictions_.empty() ? folder.predictions() : predictions_;
    if (!fs::exists(file)) {
      throw ConfigError(error_text("cli.report", file.string(), "predictions beside --labels", "no such file",
                                   "--preds FILE, or a run that has finished an epoch with validation"));
    }
    score::PredictionFile predictions = score::read_prediction_file(file);
    const score::Truth truth =
        score::read_truth(labels_, predictions.labels, train::read_recipe(folder.recipe(), {}).data);
    score::EvalSet set = score::join(std::move(predictions), truth, file.string());
    terminal::print(score::absent_text(truth.dataset));
    return {.predictions = std::move(set.predictions),
            .list_sha256 = std::move(set.list_sha256),
            .predictions_sha256 = io::sha256_hex(io::read_text(file).or_throw()),
            .labels_sha256 = fmt::format("{}", fmt::join(truth.dataset.csv_sha256, ", "))};
  }

  fs::path run_;
  fs::path out_;
  fs::path forest_;
  fs::path evaluation_;
  fs::path predictions_;
  fs::path labels_;
  fs::path data_;
  std::int64_t cases_ = 3;
  bool shows_names_ = false;
};

}  // namespace

std::unique_ptr<Command> make_report_command() { return std::make_unique<ReportCommand>(); }

}  // namespace roentgen::cli
