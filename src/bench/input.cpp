// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/input.h"

#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>
#include <utility>
#include <variant>

#include "bench/harness.h"
#include "core/error.h"
#include "core/plural.h"
#include "data/source/dataset.h"
#include "data/stage/disk_cache.h"
#include "data/stage/loader.h"
#include "data/stage/memory_plan.h"
#include "data/stage/storage.h"
#include "data/transform/transform.h"
#include "runtime/core_list.h"
#include "runtime/cores.h"
#include "runtime/memory.h"
#include "train/observer.h"

namespace roentgen::bench {
namespace {

double processor_s() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

data::Preprocess preprocess_of(const InputOptions& options) {
  if (options.preprocess) return *options.preprocess;
  data::Preprocess preprocess = data::with_channels(data::preset("xray"), static_cast<int>(options.channels));
  preprocess.size_px = options.image_px;
  return preprocess;
}

data::LoaderOptions loader_options(const InputOptions& options) {
  data::LoaderOptions loading;
  loading.mode = data::LoadMode::Training;
  loading.shard = {.batch = options.batch, .rank = options.rank, .ranks = options.ranks};
  loading.pipeline = options.pipeline;
  loading.workers = workers_of(options);
  loading.cores = options.cores;
  loading.seed = options.seed;
  loading.preprocess = preprocess_of(options);
  loading.augment = options.augment;
  loading.dtype = options.slot_dtype;
  loading.max_bad_share = 0.0;
  loading.is_cold = options.is_cold;
  loading.most_readers = options.most_readers;
  return loading;
}

std::vector<std::uint32_t> all_of(const data::Dataset& dataset) {
  std::vector<std::uint32_t> samples(dataset.samples.size());
  std::iota(samples.begin(), samples.end(), 0U);
  return samples;
}

// Calls `take` repeatedly within the limits of `counts` and records times in `course`. `take` processes a batch and
// returns its number of images.
template <typename Take>
void measure_batches(const BatchCounts& counts, Course& course, Take&& take) {
  const double processor_begin_s = processor_s();
  const auto begin = Clock::now();
  auto last = begin;
  for (std::int64_t i = 0; i < counts.steps; ++i) {
    course.images += take();
    course.batch_s.push_back(seconds_since(last));
    last = Clock::now();
    course.wall_s = std::chrono::duration<double>(last - begin).count();
    if (counts.most_s > 0.0 && course.wall_s >= counts.most_s) break;
  }
  course.processor_s = processor_s() - processor_begin_s;
}

}  // namespace

BatchSize batch_size(const InputOptions& options) {
  constexpr std::int64_t kFewest = 3, kMost = 64;
  const auto* prefetch = std::get_if<data::PrefetchStage>(&options.pipeline.stages().back());
  return {.images = options.batch,
          .image_bytes = data::slot_bytes(preprocess_of(options), options.slot_dtype),
          .slots = static_cast<int>(std::clamp(prefetch == nullptr ? 1 : prefetch->count + 1, kFewest, kMost))};
}

data::MemoryShares share_memory(const data::Dataset& dataset, const InputOptions& options) {
  const data::Preprocess preprocess = preprocess_of(options);
  const std::size_t labels = dataset.label_names.size();
  const int slots = batch_size(options).slots;
  const std::uint64_t budget =
      data::input_budget_bytes(options.memory_mb, runtime::available_memory_bytes(), /*local_ranks=*/1);
  data::MemoryWishes wishes{
      .needs = {.samples = std::ssize(dataset.samples),
                .sample = data::largest_sample(dataset, all_of(dataset), preprocess.channels),
                .batch = options.batch,
                .row_bytes = data::slot_bytes(preprocess, options.slot_dtype) + 2 * sizeof(float) * labels,
                .workers = workers_of(options),
                .slots = slots}};
  return data::share_memory(options.pipeline, wishes, budget);
}

int workers_of(const InputOptions& options) {
  if (options.workers > 0) return options.workers;
  return options.cores.empty() ? runtime::available_cores() : runtime::physical_cores(options.cores);
}

Input::Input(const data::Dataset& dataset, const InputOptions& options, std::vector<data::BatchSlot> slots)
    : slots_(std::move(slots)) {
  require_at_least("ranks", options.ranks, 1);
  if (options.storage) storage_ = std::make_unique<data::EmulatedStorage>(*options.storage);
  data::LoaderOptions loading = loader_options(options);
  loading.storage = storage_.get();
  if (!options.cache_dir.empty()) {
    cache_ = std::make_unique<data::DiskCache>(
        dataset, data::DiskCacheOptions{.folder = options.cache_dir, .preprocess = loading.preprocess});
    kept_before_ = cache_->kept();
    loading.cache = cache_.get();
  }
  loader_ = std::make_unique<data::Loader>(dataset, all_of(dataset), std::move(loading), slots_);
}

Input::~Input() = default;

Course take_batches(Input& input, Consumer& consumer, const BatchCounts& counts) {
  Course course;
  data::Loader& loader = input.loader();
  std::int64_t taken = 0;
  const auto take = [&] {
    const auto batch = loader.next();
    if (!batch) {
      throw ConfigError(error_text("bench.pipeline", "pipeline",
                                   fmt::format("{} batches", counts.warmup + counts.steps), fmt::format("{}", taken),
                                   "a repeat stage in --pipeline, fewer --steps, or a smaller --batch"));
    }
    if (taken++ == 0) course.checksum = checksum(input.slots()[static_cast<std::size_t>(batch->slot)].images);
    consumer.take(batch->slot);
    loader.release(batch->slot);
    return batch->valid;
  };
  for (std::int64_t i = 0; i < counts.warmup; ++i) take();
  const auto settling = Clock::now();
  while (!loader.has_settled() && seconds_since(settling) < counts.settle_s) take();

  course.has_settled = loader.has_settled();
  const data::LoaderStats before = loader.stats();
  measure_batches(counts, course, take);
  const data::LoaderStats after = loader.stats();
  course.wait_s = after.wait_s - before.wait_s;
  const auto loaded = static_cast<double>(std::max<std::int64_t>(1, after.samples - before.samples));
  course.cached_share = std::min(1.0, static_cast<double>(after.cached - before.cached) / loaded);
  return course;
}

std::int64_t steps_beyond_buffers(const data::Dataset& dataset, const InputOptions& options) {
  std::int64_t held = 0;
  bool is_read = false;
  for (const data::Stage& stage : options.pipeline.stages()) {
    is_read = is_read || std::holds_alternative<data::InterleaveStage>(stage) ||
              std::holds_alternative<data::MapStage>(stage);
    const auto* shuffle = std::get_if<data::ShuffleStage>(&stage);
    if (is_read && shuffle != nullptr) held += shuffle->buffer;
  }
  const std::int64_t pass = std::max<std::int64_t>(1, std::ssize(dataset.samples) / options.ranks);
  const std::int64_t measured = (options.warmup + options.steps) * options.batch;
  if (held == 0 || held + measured <= pass) return options.steps;
  const std::int64_t pass_steps = (pass + options.batch - 1) / options.batch;
  return (options.steps + pass_steps - 1) / pass_steps * pass_steps;
}

void warn_of_settling(Value& result, std::int64_t unsettled) {
  if (unsettled == 0) return;
  const Value* const found = result.find("warnings");
  Value warnings = found == nullptr ? Value::array() : *found;
  warnings.push_back(
      fmt::format("{} began before the pipeline had settled, so that the speed may be too low; try a "
                  "larger --warmup",
                  counted(unsettled, "measurement")));
  result.set("warnings", std::move(warnings));
}

Course take_one_batch(Consumer& consumer, std::int64_t images, const BatchCounts& counts) {
  Course course;
  for (std::int64_t i = 0; i < counts.warmup; ++i) consumer.take(0);
  measure_batches(counts, course, [&] {
    consumer.take(0);
    return images;
  });
  return course;
}

void read_once(const data::Dataset& dataset) {
  std::set<std::filesystem::path> files;
  for (const data::Sample& sample : dataset.samples) files.insert(sample.path);
  std::vector<char> piece(1 << 20);
  for (const std::filesystem::path& path : files) {
    std::ifstream file(path, std::ios::binary);
    while (file.read(piece.data(), std::ssize(piece))) {
    }
  }
}

void add_settings(Value& result, const data::Dataset& dataset, const InputOptions& options) {
  result.set("images", std::ssize(dataset.samples));
  result.set("batch", options.batch);
  result.set("image_px", options.image_px);
  result.set("channels", options.channels);
  result.set("workers", workers_of(options));
  result.set("input_cores", options.cores.empty() ? Value() : Value(runtime::text_of(options.cores)));
  result.set("ranks", options.ranks);
  result.set("cold", options.is_cold);
  result.set("storage", options.storage ? Value(options.storage->text()) : Value());
  result.set("seed", static_cast<std::int64_t>(options.seed));
}

std::string_view bound_of(const Course& course, const Consumer& consumer) {
  return consumer.name().empty() || train::is_input_bound(course.wait_s, course.wall_s) ? "input" : "compute";
}

}  // namespace roentgen::bench
