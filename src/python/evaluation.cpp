// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Python interface to a run's data and its evaluation, with the checks and results of `roentgen eval`.
#include <fmt/format.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "data/source/dataset.h"
#include "data/source/describe.h"
#include "data/stage/sample_hashes.h"
#include "engine/engine.h"
#include "eval/leak.h"
#include "eval/table.h"
#include "python/core/options.h"
#include "python/core/process.h"
#include "python/interrupt.h"
#include "python/module.h"
#include "python/native_call.h"
#include "python/values.h"
#include "score/eval_set.h"
#include "score/evaluated_data.h"
#include "score/image_part.h"
#include "task/evaluate_checkpoint.h"
#include "train/load_checkpoint.h"
#include "train/ranks.h"
#include "train/recipe.h"
#include "train/resume.h"
#include "train/run_folder.h"
#include "train/run_origin.h"

namespace nb = nanobind;
namespace fs = std::filesystem;

namespace roentgen::python {
namespace {

// Returns any checkpoint of a run, from which its recipe can be read.
fs::path any_weights_of(const train::RunFolder& run) {
  if (fs::exists(run.best())) return run.best();
  if (fs::exists(run.resume())) return run.resume();
  throw ConfigError(error_text("python.run", run.root().string(), "a run folder with weights", "no weights",
                               "the folder passed to train() as out"));
}

// Checkpoint of the run's best epoch, which is its result.
fs::path best_weights_of(const train::RunFolder& run) {
  if (fs::exists(run.best())) return run.best();
  throw ConfigError(error_text("python.run", run.root().string(), "a run with a validated epoch", "none yet",
                               "continuing the run by train(..., resume=True)"));
}

// Data options with which a run was trained; `folders` replace folders that have moved.
data::SourceOptions source_of(const train::CheckpointInfo& info, const fs::path& weights, const train::RunFolder& run,
                              std::vector<std::string> folders) {
  fs::path recipe = weights;  // not empty, so that take_from_run() does not replace it
  train::take_from_run(run, recipe, folders);
  if (folders.empty()) {
    throw ConfigError(
        error_text("python.run", run.root().string(), "a run that stores its data folder", "none", "data=\"folder\""));
  }
  return task::source_of_checkpoint(info, weights.string(), folders);
}

std::shared_ptr<data::Dataset> run_dataset(const fs::path& folder, const std::vector<std::string>& data) {
  const NativeCall call;
  const train::RunFolder run(folder);
  const fs::path weights = any_weights_of(run);
  const train::CheckpointInfo info = train::read_checkpoint_info(weights);
  return std::make_shared<data::Dataset>(data::load_dataset(source_of(info, weights, run, data)));
}

// Arguments of Run.evaluate().
struct EvaluateRequest {
  fs::path folder;
  std::string split;
  std::vector<std::string> data;
  std::string device;
  std::string dtype;
  std::int64_t batch = 32, threads = 0, workers = 0, replicates = 1000;
  std::uint64_t seed = 0;
  eval::OnOverlap on_overlap = eval::OnOverlap::Refuse;
};

// Results as JSON, and the text that `roentgen eval` prints.
std::pair<Value, std::string> evaluate(const EvaluateRequest& request) {
  const train::RunFolder run(request.folder);
  const fs::path weights = best_weights_of(run);
  const data::Split split = data::parse_split(request.split);
  const train::Ranks ranks(nullptr);
  const auto engine = engine::make_engine(request.device);
  train::LoadedModel model = train::load_checkpoint(
      weights, *engine, {.batch = request.batch, .threads = static_cast<int>(request.threads), .dtype = request.dtype});
  data::SourceOptions source = source_of(model.info, weights, run, request.data);
  source.unknown_labels = data::UnknownLabels::Mask;
  const data::Dataset dataset = score::load_evaluated(source, {});
  const score::Part part = score::split_part(dataset, split);
  std::string checks = task::check_patients(model.info, dataset, part, request.on_overlap);
  data::PixelHashes hashes(std::ssize(dataset.samples));
  const score::EvalSet set = task::predict_part(
      ranks, model, dataset, part, hashes,
      {.workers = request.workers, .on_progress = [](std::int64_t, std::int64_t) { throw_if_interrupted(); }});
  checks += task::check_pixels(model.info, part, hashes, request.on_overlap);
  const eval::EvalTable table =
      eval::evaluate(set.predictions,
                     {.replicates = request.replicates,
                      .seed = request.seed,
                      .threads = train::compute_threads(train::sharing_cores({.threads = request.threads})),
                      .on_replicate = FrequentInterruptCheck()},
                     {.metrics = eval::all_metrics()});
  const std::string dtype = model.executable->plan().dtype();
  const std::string type_note = dtype == "f32" ? "" : fmt::format("computed in {}\n", dtype);
  Value figures = eval::to_value(table);
  figures.set("dtype", dtype);
  return {std::move(figures), checks + score::part_text(part) + data::label_notes(dataset) + type_note +
                                  score::absent_text(dataset) + score::unknown_patients_text(set) +
                                  eval::to_text(table)};
}

nb::tuple evaluate_run(const fs::path& folder, const std::string& split, const std::vector<std::string>& data,
                       std::int64_t batch, std::int64_t threads, std::int64_t workers, std::int64_t replicates,
                       std::int64_t seed, bool allows_overlap, const std::string& device, const std::string& dtype) {
  constexpr Range kThreads{.most = 4096};
  std::pair<Value, std::string> result;
  {
    const NativeCall call;
    require_threads();
    result = evaluate({.folder = folder,
                       .split = split,
                       .data = data,
                       .device = device,
                       .dtype = dtype,
                       .batch = within(batch, {.least = 1, .most = 1 << 20}, "python.run", "batch"),
                       .threads = within(threads, kThreads, "python.run", "threads"),
                       .workers = within(workers, kThreads, "python.run", "workers"),
                       .replicates = within(replicates, {.most = 1'000'000}, "python.run", "replicates"),
                       .seed = static_cast<std::uint64_t>(within(seed, {}, "python.run", "seed")),
                       .on_overlap = allows_overlap ? eval::OnOverlap::Warn : eval::OnOverlap::Refuse});
  }
  return nb::make_tuple(to_python(result.first), result.second);
}

}  // namespace

void add_evaluation(nb::module_& module) {
  module.def("run_dataset", &run_dataset);
  module.def("evaluate_run", &evaluate_run);
}

}  // namespace roentgen::python
