// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/harness.h"
#include "core/error.h"
#include "core/random.h"
#include "engine/engine.h"
#include "graph/loss.h"
#include "models/model.h"
#include "runtime/cores.h"

namespace roentgen::bench {
namespace {

constexpr std::uint64_t kSeed = 1;

// Returns the pixel normalisation that the engine asks for, as in training. Uniform random pixels become values of mean
// 0 and variance 1. Nullopt if the engine wants f32 values.
std::optional<engine::InputNorm> pixel_norm(const NetworkOptions& options, const engine::Engine& engine) {
  if (engine.slot_dtype() == DType::F32) return std::nullopt;
  const auto channels = static_cast<std::size_t>(options.channels);
  return engine::InputNorm{.dtype = engine.slot_dtype(),
                           .mean = std::vector<double>(channels, 0.5),
                           .stddev = std::vector<double>(channels, 1.0 / std::sqrt(12.0))};
}

// Fills the inputs: images are uniform with mean 0 and variance 1; one label in ten is positive, and all are known.
void fill_inputs(engine::Executable& executable, int slot) {
  for (std::size_t i = 0; i < executable.inputs().size(); ++i) {
    const engine::InputSpec& spec = executable.inputs()[i];
    Random random(kSeed, RandomStage::Test, i);
    const std::span<std::byte> bytes = executable.slot(static_cast<std::int64_t>(i), slot).first(spec.bytes);
    if (spec.dtype != DType::F32) {  // slots hold pixels
      for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.below(256));
      continue;
    }
    for (float& value : std::span(reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float))) {
      if (spec.name == "image") value = static_cast<float>(random.uniform(-std::sqrt(3.0), std::sqrt(3.0)));
      if (spec.name == "labels") value = random.chance(0.1) ? 1.0F : 0.0F;
      if (spec.name == "mask") value = 1.0F;
    }
  }
}

void require_shape(const graph::Graph& graph, std::string_view value, graph::NodeId node, const Shape& wanted) {
  const std::string found = node < 0 ? "none" : graph.node(node).shape.text();
  if (found == wanted.text()) return;
  throw ConfigError(error_text("bench.step", fmt::format("{} of {}", value, graph.name()), wanted.text(), found,
                               "--batch, --channels, --image and --labels as in the model file"));
}

graph::Graph model_of(const NetworkOptions& options) {
  if (!options.graph) {
    return models::build_model({.name = options.model,
                                .labels = options.labels,
                                .channels = options.channels,
                                .image_px = options.image_px,
                                .batch = options.batch});
  }
  const graph::Graph& graph = *options.graph;
  require_shape(graph, "image", graph.find("image"),
                {options.batch, options.channels, options.image_px, options.image_px});
  require_shape(graph, "logits", graph.output("logits"), {options.batch, options.labels});
  return graph;
}

engine::CompileOptions compiling(const NetworkOptions& options, const engine::Engine& engine, const StepTeam& team) {
  engine::CompileOptions result{.threads = team.threads,
                                .slots = team.slots,
                                .input_norm = pixel_norm(options, engine),
                                .bucket_bytes = team.bucket_bytes,
                                .fuse = options.fuse,
                                .algorithms = engine::parse_algorithms(options.algorithms),
                                .dtype = engine::parse_dtype(options.dtype),
                                .recompute = options.recompute,
                                .seed = kSeed};
  if (team.choice != nullptr) result.choice = *team.choice;
  return result;
}

engine::CompileOptions inferring(const NetworkOptions& options, const engine::Engine& engine, int threads) {
  return {.form = engine::Form::Inference,
          .threads = threads,
          .slots = 1,
          .input_norm = pixel_norm(options, engine),
          .fuse = options.fuse,
          .algorithms = engine::parse_algorithms(options.algorithms),
          .dtype = engine::parse_dtype(options.dtype),
          .seed = kSeed};
}

void draw_statistics(engine::Executable& executable) {
  const std::vector<graph::Parameter>& parameters = executable.graph().parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (graph::is_trained(parameters[i].role)) continue;
    const bool is_mean = parameters[i].role == graph::Role::RunningMean;
    Random random(kSeed, RandomStage::Test, i);
    std::vector<float> values(static_cast<std::size_t>(parameters[i].shape.elements()));
    for (float& value : values) {
      value = static_cast<float>(is_mean ? random.uniform(-0.5, 0.5) : random.uniform(0.5, 2.0));
    }
    executable.load(static_cast<std::int32_t>(i), values);
  }
}

}  // namespace

NetworkOptions checked(NetworkOptions options) {
  require_at_least("warmup", options.warmup, 0);
  require_at_least("steps", options.steps, 1);
  require_at_least("threads", options.threads, 0);
  if (options.threads == 0) options.threads = runtime::default_compute_threads();
  return options;
}

Value settings_of(std::string_view case_name, const NetworkOptions& options,
                  std::initializer_list<std::string_view> names) {
  const Value all = Value::Table{{"model", options.model},
                                 {"batch", options.batch},
                                 {"image_px", options.image_px},
                                 {"channels", options.channels},
                                 {"labels", options.labels},
                                 {"threads", options.threads},
                                 {"device", options.device},
                                 {"fuse", options.fuse},
                                 {"algorithms", options.algorithms},
                                 {"dtype", options.dtype},
                                 {"recompute", options.recompute},
                                 {"warmup", options.warmup},
                                 {"n", options.steps}};
  Value table = Value::Table{{"case", case_name}};
  for (const std::string_view name : names) table.set(name, all.at(name));
  return table;
}

std::unique_ptr<engine::Executable> compile_inference(const NetworkOptions& options, engine::Engine& engine,
                                                      int threads) {
  auto executable = engine.compile(model_of(options), inferring(options, engine, threads));
  engine::initialise(*executable, kSeed);
  draw_statistics(*executable);
  fill_inputs(*executable, 0);
  return executable;
}

engine::Plan plan_inference(const NetworkOptions& options, engine::Engine& engine, int threads) {
  return engine.plan(model_of(options), inferring(options, engine, threads));
}

engine::Plan plan_step(const NetworkOptions& options, engine::Engine& engine, StepTeam team) {
  return engine.plan(graph::with_loss(model_of(options), {}), compiling(options, engine, team));
}

std::vector<engine::MeasuredChoice> measure_step_choices(const NetworkOptions& options, engine::Engine& engine,
                                                         StepTeam team) {
  return engine.measure_choices(graph::with_loss(model_of(options), {}), compiling(options, engine, team));
}

std::unique_ptr<engine::Executable> compile_step(const NetworkOptions& options, engine::Engine& engine, StepTeam team) {
  const graph::Graph graph = graph::with_loss(model_of(options), {});
  auto executable = engine.compile(graph, compiling(options, engine, team));
  engine::initialise(*executable, kSeed);
  for (int slot = 0; slot < team.slots; ++slot) fill_inputs(*executable, slot);
  executable->bind_slot(0);
  return executable;
}

std::vector<data::BatchSlot> batch_slots(engine::Executable& executable, int count, std::size_t label_count,
                                         std::vector<std::vector<float>>& labels) {
  const auto images = std::ranges::find(executable.inputs(), "image", &engine::InputSpec::name);
  RG_ASSERT(images != executable.inputs().end());
  const std::size_t values = static_cast<std::size_t>(images->shape[0]) * label_count;
  labels.assign(static_cast<std::size_t>(count) * 2, std::vector<float>(values));
  std::vector<data::BatchSlot> slots;
  for (int slot = 0; slot < count; ++slot) {
    const std::size_t own = static_cast<std::size_t>(slot) * 2;
    slots.push_back({.images = executable.slot(images - executable.inputs().begin(), slot),
                     .labels = labels[own],
                     .mask = labels[own + 1]});
  }
  return slots;
}

SgdSteps::SgdSteps(engine::Executable& executable, double lr)
    : executable_(executable),
      optimizer_("sgd", {}, executable),
      ranges_{{.begin = 0, .count = executable.parameters().elements(), .weight_decay = 1e-4}},
      lr_(lr) {}

double SgdSteps::run() {
  executable_.set_step(count_);
  executable_.begin_update();
  executable_.forward();
  executable_.backward({});
  const auto begin = Clock::now();
  optimizer_.apply({.ranges = ranges_, .lr = lr_, .step = ++count_}, executable_.gradients());
  return seconds_since(begin);
}

float SgdSteps::loss() const {
  const float loss = executable_.read("loss")[0];
  if (std::isfinite(loss)) return loss;
  throw DataError(error_text("bench.step", fmt::format("step {}", count_), "a finite loss", fmt::format("{}", loss),
                             "fewer --steps, or --algorithms direct --fuse off, to see whether a kernel is wrong"));
}

}  // namespace roentgen::bench
