// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/train_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "cli/arguments.h"
#include "cli/output_file.h"
#include "core/comma_list.h"
#include "core/error.h"
#include "engine/device.h"
#include "io/place.h"
#include "runtime/stream.h"
#include "task/model.h"
#include "task/recipe_list.h"
#include "train/own_device.h"

namespace roentgen::cli {
namespace {

// Options with the same text share one line of the help.
constexpr const char* kInitDoc = "initial weights (file); their preprocessing: imagenet, xrv, xray, unit";
constexpr const char* kChangeDoc = "override the recipe: section.key=value; train one run each: key=a,b";
constexpr const char* kFolderDoc = "cache decoded images here; write checkpoints here, then to --out";
constexpr const char* kRunDoc = "continue the run in --out, if it exists; delete the run in --out first";
constexpr const char* kTimesDoc = "save and stop after N updates; restart a failed run up to N times";
constexpr const char* kDeviceDoc = "one device: auto, cpu, cuda, cuda:N; several in one process: cuda:0,1";
constexpr const char* kCoresDoc = "decoding cores; sending threads: 0, 1; their cores";
constexpr const char* kKernelDoc = "override recipe keys of these names; see --keys";
constexpr const char* kMoreTextDoc = "print all recipe keys and exit; also log memory, cores and kernels";
constexpr const char* kTraceDoc = "trace N updates, then every Nth; number of ranks";

void require_option(const std::filesystem::path& value, std::string_view usage) {
  if (value.empty()) refuse_missing("train", usage);
}

// Returns an error text in which "--set train.device=" and similar words are replaced by the option that the user
// typed, such as "--device".
std::string with_typed_options(std::string text, const std::vector<std::string_view>& keys) {
  for (const std::string_view key : keys) {
    const std::string set = fmt::format("--set train.{}=", key);
    for (std::size_t at = text.find(set); at != std::string::npos; at = text.find(set)) {
      std::string option = fmt::format("--{} ", key);
      std::ranges::replace(option, '_', '-');
      text.replace(at, set.size(), option);
    }
  }
  return text;
}

// Returns an error text in which "--set" stands for "--sweep" where it names a swept key.
std::string with_swept_keys(std::string text, std::span<const std::string> swept) {
  constexpr std::string_view kSet = "--set ";
  for (const std::string& each : swept) {
    const std::string typed = fmt::format("{}{}", kSet, std::string_view(each).substr(0, each.find('=')));
    for (std::size_t at = text.find(typed); at != std::string::npos; at = text.find(typed, at)) {
      text.replace(at, kSet.size(), "--sweep ");
    }
  }
  return text;
}

// Reads the recipe and applies --set, options such as --device that set a recipe key, and values of --sweep.
train::Recipe read_changed_recipe(const TrainOptions& options, std::span<const std::string> swept = {}) {
  std::vector<std::string> changes = options.overrides;
  std::vector<std::string_view> typed;
  for (const auto& [key, value] : {std::pair{"device", &options.device},
                                   {"algorithms", &options.algorithms},
                                   {"dtype", &options.dtype},
                                   {"recompute", &options.recompute},
                                   {"fuse", &options.fuse},
                                   {"bucket_mb", &options.bucket_mb}}) {
    if (value->empty()) continue;
    changes.push_back(fmt::format("train.{}={}", key, *value));
    typed.emplace_back(key);
  }
  changes.insert(changes.end(), swept.begin(), swept.end());
  try {
    return task::read_recipe(options.recipe, changes);
  } catch (const ConfigError& error) {
    throw ConfigError(with_typed_options(with_swept_keys(error.what(), swept), typed));
  }
}

}  // namespace

std::vector<Option> TrainOptions::list() {
  const std::vector<Option> own{
      {.name = "--recipe", .target = &recipe, .doc = "TOML file, or name of a built-in recipe (see roentgen recipes)"},
      {.name = "--data",
       .target = &data,
       .doc = "data folder, never changed; several (DIR or NAME=DIR) are joined",
       .value_name = "DIR"},
      {.name = "--out", .target = &out, .doc = "folder to create for the results of this run", .value_name = "DIR"},
      {.name = "--set", .target = &overrides, .doc = kChangeDoc},
      {.name = "--sweep", .target = &sweep, .doc = kChangeDoc},
      {.name = "--model",
       .target = &model,
       .doc = "built-in model (see roentgen models), or a file from inspect --print"},
      {.name = "--init", .target = &init, .doc = kInitDoc},
      {.name = "--init-preset", .target = &init_preset, .doc = kInitDoc},
      {.name = "--input-cores", .target = &input_cores, .doc = kCoresDoc},
      {.name = "--partial", .target = &is_partial, .doc = "load from --init only the tensors that match the model"},
      {.name = "--cache-dir", .target = &cache_dir, .doc = kFolderDoc, .value_name = "DIR"},
      {.name = "--checkpoint-dir", .target = &checkpoint_dir, .doc = kFolderDoc, .value_name = "DIR"},
      {.name = "--memory-budget",
       .target = &memory_mb,
       .doc = "memory for input data, MiB; 0 = half of the free memory",
       .range = {0, 1e9}},
      {.name = "--seeds",
       .target = &seeds,
       .doc = "seeds such as 0,1,2: one run per seed in --out/seed-0 ..., and a mean"},
      {.name = "--resume", .target = &is_resume, .doc = kRunDoc},
      {.name = "--overwrite", .target = &is_overwrite, .doc = kRunDoc},
      {.name = "--stop-after", .target = &stop_after, .doc = kTimesDoc, .range = {.low = 0}},
      ranks.restart_option(kTimesDoc),
      {.name = "--keys", .target = &is_keys, .doc = kMoreTextDoc},
      {.name = "--verbose", .target = &is_verbose, .doc = kMoreTextDoc}};
  const std::vector<Option> computing{{.name = "--device", .target = &device, .doc = kDeviceDoc},
                                      {.name = "--devices", .target = &devices, .doc = kDeviceDoc},
                                      {.name = "--algorithms", .target = &algorithms, .doc = kKernelDoc},
                                      {.name = "--dtype",
                                       .target = &dtype,
                                       .doc = "number format: f32, bf16, on CUDA f16, tf32; auto: bf16 if supported"},
                                      {.name = "--recompute", .target = &recompute, .doc = kKernelDoc},
                                      {.name = "--fuse", .target = &fuse, .doc = kKernelDoc},
                                      {.name = "--bucket-mb", .target = &bucket_mb, .doc = kKernelDoc}};
  const std::vector<Option> tracing{
      {.name = "--trace", .target = &is_traced, .doc = "write trace.json, a timeline of the run for ui.perfetto.dev"},
      {.name = "--trace-steps", .target = &trace.first, .doc = kTraceDoc, .range = {0, 1e9}},
      {.name = "--trace-every", .target = &trace.every, .doc = kTraceDoc, .range = {1, 1e9}},
      {.name = "--trace-ranks", .target = &trace.most_ranks, .doc = kTraceDoc, .range = {1, 65536}}};
  return joined({own, computing, ranks.layout.communication_options(kCoresDoc), ranks.options(), tracing,
                 ranks.gradient_options()});
}

void TrainOptions::check() const {
  require_option(recipe, "--recipe FILE");
  require_option(out, "--out DIR");
  if (!is_traced && trace != train::TraceOptions{}) {
    refuse_missing("train --trace-steps, --trace-every or --trace-ranks", "--trace");
  }
  if (!devices.empty() && !device.empty() && device != "cuda") {
    refuse_arguments("train --devices", "no --device beside it, or cuda", device, "--devices alone");
  }
  if (is_resume && is_overwrite) {
    refuse_arguments("train", "--resume or --overwrite", "both", "--resume to continue the run");
  }
  if (!checkpoint_dir.empty() && io::is_inside(checkpoint_dir, out)) {
    refuse_arguments("train --checkpoint-dir", "a folder outside of --out", checkpoint_dir.string(),
                     "--checkpoint-dir $TMPDIR");
  }
  for (const std::string& folder : data) {
    io::refuse_inside_data("--out", out, roentgen::data::folder_of(folder));
    if (checkpoint_dir.empty()) continue;
    io::refuse_inside_data("--checkpoint-dir", checkpoint_dir, roentgen::data::folder_of(folder));
  }
}

std::string TrainOptions::device_note() const {
  const engine::DeviceChoice asked = engine::parse_device(read_changed_recipe(*this).train.device);
  if (asked != engine::DeviceChoice{} || !devices.empty()) return {};
  return train::device_note(asked, engine::resolve_device(asked), runtime::find_cuda_devices());
}

train::Recipe TrainOptions::read_recipe(std::span<const std::string> swept) const {
  train::Recipe read = read_changed_recipe(*this, swept);
  if (!devices.empty()) read.train.device = "cuda";
  read.train.device = engine::resolve_device(engine::parse_device(read.train.device)).text();
  if (!model.empty()) task::set_model(read.model, model);
  if (!init.empty()) read.train.init = init;
  if (!init_preset.empty()) read.train.init_preset = init_preset;
  if (!input_cores.empty()) read.train.input_cores = input_cores;
  if (is_partial) read.train.partial = true;
  if (memory_mb > 0) read.train.memory_mb = memory_mb;
  if (!cache_dir.empty()) {
    for (const std::string& folder : data)
      io::refuse_inside_data("--cache-dir", cache_dir, roentgen::data::folder_of(folder));
    read.train.cache = "disk";
    read.train.cache_dir = cache_dir;
  }
  roentgen::data::place_folders(read.data, data);
  require_option(read.data.root, "--data DIR");
  return read;
}

std::vector<std::int64_t> parse_seeds(std::string_view text) {
  constexpr std::int64_t kLargestSeed = 1'000'000'000;
  const auto refuse = [&] {
    refuse_arguments("train --seeds", "distinct whole numbers of at least 0, separated by commas", text,
                     "--seeds 0,1,2");
  };
  std::vector<std::int64_t> seeds;
  for (const std::string_view part : comma_parts(text)) {
    std::int64_t seed = -1;
    const char* last = part.data() + part.size();
    const auto [end, error] = std::from_chars(part.data(), last, seed);
    if (error != std::errc() || end != last || seed < 0 || seed > kLargestSeed) refuse();
    if (std::ranges::find(seeds, seed) != seeds.end()) refuse();
    seeds.push_back(seed);
  }
  return seeds;
}

}  // namespace roentgen::cli
