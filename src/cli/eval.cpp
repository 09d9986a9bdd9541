// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// roentgen eval: predictions, of a checkpoint on a data folder or of a file, become a table of figures.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/command_list.h"
#include "cli/eval_output.h"
#include "cli/eval_set.h"
#include "cli/output_file.h"
#include "core/error.h"
#include "core/error_parts.h"
#include "core/log.h"
#include "data/source/dataset.h"
#include "engine/engine.h"
#include "eval/leak.h"
#include "eval/split_list.h"
#include "eval/table.h"
#include "io/file.h"
#include "io/json.h"
#include "train/load_checkpoint.h"
#include "train/predict.h"
#include "train/recipe.h"

namespace roentgen::cli {
namespace {

namespace fs = std::filesystem;

// What is evaluated, and what it came from.
struct Input {
  EvalSet test;
  std::optional<EvalSet> validation;
  // First lines of the report.
  std::string header;
  // Further keys of the JSON.
  Value::Table origin;
};

class EvalCommand final : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "eval"; }
  [[nodiscard]] std::string_view summary() const override {
    return "Evaluate a checkpoint, or predictions made elsewhere: figures of every label with intervals.";
  }
  [[nodiscard]] std::string_view examples() const override {
    return "roentgen eval --checkpoint run/checkpoints/best.safetensors --data nih --split test --json eval.json\n"
           "roentgen eval --checkpoint best.safetensors --data other --set data.source=csv --preds preds.csv\n"
           "roentgen eval --predictions preds.csv --labels Data_Entry_2017_v2020.csv --validation val_preds.csv "
           "--metrics all\n"
           "roentgen eval --predictions preds.csv --labels labels.csv --by view,sex,age";
  }
  [[nodiscard]] std::vector<Option> options() override {
    return {
        {.name = "--checkpoint", .target = &checkpoint_, .doc = "best.safetensors"},
        {.name = "--data", .target = &data_, .doc = "data folder", .value_name = "DIR"},
        {.name = "--split", .target = &split_, .doc = "train, val or test"},
        {.name = "--set", .target = &overrides_, .doc = "data.key=value, over the checkpoint's recipe"},
        {.name = "--predictions", .target = &input_, .doc = "instead of a checkpoint: Image Index,prob_<Label>,..."},
        {.name = "--labels", .target = &labels_, .doc = "with --predictions: the label table"},
        {.name = "--validation", .target = &validation_, .doc = "with --predictions: those of a validation split"},
        {.name = "--metrics", .target = &metrics_, .doc = "default (AUROC, AUPRC) or all"},
        {.name = "--threshold", .target = &rule_, .doc = "chosen on validation by f1 or youden"},
        {.name = "--points", .target = &points_, .doc = "thresholds and temperature that --save-points wrote"},
        {.name = "--save-points", .target = &saved_points_, .doc = "write thresholds and temperature here"},
        {.name = "--by", .target = &by_, .doc = "subgroups: view,sex,age; or study: one row a study"},
        {.name = "--aggregate", .target = &aggregate_, .doc = "with --by study: max or mean"},
        {.name = "--preds", .target = &predictions_, .doc = "write the probabilities to this csv"},
        {.name = "--aucs", .target = &aurocs_, .doc = "write label,auc to this csv"},
        {.name = "--curves", .target = &curves_, .doc = "write ROC and precision-recall points to this csv"},
        {.name = "--reliability", .target = &reliability_, .doc = "write the reliability diagram to this csv"},
        {.name = "--batch", .target = &batch_, .doc = "images at a time"},
        {.name = "--threads", .target = &threads_, .doc = "compute threads; 0 = all cores"},
        {.name = "--workers", .target = &workers_, .doc = "decoding threads; 0 = all cores"},
        {.name = "--replicates", .target = &replicates_, .doc = "bootstrap replicates; 0 = no intervals"},
        {.name = "--seed", .target = &seed_, .doc = "of the bootstrap"},
        {.name = "--allow-overlap", .target = &allows_overlap_, .doc = "also when patients were trained on"},
        {.name = "--partial", .target = &is_partial_, .doc = "load what fits"}};
  }
  [[nodiscard]] Folders folders() const override { return {.data = data_, .made = {}}; }
  [[nodiscard]] CommandResult run() override;

 private:
  void check_arguments() const;
  [[nodiscard]] bool wants_points() const {
    return points_.empty() && (metrics_ == "all" || !saved_points_.empty() || !reliability_.empty());
  }
  [[nodiscard]] bool has_group(std::string_view attribute) const;
  [[nodiscard]] Input from_checkpoint() const;
  [[nodiscard]] Input from_files() const;
  [[nodiscard]] EvalSet predict(train::LoadedModel& model, const data::Dataset& dataset, data::Split split) const;
  [[nodiscard]] std::optional<eval::OperatingPoints> find_points(const Input& input) const;
  [[nodiscard]] Value report_groups(const EvalSet& set, const eval::BootstrapOptions& bootstrap,
                                    const eval::MetricRequest& request) const;
  void write_files(const EvalSet& images, const EvalSet& set, const eval::EvalTable& table) const;
  [[nodiscard]] data::Dataset load_data(const train::CheckpointInfo& info) const;
  void check_leak(const train::CheckpointInfo& info, const data::Dataset& dataset, data::Split split) const;

  fs::path checkpoint_;
  fs::path data_;
  std::string split_ = "test";
  std::vector<std::string> overrides_;
  fs::path input_;
  fs::path labels_;
  fs::path validation_;
  std::string metrics_ = "default";
  std::string rule_ = "f1";
  fs::path points_;
  fs::path saved_points_;
  std::string by_;
  std::string aggregate_ = "max";
  fs::path predictions_;
  fs::path aurocs_;
  fs::path curves_;
  fs::path reliability_;
  std::int64_t batch_ = 32;
  std::int64_t threads_ = 0;
  std::int64_t workers_ = 0;
  std::int64_t replicates_ = 1000;
  std::int64_t seed_ = 0;
  bool allows_overlap_ = false;
  bool is_partial_ = false;
};

std::vector<std::string> split_commas(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    if (comma > 0) parts.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

bool EvalCommand::has_group(std::string_view attribute) const {
  const std::vector<std::string> attributes = split_commas(by_);
  return std::ranges::find(attributes, attribute) != attributes.end();
}

// The data as the checkpoint's recipe reads it, with its labels whatever the recipe said.
data::Dataset EvalCommand::load_data(const train::CheckpointInfo& info) const {
  for (const std::string& text : overrides_) {
    if (text.starts_with("data.") && !text.starts_with("data.labels")) continue;
    throw ConfigError(error_text("cli.eval", "--set " + text, "a key of [data] other than labels", text,
                                 "data.split or another key: the rest is the checkpoint's"));
  }
  data::SourceOptions source = train::parse_recipe(info.recipe, checkpoint_.string(), overrides_).data;
  source.root = data_;
  source.labels = info.labels;
  if (source.patient_namespace.empty()) source.patient_namespace = info.patient_namespace;
  try {
    return data::load_dataset(source);
  } catch (const Error& error) {
    if (error_parts(error.what()).thing != "data.labels") throw;
    throw ConfigError(with_remedy(error.what(), "a data folder with the labels that the checkpoint knows"));
  }
}

void EvalCommand::check_leak(const train::CheckpointInfo& info, const data::Dataset& dataset, data::Split split) const {
  if (split == data::Split::Train) {
    log::warning("the training part: these figures say how much was memorised, not how good the model is");
    return;
  }
  const auto hashes = data::patient_hashes(dataset, split, info.patient_salt);
  const eval::PatientOverlap overlap = eval::patient_overlap(info.training_patients, hashes);
  if (overlap.shared == 0) {
    fmt::print("leak check: none of {} patients is among the {} trained on\n", overlap.test, overlap.training);
    return;
  }
  if (!allows_overlap_) eval::refuse_leak(overlap);
  log::warning(eval::leak_text(overlap));
}

std::string split_line(const data::SplitSummary& summary) {
  const eval::KnownList* known = eval::find_known_list(summary.list_sha256);
  return fmt::format("split {}: {} images of {} patients, list {} ({})\n", data::name_of(summary.split), summary.images,
                     summary.patients, summary.list_sha256,
                     known == nullptr ? "not a published list" : std::string(known->name));
}

[[noreturn]] void refuse(std::string_view what, std::string_view expected, std::string_view got,
                         std::string_view remedy = "roentgen eval --help") {
  throw ConfigError(error_text("cli.arguments", what, expected, got, remedy));
}

// Which options go together.
void EvalCommand::check_arguments() const {
  if (input_.empty()) {
    if (checkpoint_.empty()) refuse("eval", "--predictions FILE or --checkpoint FILE", "none");
    if (data_.empty()) refuse("eval", "--data DIR", "none");
    if (!labels_.empty()) refuse("eval --labels", "--predictions FILE with it", "none");
    if (!validation_.empty()) refuse("eval --validation", "--predictions FILE with it", "none");
  } else {
    if (!checkpoint_.empty()) refuse("eval", "a checkpoint or predictions", "both");
    if (labels_.empty()) refuse("eval --predictions", "--labels FILE with it", "none");
  }
  if (metrics_ != "default" && metrics_ != "all") refuse("eval --metrics", "default or all", metrics_);
  if (!points_.empty() && !validation_.empty()) refuse("eval", "--points or --validation", "both");
  if (!points_.empty() && !saved_points_.empty()) refuse("eval", "--points or --save-points", "both");
  for (const std::string& attribute : split_commas(by_)) {
    const bool is_known = attribute == "view" || attribute == "sex" || attribute == "age" || attribute == "study";
    if (!is_known) refuse("eval --by", "view, sex, age or study, with commas between", attribute);
  }
  if (has_group("view") && has_group("study")) {
    refuse("eval --by", "view or study", "both", "two runs: a study has images of several views");
  }
  static_cast<void>(eval::parse_threshold_rule(rule_));
  static_cast<void>(eval::parse_aggregate(aggregate_));
  for (const auto& [option, path] : {std::pair{"--preds", &predictions_},
                                     {"--aucs", &aurocs_},
                                     {"--curves", &curves_},
                                     {"--reliability", &reliability_},
                                     {"--save-points", &saved_points_}}) {
    check_output_file(option, *path, folders());
  }
}

Value known_list_value(const std::string& sha256) {
  const eval::KnownList* known = eval::find_known_list(sha256);
  return known == nullptr ? Value(nullptr) : Value(known->id);
}

EvalSet EvalCommand::predict(train::LoadedModel& model, const data::Dataset& dataset, data::Split split) const {
  const data::SplitSummary& summary = dataset.summary(split);
  const bool is_terminal = ::isatty(STDERR_FILENO) != 0;
  train::PredictOptions options{.preprocess = model.preprocess, .loss = model.info.loss};
  options.workers = train::decode_workers({.workers = workers_});
  options.on_progress = [&](std::int64_t done) {
    if (is_terminal) fmt::print(stderr, "\r\x1b[K{}: {}/{} images", data::name_of(split), done, summary.images);
  };
  const std::vector<std::uint32_t> samples = data::samples_of(dataset, split);
  train::PredictResult result = train::predict(*model.executable, dataset, samples, options);
  if (is_terminal) fmt::print(stderr, "\r\x1b[K");
  if (model.info.loss == "softmax") result.predictions.outputs = eval::Outputs::Exclusive;
  EvalSet set = with_facts(std::move(result.predictions), dataset, samples, has_group("study"));
  set.list_sha256 = summary.list_sha256;
  return set;
}

Input EvalCommand::from_checkpoint() const {
  const data::Split split = data::parse_split(split_);
  const auto engine = engine::make_engine("cpu");
  train::LoadedModel model =
      train::load_checkpoint(checkpoint_, *engine,
                             {.batch = batch_,
                              .threads = static_cast<int>(threads_),
                              .strictness = is_partial_ ? train::Strictness::Partial : train::Strictness::Strict});
  if (!model.report.is_clean()) log::warning("partial: " + model.report.text());
  const data::Dataset dataset = load_data(model.info);
  const data::SplitSummary& summary = dataset.summary(split);
  if (summary.images == 0) {
    throw DataError(error_text("cli.eval", data_.string(), "images in split " + split_,
                               "none (" + dataset.split_origin + ")", "another --split, or --set data.split=whole"));
  }
  check_leak(model.info, dataset, split);
  Input input{.test = predict(model, dataset, split), .validation = {}, .header = split_line(summary), .origin = {}};
  if (wants_points() && split != data::Split::Val && dataset.summary(data::Split::Val).images > 0) {
    input.validation = predict(model, dataset, data::Split::Val);
  }
  input.origin = {{"split", Value::Table{{"name", data::name_of(summary.split)},
                                         {"images", summary.images},
                                         {"patients", summary.patients},
                                         {"list_sha256", summary.list_sha256},
                                         {"known_list", known_list_value(summary.list_sha256)}}},
                  {"checkpoint", Value::Table{{"step", model.info.step}, {"epoch", model.info.epoch}}}};
  return input;
}

Input EvalCommand::from_files() const {
  PredictionFile file = read_prediction_file(input_);
  const LabelTable table = read_label_table(labels_, file.labels);
  Input input{
      .test = join(std::move(file), table, input_.filename().string()), .validation = {}, .header = {}, .origin = {}};
  if (!validation_.empty()) {
    input.validation = join(read_prediction_file(validation_), table, validation_.filename().string());
    if (input.validation->predictions.label_names != input.test.predictions.label_names) {
      throw DataError(error_text("cli.eval", validation_.filename().string(), "the columns of the predictions",
                                 "other labels, or another order", "predictions of the same model"));
    }
    input.validation->predictions.outputs = input.test.predictions.outputs;
    check_apart(*input.validation, input.test, allows_overlap_);
  }
  const EvalSet& test = input.test;
  const eval::KnownList* known = eval::find_known_list(test.list_sha256);
  input.header = fmt::format(
      "predictions: {} images, list {} ({})\nlabels: {}, sha256 {}\n", test.predictions.image_count(), test.list_sha256,
      known == nullptr ? "not a published list" : std::string(known->name), table.what, table.sha256);
  input.origin = {{"predictions", Value::Table{{"images", test.predictions.image_count()},
                                               {"list_sha256", test.list_sha256},
                                               {"known_list", known_list_value(test.list_sha256)},
                                               {"labels_sha256", table.sha256}}}};
  return input;
}

// Thresholds and temperature: as stored, or fitted on validation; never on what is evaluated.
std::optional<eval::OperatingPoints> EvalCommand::find_points(const Input& input) const {
  if (!points_.empty()) {
    const Value stored = io::parse_json(io::read_text(points_).or_throw(), points_.string()).or_throw<ConfigError>();
    const eval::OperatingPoints points = eval::points_from_value(stored, points_.string());
    if (points.unit != input.test.unit) {
      throw ConfigError(error_text("cli.eval", points_.string(), "points for one score a(n) " + input.test.unit,
                                   "one a(n) " + points.unit, "points saved with the same --by study --aggregate"));
    }
    if (!points.list_sha256.empty() && points.list_sha256 == input.test.list_sha256) {
      throw ConfigError(error_text("cli.eval", points_.string(), "points from other images than those evaluated",
                                   "points from this very list", "points of a validation split"));
    }
    return points;
  }
  if (!wants_points()) return std::nullopt;
  if (!input.validation) {
    if (!saved_points_.empty()) {
      throw ConfigError(
          error_text("cli.eval", "--save-points", "a validation split to choose thresholds on", "none",
                     input_.empty() ? "--split test of data with a validation part" : "--validation FILE"));
    }
    return std::nullopt;
  }
  eval::OperatingPoints points =
      eval::fit_operating_points(input.validation->predictions, eval::parse_threshold_rule(rule_));
  points.list_sha256 = input.validation->list_sha256;
  points.unit = input.validation->unit;
  return points;
}

Value EvalCommand::report_groups(const EvalSet& set, const eval::BootstrapOptions& bootstrap,
                                 const eval::MetricRequest& request) const {
  Value result = Value::table();
  for (const std::string& attribute : split_commas(by_)) {
    if (attribute == "study") continue;
    const auto groups = eval::evaluate_groups(set.predictions, attribute_values(set, attribute), bootstrap, request);
    fmt::print("\n{}", eval::groups_text(attribute, groups));
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

void EvalCommand::write_files(const EvalSet& images, const EvalSet& set, const eval::EvalTable& table) const {
  const eval::OperatingPoints* points = table.points ? &*table.points : nullptr;
  if (!predictions_.empty()) io::write_file_atomically(predictions_, train::predictions_csv(images.predictions));
  if (!aurocs_.empty()) io::write_file_atomically(aurocs_, aurocs_csv(table));
  if (!curves_.empty()) io::write_file_atomically(curves_, curves_csv(set.predictions));
  if (!reliability_.empty()) io::write_file_atomically(reliability_, reliability_csv(set.predictions, points));
  if (!saved_points_.empty()) io::write_file_atomically(saved_points_, io::to_json(eval::to_value(*points)) + "\n");
}

CommandResult EvalCommand::run() {
  check_arguments();
  Input input = input_.empty() ? from_checkpoint() : from_files();
  const EvalSet images = input.test;
  if (has_group("study")) {
    const eval::Aggregate aggregate = eval::parse_aggregate(aggregate_);
    input.test = by_study(input.test, aggregate);
    if (input.validation) input.validation = by_study(*input.validation, aggregate);
  }
  const EvalSet& set = input.test;
  const eval::BootstrapOptions bootstrap{.replicates = replicates_,
                                         .seed = static_cast<std::uint64_t>(seed_),
                                         .threads = train::compute_threads({.threads = threads_})};
  eval::MetricRequest request{.metrics = eval::all_metrics(), .points = find_points(input)};
  const eval::EvalTable table = eval::evaluate(set.predictions, bootstrap, request);

  fmt::print("{}", input.header);
  if (set.unit != "image") fmt::print("one row a {}: {} studies\n", set.unit, set.predictions.image_count());
  if (set.unknown_patients > 0) {
    fmt::print("{} images of unknown patient: each counts as a patient of its own\n", set.unknown_patients);
  }
  fmt::print("{}", eval::to_text(table));
  if (metrics_ == "all") fmt::print("{}", eval::details_text(table));
  if (metrics_ == "all" && !request.points) {
    fmt::print(
        "No validation split beside what is evaluated: thresholds and temperature are never fitted on that, so figures "
        "that need them are left out.\n");
  }
  Value json = eval::to_value(table);
  json.set("unit", Value(set.unit));
  for (const auto& [key, value] : input.origin) json.set(key, value);
  if (metrics_ != "all") request.metrics = {eval::Metric::Auprc};
  const Value groups = report_groups(set, bootstrap, request);
  if (!groups.as_table().empty()) json.set("by", groups);
  write_files(images, set, table);
  return {.json = json};
}

}  // namespace

std::unique_ptr<Command> make_eval_command() { return std::make_unique<EvalCommand>(); }

}  // namespace roentgen::cli
