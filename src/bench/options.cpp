// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "bench/consumer.h"
#include "bench/harness.h"
#include "core/comma_list.h"
#include "core/error.h"
#include "data/stage/pipeline.h"
#include "engine/device.h"
#include "io/place.h"
#include "runtime/core_list.h"
#include "task/device_option.h"
#include "task/recipe_list.h"
#include "train/recipe.h"

namespace roentgen::bench {
namespace {

// Returns the options of `all` with these names, in the order of `names`.
std::vector<Option> picked(const std::vector<Option>& all, Names names) {
  std::vector<Option> options;
  for (const std::string_view name : names) {
    const auto found = std::ranges::find(all, name, &Option::name);
    RG_ASSERT(found != all.end());
    options.push_back(*found);
  }
  return options;
}

constexpr std::int64_t kMostNumber = 65536;

// Parses a comma-separated list of whole numbers from 1 to kMostNumber; returns an empty list if a number is invalid.
std::vector<std::int64_t> numbers_in(std::string_view text) {
  std::vector<std::int64_t> numbers;
  for (const std::string_view word : comma_parts(text)) {
    std::int64_t number = 0;
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc{} || stop != word.data() + word.size() || number < 1 || number > kMostNumber) return {};
    numbers.push_back(number);
  }
  return numbers;
}

DType parse_slot_dtype(std::string_view text) {
  for (const DType dtype : {DType::F32, DType::U8, DType::U16}) {
    if (text == name_of(dtype)) return dtype;
  }
  throw ConfigError(error_text("bench.options", "--slot-dtype", "f32, u8 or u16", text, "--slot-dtype f32"));
}

[[noreturn]] void refuse_ranks(std::string_view text) {
  throw ConfigError(error_text("cli.bench", "--ranks", fmt::format("a number from 1 to {}", kMostNumber), text,
                               "--ranks 2; in the cases scaling and short also --ranks 1,2,4"));
}

}  // namespace

std::vector<std::string> names_in(std::string_view text) {
  if (text.empty()) return {};
  const std::vector<std::string_view> names = comma_parts(text);
  return {names.begin(), names.end()};
}

std::optional<double> quantity_in(std::string_view text, std::span<const Unit> units) {
  double number = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !(number > 0.0)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.size() > 1 && text.starts_with(' ')) text.remove_prefix(1);
  const auto unit = std::ranges::find(units, text, &Unit::name);
  if (unit == units.end() || !std::isfinite(number * unit->factor)) return std::nullopt;
  return number * unit->factor;
}

std::vector<std::int64_t> parse_batches(std::string_view text) {
  std::vector<std::int64_t> batches = numbers_in(text);
  if (!batches.empty()) return batches;
  throw ConfigError(
      error_text("bench.options", "--batch", fmt::format("numbers from 1 to {}", kMostNumber), text, "--batch 16"));
}

Option rounds_option(std::int64_t& rounds) {
  return {.name = "--rounds",
          .target = &rounds,
          .doc = "number of rounds; each round repeats all measurements",
          .range = {1, kMany}};
}

Option slow_option(double& factor) {
  return {.name = "--slow",
          .target = &factor,
          .doc = "slow: worse than the median by this factor; 0 = links 2, nodes 1.15",
          .range = {0, kMany}};
}

std::vector<Option> SizeArguments::options(Names names) {
  return picked({{.name = "--batch",
                  .target = &batch,
                  .doc = "images per batch (default 16 with a model, else 64); infer: list 1,16",
                  .value_name = "N"},
                 {.name = "--image", .target = &image_px, .doc = "side of the image, px", .range = {1, 65536}},
                 {.name = "--channels",
                  .target = &channels,
                  .doc = "input channels, 1 or 3; 0 = 1 with --data, else 3",
                  .range = {0, 3}},
                 {.name = "--warmup",
                  .target = &warmup,
                  .doc = "number of runs before the measurement, which are not counted",
                  .range = {0, kMany}},
                 {.name = "--steps", .target = &steps, .doc = "number of measured runs", .range = {1, kMany}}},
                names);
}

std::int64_t SizeArguments::batch_or(std::int64_t usual) const {
  if (batch.empty()) return usual;
  const std::vector<std::int64_t> batches = parse_batches(batch);
  if (batches.size() == 1) return batches[0];
  throw ConfigError(
      error_text("cli.bench", "--batch", "one number", batch, "one number, or the case infer, which accepts several"));
}

SizeArguments SizeArguments::without_batch() const {
  SizeArguments sizes = *this;
  sizes.batch.clear();
  return sizes;
}

std::vector<Option> NetworkArguments::options(Names names) {
  return picked(
      {{.name = "--model",
        .target = &network.model,
        .doc = "built-in model (see roentgen models), or a file from inspect --print"},
       {.name = "--models", .target = &models, .doc = "built-in models, separated by commas"},
       {.name = "--labels", .target = &network.labels, .doc = "number of outputs of the network", .range = {1, kMany}},
       task::device_option(network.device, ", emulated:RATE"),
       {.name = "--threads", .target = &threads, .doc = "compute threads; 0 = all cores", .range = {0, kMany}},
       {.name = "--oversubscribe",
        .target = &may_oversubscribe,
        .doc = "allow more threads than the machine has cores"},
       {.name = "--allow-shared-gpu",
        .target = &network.may_share_device,
        .doc = "allow several processes on one CUDA device, by turns"},
       {.name = "--fuse",
        .target = &network.fuse,
        .doc = "graph optimizations: on, off, names, or on,-NAME (all but NAME)"},
       {.name = "--algorithms",
        .target = &network.algorithms,
        .doc = "kernels: auto, direct, heuristic, winograd, split, split2 or pointwise"},
       {.name = "--dtype",
        .target = &network.dtype,
        .doc = "number format of activations: f32, tf32, bf16, f16 or auto"},
       {.name = "--recompute",
        .target = &network.recompute,
        .doc = "recompute activations to save memory: auto, none or all"},
       {.name = "--profile", .target = &network.has_profile, .doc = "show the time in each kind of kernel"}},
      names);
}

std::vector<Option> NetworkArguments::training_options() {
  return options({"--model", "--labels", "--device", "--threads", "--oversubscribe", "--fuse", "--algorithms",
                  "--dtype", "--recompute"});
}

NetworkOptions NetworkArguments::sized(const SizeArguments& sizes, std::int64_t usual_channels) const {
  NetworkOptions options = network;
  if (!is_emulated_device(network.device)) {
    options.device = engine::resolve_device(engine::parse_device(network.device)).text();
  }
  options.batch = sizes.batch_or(network.batch);
  options.image_px = sizes.image_px;
  options.channels = sizes.channels_or(usual_channels);
  options.warmup = sizes.warmup;
  options.steps = sizes.steps;
  options.threads = static_cast<int>(threads);
  return options;
}

NetworkOptions NetworkArguments::checked(const SizeArguments& sizes) const {
  NetworkOptions options = sized(sizes);
  options.threads = threads_of(threads, may_oversubscribe);
  return options;
}

double take_emulated_device(NetworkOptions& network) {
  if (!is_emulated_device(network.device)) return 0.0;
  const double images_per_s = parse_emulated_device(network.device);
  network.device = NetworkOptions{}.device;
  return images_per_s;
}

std::vector<Option> InputArguments::options(Names names) {
  return picked(
      {{.name = "--data",
        .target = &data,
        .doc = "images and folders of images; labels are not needed",
        .is_input = true},
       {.name = "--pipeline", .target = &pipeline, .doc = "input pipeline: a name, or its stages separated by |"},
       {.name = "--recipe", .target = &recipe, .doc = "recipe whose [preprocess] and [augment] sections are used"},
       {.name = "--workers",
        .target = &workers,
        .doc = "threads that decode images; 0 = all cores",
        .range = {0, 1024}},
       {.name = "--readers",
        .target = &readers,
        .doc = "largest number of files read at the same time",
        .range = {1, 1024}},
       {.name = "--input-cores",
        .target = &cores,
        .doc = "CPU cores that decode, such as 0-1,4; the other cores compute"},
       {.name = "--cache-dir",
        .target = &input.cache_dir,
        .doc = "cache decoded images in this folder, as train does",
        .value_name = "DIR"},
       {.name = "--memory-budget",
        .target = &input.memory_mb,
        .doc = "memory for input data, MiB; 0 = half of the free memory",
        .range = {0, 1e9}},
       {.name = "--slot-dtype",
        .target = &slot_dtype,
        .doc = "number format in batches: f32, or pixels in u16 (as for CUDA) or u8"},
       {.name = "--cold", .target = &input.is_cold, .doc = "remove files from the system's cache before reading them"},
       {.name = "--cell-seconds",
        .target = &input.most_s,
        .doc = "time limit of one measurement, s (default: formats 1, overlap none)",
        .range = {0.001, 3600}},
       {.name = "--emulate-storage",
        .target = &storage,
        .doc = "simulate slow storage: open=2ms,read=1ms,opens_per_s=1000"},
       {.name = "--device",
        .target = &device,
        .doc = "emulated:RATE, an emulated device that takes RATE images per second"}},
      names);
}

InputOptions InputArguments::checked(const SizeArguments& sizes, std::int64_t usual_batch) const {
  InputOptions options = input;
  options.pipeline = data::parse_pipeline(pipeline);
  options.batch = sizes.batch_or(usual_batch);
  options.image_px = sizes.image_px;
  options.channels = sizes.channels_or(options.channels);
  options.workers = static_cast<int>(workers);
  options.most_readers = static_cast<int>(readers);
  options.warmup = sizes.warmup;
  options.steps = sizes.steps;
  if (!recipe.empty()) {
    const train::Recipe read = task::read_recipe(recipe, {});
    if (sizes.image_px != SizeArguments{}.image_px || sizes.channels > 0) {
      throw ConfigError(error_text("cli.bench", "--image and --channels",
                                   "neither of them with --recipe, which defines both", "at least one of them",
                                   "changing size and channels in [preprocess] of the recipe"));
    }
    options.preprocess = read.preprocess;
    options.augment = read.augment;
    options.image_px = read.preprocess.size_px;
    options.channels = read.preprocess.channels;
  }
  for (const std::string& each : data) {
    if (!options.cache_dir.empty()) io::refuse_inside_data("--cache-dir", options.cache_dir, each);
  }
  options.slot_dtype = parse_slot_dtype(slot_dtype);
  if (!cores.empty()) options.cores = runtime::parse_core_list(cores);
  if (!storage.empty()) options.storage = data::parse_storage_costs(storage);
  if (device != InputArguments{}.device) options.device_images_per_s = parse_emulated_device(device);
  return options;
}

data::Dataset InputArguments::dataset(const Host& host) const {
  if (!data.empty()) return host.images(data);
  throw ConfigError(error_text("cli.bench", "--data", "images or folders of images", "no --data", "--data DIR"));
}

std::vector<Option> RankArguments::options(Names names) {
  // Options with equal texts share a line of the help.
  const bool has_both = std::ranges::find(names, std::string_view("--ranks-per-node")) != names.end();
  // Without an option for ranks, the case compares all algorithms and formats in one group.
  const bool is_one = has_both || std::ranges::find(names, std::string_view("--ranks")) != names.end();
  const char* const ranks_doc = has_both ? "numbers of ranks (processes), 1,2,4; numbers of ranks per node"
                                         : "number of ranks (processes); short, sweep: a list, 1,2,4";
  return picked(
      {{.name = "--ranks", .target = &ranks, .doc = ranks_doc, .value_name = "NUMBERS"},
       {.name = "--ranks-per-node", .target = &per_node, .doc = ranks_doc, .value_name = "NUMBERS"},
       {.name = "--hosts", .target = &hosts, .doc = "hosts and their numbers of processes, such as a:2,b:2"},
       {.name = "--per-host", .target = &per_host, .doc = "processes per host; 0 = all", .range = {0, 4096}},
       {.name = "--no-overlap", .target = &is_late, .doc = "send gradients only after the backward pass"},
       {.name = "--bucket-mb", .target = &bucket_mb, .doc = "size of a gradient bucket, MiB", .range = {0.01, 1024}},
       {.name = "--reduce",
        .target = &reduce,
        .doc = is_one ? "algorithm that averages gradients (default: auto)"
                      : "algorithms that average gradients (default: all)"},
       {.name = "--wire",
        .target = &wire,
        .doc = fmt::format("format of sent gradients: f32, bf16, f16 (default: {})", is_one ? "f32" : "all")}},
      names);
}

std::vector<std::int64_t> RankArguments::counts() const {
  std::vector<std::int64_t> counts = numbers_in(ranks);
  if (counts.empty()) refuse_ranks(ranks);
  return counts;
}

std::vector<std::int64_t> RankArguments::counts_per_node() const { return RankArguments{.ranks = per_node}.counts(); }

std::int64_t RankArguments::count() const {
  const std::vector<std::int64_t> counts = numbers_in(ranks);
  if (counts.size() != 1) refuse_ranks(ranks);
  return counts.front();
}

RankRequest RankArguments::request(bool may_oversubscribe) const {
  RankRequest request{.may_oversubscribe = may_oversubscribe};
  if (!reduce.empty()) request.reduce = reduce;
  if (!wire.empty()) request.wire = wire;
  return request;
}

}  // namespace roentgen::bench
