// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "task/export_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "core/error.h"
#include "data/source/dataset.h"
#include "engine/device.h"
#include "engine/engine.h"
#include "graph/text.h"
#include "io/file.h"
#include "io/json.h"
#include "io/place.h"
#include "io/safetensors.h"
#include "io/sha256.h"
#include "publish/channels.h"
#include "publish/onnx_graph.h"
#include "publish/run_tables.h"
#include "score/stored_evaluation.h"
#include "train/run_folder.h"
#include "train/run_origin.h"

namespace roentgen::task {
namespace {

namespace fs = std::filesystem;

Value read_optional(const fs::path& path) {
  return path.empty() ? Value() : io::read_json(path).or_throw<ConfigError>();
}

void write_onnx(const ExportOptions& options, const train::LoadedModel& model,
                const std::vector<train::NamedTensor>& weights, const publish::CardInput& card) {
  const graph::Graph graph = graph::parse_graph(model.info.graph, options.checkpoint.string() + ": graph", {.batch = 1})
                                 .or_throw<ConfigError>();
  const Value preprocess = model.preprocess.to_value();
  Value::Array labels(model.info.labels.begin(), model.info.labels.end());
  publish::OnnxOptions writing{
      .preprocess = model.preprocess,
      .loss = model.info.loss,
      .temperature = card.temperature,
      .is_folding_batch_norm = options.is_folding,
      .metadata = {{"labels", io::to_json(Value(std::move(labels)), -1)},
                   {"preprocess", io::to_json(preprocess, -1)},
                   {"mean", io::to_json(preprocess.at("mean"), -1)},
                   {"std", io::to_json(preprocess.at("std"), -1)},
                   {"size", std::to_string(model.preprocess.size_px)},
                   {"input", model.preprocess.jpeg == data::JpegSize::Scaled
                                 ? "gray, 0 to 255, fitted and resized; JPEG by scaled decoding"
                                 : "gray, 0 to 255, fitted and resized"},
                   {"loss", model.info.loss},
                   {"temperature", fmt::format("{:.9g}", card.temperature)},
                   {"notice", "research use, not a medical device"}}};
  io::OnnxModel onnx = publish::to_onnx(graph, weights, writing);
  onnx.doc = "Research use, not a medical device. Input: " + model.preprocess.text();
  io::write_onnx(options.out, onnx, static_cast<int>(options.opset));
}

// Returns the run folder that contains the file; nullopt if it is in none.
std::optional<train::RunFolder> run_of(const fs::path& file) {
  const fs::path folder = file.parent_path();
  if (folder.filename() != "checkpoints") return std::nullopt;
  return train::RunFolder(folder.parent_path());
}

// Refuses outputs that would replace an input file or a file of the run, or that lie in the run's data folders.
void check_places(const ExportOptions& options) {
  std::vector<fs::path> taken{options.checkpoint, options.evaluation, options.points};
  std::vector<std::string> folders;
  if (const auto run = run_of(options.checkpoint)) {
    std::ranges::copy(run->own(), std::back_inserter(taken));
    taken.insert(taken.end(), {run->best(), run->resume()});
    fs::path recipe = options.checkpoint;  // not empty, so that take_from_run() keeps it
    train::take_from_run(*run, recipe, folders);
  }
  if (const auto other = run_of(options.out)) taken.insert(taken.end(), {other->best(), other->resume()});
  for (const fs::path& file : {options.out, options.card()}) {
    for (const fs::path& path : taken) {
      if (path.empty() || io::resolved(path) != io::resolved(file)) continue;
      const std::string what = file == options.out ? "--out " : "card of --out, ";
      throw ConfigError(error_text("task.export", what + file.string(), "a separate file",
                                   "a file of the run, or an input file", "the name of another file"));
    }
    for (const std::string& folder : folders) io::refuse_inside_data("--out", file, data::folder_of(folder));
  }
}

}  // namespace

fs::path ExportOptions::run_data() const {
  const auto run = run_of(checkpoint);
  std::error_code ignored;
  return run && fs::is_regular_file(run->data(), ignored) ? run->data() : fs::path();
}

std::string export_form(const ExportOptions& options) {
  const std::string ending = options.out.extension().string();
  const std::string form = !options.form.empty() ? options.form : ending.empty() ? "" : ending.substr(1);
  if (form != "onnx" && form != "safetensors") {
    throw ConfigError(error_text("cli.export", options.form.empty() ? "--out" : "--to", "onnx or safetensors",
                                 form.empty() ? options.out.string() : form, "--out model.onnx"));
  }
  if (form == "onnx" && options.channels > 0) {
    throw ConfigError(error_text("cli.export", "--channels", "a safetensors file", "onnx",
                                 "omitting --channels: the ONNX model copies one gray channel itself"));
  }
  if (form == "safetensors" && (options.is_folding || options.opset != io::kOnnxMostOpset)) {
    throw ConfigError(error_text("cli.export", options.is_folding ? "--fold-batch-norm" : "--opset", "an ONNX file",
                                 "safetensors", "--out model.onnx"));
  }
  return form;
}

publish::CardInput export_model(const ExportOptions& options) {
  static_cast<void>(export_form(options));
  static_cast<void>(engine::parse_device(options.device));
  return export_model(train::read_checkpoint(options.checkpoint), options);
}

publish::CardInput export_model(const train::Checkpoint& checkpoint, const ExportOptions& options) {
  const std::string form = export_form(options);
  check_places(options);
  const std::unique_ptr<engine::Engine> engine = engine::make_engine(options.device);
  train::LoadedModel model = train::load_checkpoint(checkpoint, *engine, {.batch = 1});
  std::vector<train::NamedTensor> weights = train::weights_of(*model.executable);
  Value data = read_optional(options.run_data());
  Value evaluation =
      options.evaluation.empty() ? Value() : score::read_evaluation(options.evaluation, options.checkpoint);
  const double divisor =
      options.points.empty()
          ? 1.0
          : score::read_image_points(options.points, {.input = score::input_text(model.preprocess, "none"),
                                                      .weights_sha256 = io::tensors_sha256(options.checkpoint)})
                .temperature.value_or(1.0);
  publish::CardInput card{.file = options.out.filename().string(),
                          .form = form,
                          .temperature = divisor,
                          .data = std::move(data),
                          .evaluation = std::move(evaluation)};
  publish::check_tables("publish.card", card.data, card.evaluation);
  if (!options.keeps_patients) {
    model.info.training_patients.clear();
    model.info.patient_salt.clear();
    model.info.patient_namespace.clear();
  }
  if (form == "onnx") {
    write_onnx(options, model, weights, card);
  } else {
    if (options.channels > 0) {
      publish::unfold_channels(static_cast<int>(options.channels), model.info, model.preprocess, weights);
    }
    train::write_weights(options.out, weights, model.info.step, train::to_metadata(model.info));
  }
  card.info = model.info;
  card.preprocess = model.preprocess;
  card.sha256 = io::sha256_hex(io::read_file(options.out).or_throw());
  io::write_file_atomically(options.card(), publish::model_card(card));
  return card;
}

}  // namespace roentgen::task
