// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/cases/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "bench/case_list.h"
#include "bench/harness.h"
#include "bench/options.h"
#include "bench/step_progress.h"
#include "core/error.h"
#include "core/log.h"
#include "engine/engine.h"
#include "io/file.h"
#include "train/choice_file.h"

namespace roentgen::bench {
namespace {

// Smallest loss of speed that is reported, as a share of the fastest kernel's time. Smaller losses are measurement
// noise.
constexpr double kNotable = 0.05;

using Seconds = std::map<std::string, double>;

// Times of one layer with every candidate kernel.
struct Layer {
  Seconds seconds;
  std::string chosen;
  /// Number of layers of this kind in all networks.
  std::int64_t times = 0;
};

const Seconds::value_type& fastest(const Seconds& seconds) {
  return *std::ranges::min_element(seconds, {}, &Seconds::value_type::second);
}

// Returns the time of the kernel "direct" ("bf16" for bf16 values) in seconds. If the engine has neither kernel,
// returns the time of the chosen kernel.
double first_of(const engine::MeasuredChoice& choice) {
  for (const char* name : {"direct", "bf16"}) {
    if (const auto found = choice.seconds.find(name); found != choice.seconds.end()) return found->second;
  }
  return choice.seconds.at(choice.chosen);
}

// Returns by which share the forward passes are slower with the kernels chosen for inference than with the fastest.
// Null if no forward pass was measured.
Value inference_loss(const std::vector<engine::MeasuredChoice>& choices, const engine::Plan& inference) {
  double best_s = 0.0, chosen_s = 0.0;
  for (const engine::MeasuredChoice& choice : choices) {
    const auto chosen = inference.choices.find(choice.name);
    if (chosen == inference.choices.end() || !choice.seconds.contains(chosen->second)) continue;
    best_s += fastest(choice.seconds).second;
    chosen_s += choice.seconds.at(chosen->second);
  }
  return best_s > 0.0 ? Value(chosen_s / best_s - 1.0) : Value();
}

Value row_of(const NetworkOptions& network, const std::vector<engine::MeasuredChoice>& choices,
             const engine::Plan& inference) {
  double best_s = 0.0, chosen_s = 0.0, first_s = 0.0;
  for (const engine::MeasuredChoice& choice : choices) {
    best_s += fastest(choice.seconds).second;
    chosen_s += choice.seconds.at(choice.chosen);
    first_s += first_of(choice);
  }
  return Value::Table{{"model", network.model},
                      {"batch", network.batch},
                      {"choices", std::ssize(choices)},
                      {"best_ms", best_s * 1e3},
                      {"chosen_ms", chosen_s * 1e3},
                      {"first_ms", first_s * 1e3},
                      {"loss", chosen_s / best_s - 1.0},
                      {"loss_of_first", first_s / best_s - 1.0},
                      {"inference_loss", inference_loss(choices, inference)}};
}

Value lossy_rows(const std::map<std::string, Layer>& layers) {
  struct Row {
    double lost_s;
    Value value;
  };
  std::vector<Row> rows;
  double all_s = 0.0;
  for (const auto& [name, layer] : layers) {
    const auto& [best, best_s] = fastest(layer.seconds);
    const double each_s = layer.seconds.at(layer.chosen) - best_s;
    const double lost_s = static_cast<double>(layer.times) * each_s;
    all_s += lost_s;
    if (each_s <= kNotable * best_s) continue;
    rows.push_back(
        {lost_s, Value::Table{{"layer", name}, {"chosen", layer.chosen}, {"best", best}, {"loss", each_s / best_s}}});
  }
  std::ranges::sort(rows, std::greater(), &Row::lost_s);
  Value table = Value::array();
  for (Row& row : rows) {
    row.value.set("share", row.lost_s / all_s);
    table.push_back(std::move(row.value));
  }
  return table;
}

Value layer_rows(const std::map<std::string, Layer>& layers) {
  Value table = Value::array();
  for (const auto& [name, layer] : layers) {
    Value row = Value::Table{{"layer", name}, {"times", layer.times}, {"chosen", layer.chosen}};
    for (const auto& [algorithm, seconds] : layer.seconds) row.set(algorithm + "_ms", seconds * 1e3);
    table.push_back(std::move(row));
  }
  return table;
}

std::string file_text(const std::map<std::string, Layer>& layers) {
  std::map<std::string, std::string> algorithms;
  for (const auto& [name, layer] : layers) algorithms[name] = fastest(layer.seconds).first;
  return train::choice_file_text(algorithms);
}

}  // namespace

Value run_choose(const ChooseOptions& options) {
  NetworkOptions network = checked(options.step);
  const std::unique_ptr<engine::Engine> engine = engine::make_engine(network.device);
  std::map<std::string, Layer> layers;
  Value networks = Value::array();
  std::int64_t revision = 0;
  RepeatProgress progress(std::ssize(options.networks));
  for (const ChooseNetwork& each : options.networks) {
    log::info(fmt::format("measuring the kernels of {}, batch {}", each.model, each.batch));
    network.model = each.model;
    network.batch = each.batch;
    network.graph = each.graph;
    const auto choices = measure_step_choices(network, *engine, {.threads = network.threads});
    if (choices.empty()) {
      throw ConfigError(
          error_text("bench.choose", each.model, "a network with convolutions", "no convolution", "other --models"));
    }
    const engine::Plan inference = plan_inference(network, *engine, network.threads);
    revision = inference.choice_revision;
    for (const engine::MeasuredChoice& choice : choices) {
      Layer& layer = layers[choice.layer];
      layer.seconds = choice.seconds;
      layer.chosen = choice.chosen;
      ++layer.times;
    }
    networks.push_back(row_of(network, choices, inference));
    progress.add();
  }
  if (!options.file.empty()) io::write_file_atomically(options.file, file_text(layers));
  Value result = settings_of("choose", network,
                             {"image_px", "channels", "labels", "threads", "device", "fuse", "algorithms", "dtype"});
  result.set("instruction_set", engine->instruction_set());
  result.set("choice_revision", revision);
  result.set("networks", std::move(networks));
  result.set("lossy", lossy_rows(layers));
  result.set("layers", layer_rows(layers));
  result.set("engine", engine->description());
  add_environment(result);
  return result;
}

namespace {

class ChooseCase final : public Case {
 public:
  ChooseCase()
      : Case("the kernels that the engine selects, compared with the fastest measured kernels",
             "roentgen bench choose --models resnet50 --batch 16 --write choices.json") {}
  [[nodiscard]] std::vector<Option> options() override {
    return joined({sizes_.options({"--batch", "--image", "--channels"}),
                   network_.options(
                       {"--models", "--labels", "--device", "--threads", "--oversubscribe", "--dtype", "--recompute"}),
                   {{.name = "--write",
                     .target = &file_,
                     .doc = "write the fastest kernels to a file for the recipe key train.choices",
                     .is_output = true,
                     .value_name = "FILE"}}});
  }
  [[nodiscard]] Value run(const Host& host) override {
    ChooseOptions options{.step = network_.checked(sizes_.without_batch()), .file = file_};
    for (const std::string& model : names_in(network_.models.empty() ? "resnet50,densenet121" : network_.models)) {
      for (const std::int64_t batch : parse_batches(sizes_.batch.empty() ? "16" : sizes_.batch)) {
        NetworkOptions network = options.step;
        network.model = model;
        network.batch = batch;
        options.networks.push_back({.model = model, .batch = batch, .graph = host.graph_of_file(network)});
      }
    }
    return run_choose(options);
  }

 private:
  SizeArguments sizes_;
  NetworkArguments network_;
  std::filesystem::path file_;
};

}  // namespace

std::unique_ptr<Case> make_choose_case() { return std::make_unique<ChooseCase>(); }

}  // namespace roentgen::bench
