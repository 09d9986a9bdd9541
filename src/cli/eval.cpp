// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// roentgen eval: a checkpoint and a data folder become an AUROC table.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/command_list.h"
#include "cli/output_file.h"
#include "core/error.h"
#include "core/error_parts.h"
#include "core/log.h"
#include "data/source/dataset.h"
#include "engine/engine.h"
#include "eval/leak.h"
#include "eval/split_list.h"
#include "eval/table.h"
#include "io/csv.h"
#include "io/file.h"
#include "train/load_checkpoint.h"
#include "train/predict.h"
#include "train/recipe.h"

namespace roentgen::cli {
namespace {

namespace fs = std::filesystem;

class EvalCommand final : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "eval"; }
  [[nodiscard]] std::string_view summary() const override { return "Evaluate a checkpoint: AUROC of every label."; }
  [[nodiscard]] std::string_view examples() const override {
    return "roentgen eval --checkpoint run/checkpoints/best.safetensors --data nih --split test --json eval.json\n"
           "roentgen eval --checkpoint best.safetensors --data other --set data.source=csv --preds preds.csv";
  }
  [[nodiscard]] std::vector<Option> options() override {
    return {{.name = "--checkpoint", .target = &checkpoint_, .doc = "best.safetensors", .need = Need::Required},
            {.name = "--data", .target = &data_, .doc = "data folder", .need = Need::Required, .value_name = "DIR"},
            {.name = "--split", .target = &split_, .doc = "train, val or test"},
            {.name = "--set", .target = &overrides_, .doc = "data.key=value, over the checkpoint's recipe"},
            {.name = "--preds", .target = &predictions_, .doc = "write the probabilities to this csv"},
            {.name = "--aucs", .target = &aurocs_, .doc = "write label,auc to this csv"},
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
  [[nodiscard]] data::Dataset load_data(const train::CheckpointInfo& info) const;
  void check_leak(const train::CheckpointInfo& info, const data::Dataset& dataset, data::Split split) const;

  fs::path checkpoint_;
  fs::path data_;
  std::string split_ = "test";
  std::vector<std::string> overrides_;
  fs::path predictions_;
  fs::path aurocs_;
  std::int64_t batch_ = 32;
  std::int64_t threads_ = 0;
  std::int64_t workers_ = 0;
  std::int64_t replicates_ = 1000;
  std::int64_t seed_ = 0;
  bool allows_overlap_ = false;
  bool is_partial_ = false;
};

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

std::string aurocs_csv(const eval::EvalTable& table) {
  std::string text = "label,auc\n";
  for (const eval::LabelResult& row : table.labels) {
    text += io::csv_field(row.label) + "," + (row.auroc.value ? fmt::format("{:.9g}", *row.auroc.value) : "") + "\n";
  }
  return text;
}

Value result_value(const eval::EvalTable& table, const data::SplitSummary& summary, const train::CheckpointInfo& info) {
  Value json = eval::to_value(table);
  const eval::KnownList* known = eval::find_known_list(summary.list_sha256);
  json.set("split", Value::Table{{"name", data::name_of(summary.split)},
                                 {"images", summary.images},
                                 {"patients", summary.patients},
                                 {"list_sha256", summary.list_sha256},
                                 {"known_list", known == nullptr ? Value(nullptr) : Value(known->id)}});
  json.set("checkpoint", Value::Table{{"step", info.step}, {"epoch", info.epoch}});
  return json;
}

CommandResult EvalCommand::run() {
  const data::Split split = data::parse_split(split_);
  check_output_file("--preds", predictions_, folders());
  check_output_file("--aucs", aurocs_, folders());
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

  const bool is_terminal = ::isatty(STDERR_FILENO) != 0;
  train::PredictOptions options{.preprocess = model.preprocess, .loss = model.info.loss};
  options.workers = train::decode_workers({.workers = workers_});
  options.on_progress = [&](std::int64_t done) {
    if (is_terminal) fmt::print(stderr, "\r\x1b[K{}/{} images", done, summary.images);
  };
  const train::PredictResult result =
      train::predict(*model.executable, dataset, data::samples_of(dataset, split), options);
  if (is_terminal) fmt::print(stderr, "\r\x1b[K");
  const eval::EvalTable table =
      eval::evaluate(result.predictions, {.replicates = replicates_,
                                          .seed = static_cast<std::uint64_t>(seed_),
                                          .threads = train::compute_threads({.threads = threads_})});
  fmt::print("{}{}", split_line(summary), eval::to_text(table));
  if (!predictions_.empty()) io::write_file_atomically(predictions_, train::predictions_csv(result.predictions));
  if (!aurocs_.empty()) io::write_file_atomically(aurocs_, aurocs_csv(table));
  return {.json = result_value(table, summary, model.info)};
}

}  // namespace

std::unique_ptr<Command> make_eval_command() { return std::make_unique<EvalCommand>(); }

}  // namespace roentgen::cli
