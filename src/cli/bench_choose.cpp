// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/bench_choose.h"

#include <deque>
#include <filesystem>
#include <string>
#include <utility>

#include "bench/choose.h"
#include "bench/harness.h"
#include "bench/infer.h"
#include "cli/bench_options.h"
#include "cli/model_option.h"
#include "core/error.h"

namespace roentgen::cli {
namespace {

constexpr const char* kModels = "resnet50,densenet121";
constexpr const char* kBatches = "16";

}  // namespace

Value run_choose_case(const BenchArguments& in) {
  bench::ChooseOptions options{.step = in.step, .file = in.choices};
  const std::filesystem::path folder = std::filesystem::absolute(options.file).parent_path();
  if (!options.file.empty() && !std::filesystem::is_directory(folder)) {
    throw ConfigError(error_text("cli.bench", "--write", "a file in a folder that is there", options.file.string()));
  }
  options.step.threads = bench::threads_of(in.threads, in.may_oversubscribe);
  options.step.device = in.device;
  if (in.channels > 0) options.step.channels = in.channels;
  std::deque<graph::Graph> graphs;  // none of them moves
  for (const std::string& model : names_in(in.models.empty() ? kModels : in.models)) {
    for (const std::int64_t batch : bench::parse_batches(in.batch.empty() ? kBatches : in.batch)) {
      bench::ChooseNetwork network{.model = model, .batch = batch};
      auto graph = graph_of_file(model, {.batch = batch,
                                         .channels = options.step.channels,
                                         .image_px = options.step.image_px,
                                         .labels = options.step.labels});
      if (graph) network.graph = &graphs.emplace_back(std::move(*graph));
      options.networks.push_back(std::move(network));
    }
  }
  return bench::run_choose(options);
}

}  // namespace roentgen::cli
