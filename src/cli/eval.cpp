// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// roentgen eval: computes metrics from the predictions of a checkpoint on a data folder, or from a file of predictions.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <system_error>
#include <utility>

#include "cli/command_list.h"
#include "cli/data_overrides.h"
#include "cli/eval_options.h"
#include "cli/output_file.h"
#include "core/error.h"
#include "core/foreign_text.h"
#include "core/log.h"
#include "core/plural.h"
#include "core/terminal.h"
#include "data/source/dataset.h"
#include "data/source/describe.h"
#include "data/stage/sample_hashes.h"
#include "data/transform/test_views.h"
#include "engine/engine.h"
#include "eval/caffe_log.h"
#include "eval/curves_csv.h"
#include "eval/published.h"
#include "eval/split_list.h"
#include "eval/subgroup.h"
#include "eval/table.h"
#include "io/file.h"
#include "io/json.h"
#include "io/safetensors.h"
#include "score/eval_set.h"
#include "score/evaluated_data.h"
#include "score/image_part.h"
#include "score/prediction_match.h"
#include "score/stored_evaluation.h"
#include "score/truth.h"
#include "task/evaluate_checkpoint.h"
#include "train/aurocs_csv.h"
#include "train/load_checkpoint.h"
#include "train/own_device.h"
#include "train/predict.h"
#include "train/ranks.h"
#include "train/recipe.h"
#include "train/same_images.h"

namespace roentgen::cli {
namespace {

namespace fs = std::filesystem;

// Predictions to evaluate, and the origin of these predictions.
struct Input {
  score::EvalSet test;
  std::optional<score::EvalSet> validation;
  // First lines of the printed report.
  std::string header;
  // JSON keys that describe the origin of the predictions.
  Value::Table origin;
  // Number of updates of the weights; 0 if it is not known.
  std::int64_t step = 0;
  // Properties of the model that a file of thresholds must match, as far as they are known.
  score::PointsUse use;

  // Adds a note on the version of the test labels to the header of the report.
  void add_labels(const data::Dataset& dataset) {
    header += data::label_notes(dataset) + score::absent_text(dataset);
    origin.emplace_back("label_version", score::label_version(dataset, test.predictions));
  }
  void add_absent(const data::Dataset& dataset) {
    const std::vector<std::string> absent = data::absent_labels(dataset);
    if (!absent.empty()) origin.emplace_back("absent_labels", Value::Array(absent.begin(), absent.end()));
  }
};

class EvalCommand final : public Command {
 public:
  EvalCommand()
      : Command("eval", "Evaluate a checkpoint or predictions, with confidence intervals.",
                "roentgen eval --checkpoint best.safetensors --data nih --split test --json eval.json\n"
                "roentgen eval --predictions seed0.csv --predictions seed1.csv --labels labels.csv --preds mean.csv\n"
                "roentgen eval --predictions preds.csv --labels labels.csv --by view,sex,age") {}
  [[nodiscard]] bool needs_options() const override { return true; }
  [[nodiscard]] std::vector<Option> options() override { return options_.list(); }
  [[nodiscard]] Folders folders() const override {
    Folders folders = data_folders(options_.data);
    folders.read.push_back(options_.labels);
    folders.runs = run_of(options_.checkpoint);
    return folders;
  }
  [[nodiscard]] CommandResult run() override;

 private:
  [[nodiscard]] CommandResult evaluate(const train::Ranks& ranks) const;
  [[nodiscard]] Input from_checkpoint(const train::Ranks& ranks) const;
  [[nodiscard]] Input from_files() const;
  [[nodiscard]] score::EvalSet predict(const train::Ranks& ranks, train::LoadedModel& model,
                                       const data::Dataset& dataset, const score::Part& part,
                                       data::PixelHashes& hashes) const;
  [[nodiscard]] std::optional<eval::OperatingPoints> find_points(const Input& input) const;
  [[nodiscard]] Value report_groups(const score::EvalSet& set, const eval::BootstrapOptions& bootstrap,
                                    const eval::MetricRequest& request) const;
  void append_caffe_log(const Input& input) const;
  void write_files(const score::EvalSet& images, const Input& input, const eval::EvalTable& table) const;
  [[nodiscard]] data::SourceOptions source_of(const train::CheckpointInfo& info) const;
  [[nodiscard]] eval::OnOverlap on_overlap() const {
    return options_.allows_overlap ? eval::OnOverlap::Warn : eval::OnOverlap::Refuse;
  }

  EvalOptions options_;
};

// Returns the options for reading the data. Labels that the data lack are treated as unknown.
data::SourceOptions EvalCommand::source_of(const train::CheckpointInfo& info) const {
  check_data_overrides(options_.overrides);
  data::SourceOptions source =
      task::source_of_checkpoint(info, options_.checkpoint.string(), options_.data, options_.overrides);
  source.unknown_labels = data::UnknownLabels::Mask;
  return source;
}

score::EvalSet EvalCommand::predict(const train::Ranks& ranks, train::LoadedModel& model, const data::Dataset& dataset,
                                    const score::Part& part, data::PixelHashes& hashes) const {
  score::EvalSet set = task::predict_part(
      ranks, model, dataset, part, hashes,
      {.workers = options_.inference.workers,
       .views = options_.views,
       .on_progress = [&part](std::int64_t done, std::int64_t total) {
         if (terminal::has_progress())
           terminal::show_progress(fmt::format("{}: {}/{} {}", part.title, done, total, plural(total, "image")));
       }});
  terminal::clear_progress();
  return set;
}

Input EvalCommand::from_checkpoint(const train::Ranks& ranks) const {
  const data::Split split = data::parse_split(options_.split);
  const auto engine = engine::make_engine(train::own_device(options_.inference.device));
  if (!options_.ranks.may_share_device) train::require_own_device(ranks, *engine);
  train::LoadedModel model = train::load_checkpoint(
      options_.checkpoint, *engine,
      {.batch = options_.inference.batch,
       .threads = static_cast<int>(options_.inference.threads),
       .algorithms = options_.inference.algorithms,
       .dtype = options_.inference.dtype,
       .strictness = options_.is_partial ? train::Strictness::Partial : train::Strictness::Strict,
       .ranks = &ranks});
  if (!model.report.is_clean()) log::warning("partial: " + model.report.text());
  if (!options_.caffe_log.empty()) {
    eval::require_classes(model.info.labels,
                          model.info.loss == "softmax" ? eval::Outputs::Exclusive : eval::Outputs::Independent);
  }
  data::SourceOptions source = source_of(model.info);
  const data::Dataset dataset = score::load_evaluated(source, options_.overrides);
  const score::Part part = options_.image_list.empty()
                               ? score::split_part(dataset, split)
                               : score::list_part(dataset, score::find_list(options_.image_list, source));
  const std::string sha256 = io::tensors_sha256(options_.checkpoint);
  train::require_same_text(ranks, "weights and " + part.title, sha256 + " " + part.list_sha256,
                           "the same --checkpoint and --data on all hosts");
  train::require_same_images(ranks, dataset, part.samples);
  terminal::print(task::check_patients(model.info, dataset, part, on_overlap()));
  data::PixelHashes hashes(std::ssize(dataset.samples));
  Input input{.test = predict(ranks, model, dataset, part, hashes),
              .validation = {},
              .header = score::part_text(part),
              .origin = {{"split", Value::Table{{"name", part.name},
                                                {"images", std::int64_t{std::ssize(part.samples)}},
                                                {"patients", part.patients},
                                                {"list_sha256", part.list_sha256},
                                                {"known_list", eval::known_list_value(part.list_sha256)}}}},
              .use = {.input = score::input_text(model.preprocess, options_.views), .weights_sha256 = sha256}};
  terminal::print(task::check_pixels(model.info, part, hashes, on_overlap()));  // printed before any result
  const data::SplitSummary& val = dataset.summary(data::Split::Val);
  if (options_.wants_points() && val.images > 0 && part.samples != data::samples_of(dataset, data::Split::Val)) {
    input.validation = predict(ranks, model, dataset, score::split_part(dataset, data::Split::Val), hashes);
    if (!options_.image_list.empty()) score::check_apart(*input.validation, input.test, on_overlap());
  }
  input.add_labels(dataset);
  input.step = model.info.step;
  input.origin.emplace_back("checkpoint", Value::Table{{"step", model.info.step},
                                                       {"epoch", model.info.epoch},
                                                       {"weights_sha256", input.use.weights_sha256}});
  const std::string dtype = model.executable->plan().dtype();
  input.origin.emplace_back("dtype", dtype);
  if (dtype != "f32") input.header += fmt::format("computed in {}\n", dtype);
  input.origin.emplace_back("tta", Value::Table{{"name", options_.views},
                                                {"views", std::int64_t{std::ssize(data::test_views(options_.views))}},
                                                {"definition", data::test_views_text(options_.views)}});
  input.add_absent(dataset);
  if (options_.views != "none") {
    input.header +=
        fmt::format("test-time augmentation {}: {}\n", options_.views, data::test_views_text(options_.views));
  }
  return input;
}

Input EvalCommand::from_files() const {
  const std::string what = score::prediction_names(options_.predictions);
  score::PredictionFile file = score::read_mean_predictions(options_.predictions);
  if (!options_.image_list.empty()) file = score::rows_on_list(std::move(file), options_.image_list, what);
  const score::Truth truth =
      score::read_truth(options_.labels, file.labels, data_options(options_.overrides), options_.overrides);
  Input input{.test = score::join(std::move(file), truth, what),
              .validation = {},
              .header = {},
              .origin = {},
              .step = 0,
              .use = {}};
  const score::EvalSet& test = input.test;
  if (!options_.validation.empty()) {
    const std::string validation = score::prediction_names(options_.validation);
    input.validation = score::join(score::read_mean_predictions(options_.validation), truth, validation);
    if (input.validation->predictions.label_names != test.predictions.label_names) {
      throw DataError(error_text("cli.eval", validation, "the same labels in the same order as --predictions",
                                 "other labels or another order", "validation predictions of the same model"));
    }
    input.validation->predictions.outputs = test.predictions.outputs;
    score::check_apart(*input.validation, test, on_overlap());
  }
  input.header = fmt::format("predictions: {}{}, {}\n",
                             options_.predictions.size() > 1 ? terminal_text(what) + ", " : std::string(),
                             counted(test.predictions.image_count(), "image"), score::list_text(test.list_sha256));
  input.origin = {{"predictions", Value::Table{{"images", test.predictions.image_count()},
                                               {"files", std::int64_t{std::ssize(options_.predictions)}},
                                               {"list_sha256", test.list_sha256},
                                               {"known_list", eval::known_list_value(test.list_sha256)},
                                               {"labels_sha256", score::one_or_all(truth.dataset.csv_sha256)}}}};
  input.add_labels(truth.dataset);
  input.add_absent(truth.dataset);
  return input;
}

// Returns thresholds and temperature: read from --points, or fitted on the validation split. They are never fitted on
// the evaluated images.
std::optional<eval::OperatingPoints> EvalCommand::find_points(const Input& input) const {
  if (!options_.points.empty()) {
    const eval::OperatingPoints points = score::read_points(options_.points, input.use);
    if (points.unit != input.test.unit) {
      throw ConfigError(error_text(
          "cli.eval", options_.points.string(), "thresholds for one score per " + input.test.unit,
          "thresholds for one score per " + points.unit, "saving them with the --by and --aggregate of this command"));
    }
    if (!points.list_sha256.empty() && points.list_sha256 == input.test.list_sha256) {
      throw ConfigError(error_text("cli.eval", options_.points.string(),
                                   "thresholds chosen on other images than the evaluated ones",
                                   "thresholds chosen on these images", "thresholds saved from a validation split"));
    }
    return points;
  }
  if (!options_.wants_points()) return std::nullopt;
  if (!input.validation) {
    if (!options_.save_points.empty()) {
      throw ConfigError(error_text(
          "cli.eval", "--save-points", "a validation split to choose thresholds on", "no such split",
          options_.predictions.empty() ? "--split test with data that have a validation split" : "--validation FILE"));
    }
    return std::nullopt;
  }
  eval::OperatingPoints points =
      eval::fit_operating_points(input.validation->predictions, eval::parse_threshold_rule(options_.rule));
  points.list_sha256 = input.validation->list_sha256;
  points.unit = input.validation->unit;
  return points;
}

Value EvalCommand::report_groups(const score::EvalSet& set, const eval::BootstrapOptions& bootstrap,
                                 const eval::MetricRequest& request) const {
  Value result = Value::table();
  for (const std::string& attribute : options_.groups()) {
    if (attribute == "study") continue;
    const auto groups =
        eval::evaluate_groups(set.predictions, score::attribute_values(set, attribute), bootstrap, request);
    terminal::print(fmt::format("\n{}", eval::groups_text(attribute, groups)));
    Value::Table tables;
    for (const auto& [name, table] : groups) {
      Value value = eval::to_value(table);
      value.set("images", Value(table.images));
      tables.emplace_back(name, std::move(value));
    }
    result.set(attribute, Value(std::move(tables)));
  }
  return result;
}

// Appends a test to a log in Caffe's form, so that one log holds the tests of several checkpoints.
void EvalCommand::append_caffe_log(const Input& input) const {
  if (options_.caffe_log.empty()) return;
  const eval::CaffeFigures figures = eval::caffe_figures(input.test.predictions);
  const auto now = std::chrono::system_clock::now();
  std::error_code ignored;
  std::string text;
  if (fs::exists(options_.caffe_log, ignored)) text = io::read_text(options_.caffe_log).or_throw<DataError>();
  if (text.empty()) text = eval::caffe_first_line("roentgen", now);
  text += eval::caffe_test_lines(figures, input.step, now);
  io::write_file_atomically(options_.caffe_log, text);
}

void EvalCommand::write_files(const score::EvalSet& images, const Input& input, const eval::EvalTable& table) const {
  std::optional<eval::OperatingPoints> points = table.points;
  if (points) {
    points->input = input.use.input;
    points->weights_sha256 = input.use.weights_sha256;
  }
  if (!options_.save_predictions.empty())
    io::write_file_atomically(options_.save_predictions, train::predictions_csv(images.predictions));
  if (!options_.save_aurocs.empty()) io::write_file_atomically(options_.save_aurocs, train::aurocs_csv(table));
  if (!options_.save_curves.empty())
    io::write_file_atomically(options_.save_curves, eval::curves_csv(input.test.predictions));
  if (!options_.save_reliability.empty())
    io::write_file_atomically(options_.save_reliability,
                              eval::reliability_csv(input.test.predictions, points ? &*points : nullptr));
  if (!options_.save_points.empty())
    io::write_file_atomically(options_.save_points, io::to_json(eval::to_value(*points)) + "\n");
}

CommandResult EvalCommand::run() {
  options_.check();
  RankOptions ranks = options_.ranks;
  ranks.recipe = [this] {
    return train::sharing_cores({.threads = options_.inference.threads, .device = options_.inference.device});
  };
  return run_as_ranks(ranks, [this](dist::CommThread* group) { return evaluate(train::Ranks(group)); });
}

CommandResult EvalCommand::evaluate(const train::Ranks& ranks) const {
  Input input = options_.predictions.empty() ? from_checkpoint(ranks) : from_files();
  if (!ranks.is_first()) return {};  // only rank 0 has all results
  append_caffe_log(input);
  const score::EvalSet images = input.test;
  if (options_.has_group("study")) {
    const eval::Aggregate aggregate =
        options_.aggregate.empty() ? eval::Aggregate::Max : eval::parse_aggregate(options_.aggregate);
    input.test = score::by_study(input.test, aggregate);
    if (input.validation) input.validation = score::by_study(*input.validation, aggregate);
  }
  const score::EvalSet& set = input.test;
  const eval::BootstrapOptions bootstrap{
      .replicates = options_.replicates,
      .seed = static_cast<std::uint64_t>(options_.seed),
      .threads = train::compute_threads(train::sharing_cores({.threads = options_.inference.threads}))};
  eval::MetricRequest request{.metrics = eval::all_metrics(), .points = find_points(input)};
  const eval::EvalTable table = eval::evaluate(set.predictions, bootstrap, request);

  terminal::print(input.header);
  if (set.unit != "image")
    terminal::print(
        fmt::format("one row a {}: {}\n", set.unit, counted(set.predictions.image_count(), "study", "studies")));
  terminal::print(score::unknown_patients_text(set) + eval::to_text(table));
  if (table.labels_in_mean == 0) {
    log::warning("no AUROC exists, because no label has both positive and negative images here; choose another split");
  }
  if (options_.metrics == "all") terminal::print(eval::details_text(table));
  if (options_.metrics == "all" && !request.points) {
    terminal::print(
        "No validation split beside what is evaluated: thresholds and temperature are never fitted on that, so figures "
        "that need them are left out.\n");
  }
  Value json = eval::to_value(table);
  const auto published = set.unit == "image" ? eval::columns_beside(table, eval::find_known_list(set.list_sha256))
                                             : std::vector<eval::PublishedColumn>{};
  if (!published.empty()) {
    terminal::print(fmt::format("\n{}", eval::published_text(table, published)));
    json.set("published", eval::published_value(table, published));
  }
  json.set("unit", Value(set.unit));
  for (const auto& [key, value] : input.origin) json.set(key, value);
  if (options_.metrics != "all") request.metrics = {eval::Metric::Auprc};
  const Value groups = report_groups(set, bootstrap, request);
  if (!groups.as_table().empty()) json.set("by", groups);
  write_files(images, input, table);
  return {.json = json};
}

}  // namespace

std::unique_ptr<Command> make_eval_command() { return std::make_unique<EvalCommand>(); }

}  // namespace roentgen::cli
