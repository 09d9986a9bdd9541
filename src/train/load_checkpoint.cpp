// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "train/load_checkpoint.h"

#include <fmt/format.h>

#include <utility>

#include "core/error.h"
#include "core/error_parts.h"
#include "engine/engine.h"
#include "graph/text.h"
#include "io/safetensors.h"
#include "train/one_plan.h"
#include "train/predict.h"
#include "train/ranks.h"
#include "train/recipe.h"
#include "train/run_folder.h"

namespace roentgen::train {

void require_checkpoint(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::exists(path, error) || error) return;  // an error is reported when the file is opened
  const RunFolder run(path.parent_path().parent_path());
  if (path.lexically_normal() == run.best().lexically_normal() && std::filesystem::exists(run.resume(), error)) {
    throw ConfigError(error_text("train.checkpoint", path.string(), "the weights of the best epoch",
                                 "a run that stopped before its first epoch ended",
                                 "roentgen train with the same options and --resume"));
  }
  throw ConfigError(error_text("train.checkpoint", path.string(), "a checkpoint file", "no such file",
                               "checking the path, or checkpoints/best.safetensors of a run"));
}

Checkpoint read_checkpoint(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    const std::filesystem::path best = RunFolder(path).best();
    throw ConfigError(
        error_text("train.checkpoint", path.string(), "a checkpoint file", "a folder",
                   std::filesystem::exists(best, ignored) ? best.string() : "checkpoints/best.safetensors of a run"));
  }
  require_checkpoint(path);
  const auto reader = io::SafetensorsReader::open(path).or_throw<ConfigError>();
  Checkpoint checkpoint{.info = {}, .tensors = {}, .what = path.string()};
  checkpoint.info = from_metadata(reader.metadata(), checkpoint.what,
                                  "best.safetensors of a run, or converting the file by roentgen convert-weights")
                        .or_throw<ConfigError>();
  checkpoint.tensors = read_tensors(reader, kOptimizerPrefix);
  return checkpoint;
}

LoadedModel load_checkpoint(const std::filesystem::path& path, engine::Engine& engine, const LoadOptions& options) {
  return load_checkpoint(read_checkpoint(path), engine, options);
}

LoadedModel load_checkpoint(const Checkpoint& checkpoint, engine::Engine& engine, const LoadOptions& options) {
  const std::string& what = checkpoint.what;
  LoadedModel model;
  model.info = checkpoint.info;
  try {
    model.preprocess = data::preprocess_from_value(model.info.preprocess);
  } catch (const ConfigError& error) {
    throw ConfigError(
        with_remedy(with_place(error.what(), what + ": preprocess."), "a checkpoint that roentgen train wrote"));
  }
  graph::Graph graph =
      graph::parse_graph(model.info.graph, what + ": graph", {.batch = options.batch}).or_throw<ConfigError>();
  const graph::NodeId logits = graph.output("logits");
  const auto K = static_cast<std::int64_t>(model.info.labels.size());
  if (logits < 0 || graph.node(logits).shape != Shape{options.batch, K}) {
    throw ConfigError(error_text(
        "train.checkpoint", what, fmt::format("a network whose output logits has {} values per image", K),
        logits < 0 ? "no such output" : graph.node(logits).shape.text(), "a checkpoint that roentgen train wrote"));
  }
  if (options.has_heatmaps) {
    model.heat = find_heat_head(graph);
    graph = with_features(std::move(graph), *model.heat);
  }
  engine::CompileOptions compile;
  compile.form = engine::Form::Inference;
  compile.threads = compute_threads(sharing_cores({.threads = options.threads}));
  compile.input_norm = input_norm(model.preprocess, engine);
  compile.algorithms = engine::parse_algorithms(options.algorithms);
  compile.dtype = engine::parse_dtype(options.dtype);
  const Ranks alone(nullptr);
  const Ranks& ranks = options.ranks == nullptr ? alone : *options.ranks;
  compile.choice = shared_choice_inputs(ranks, engine, compile.threads);
  model.executable = engine.compile(graph, compile);
  // An engine that infers only in f32 ignores other types.
  if (const std::string used = model.executable->plan().dtype(); compile.dtype && name_of(*compile.dtype) != used) {
    throw ConfigError(error_text("train.checkpoint", "dtype",
                                 fmt::format("{} or auto on the device {}", used, engine.name()), options.dtype,
                                 "--dtype f32, or --device cuda"));
  }
  require_one_plan(ranks, *model.executable);
  model.report = load_weights(checkpoint.tensors, *model.executable, what, options.strictness);
  return model;
}

}  // namespace roentgen::train
