// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/pipeline.h"

#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <numeric>
#include <thread>
#include <variant>
#include <vector>

#include "bench/harness.h"
#include "core/error.h"
#include "data/source/dataset.h"
#include "data/stage/loader.h"
#include "data/stage/storage.h"
#include "data/transform/transform.h"
#include "runtime/aligned_buffer.h"
#include "runtime/cores.h"
#include "train/observer.h"

namespace roentgen::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

double processor_s() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

std::int64_t largest_rss_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

// One that the consumer holds, and those that the pipeline holds ahead of it.
std::int64_t slots_of(const data::Pipeline& pipeline) {
  constexpr std::int64_t kFewest = 3, kMost = 64;
  const auto* prefetch = std::get_if<data::PrefetchStage>(&pipeline.stages().back());
  return std::clamp(prefetch == nullptr ? 1 : prefetch->count + 1, kFewest, kMost);
}

// Memory for the batches.
class Slots {
 public:
  Slots(const PipelineOptions& options, std::size_t row_bytes, std::size_t labels) {
    const auto rows = static_cast<std::size_t>(options.batch);
    for (std::int64_t i = 0; i < slots_of(options.pipeline); ++i) {
      images_.emplace_back(rows * row_bytes);
      labels_.emplace_back(rows * labels);
      masks_.emplace_back(rows * labels);
    }
    for (std::size_t i = 0; i < images_.size(); ++i) {
      all_.push_back({.images = images_[i].bytes().first(rows * row_bytes), .labels = labels_[i], .mask = masks_[i]});
    }
  }
  [[nodiscard]] const std::vector<data::BatchSlot>& all() const { return all_; }

 private:
  std::vector<runtime::AlignedBuffer> images_;
  std::vector<std::vector<float>> labels_, masks_;
  std::vector<data::BatchSlot> all_;
};

Value stage_table(const std::vector<data::StageReport>& report) {
  Value stages = Value::array();
  for (const auto& [stage, meter] : report) {
    const double pulls = std::max<double>(1.0, static_cast<double>(meter.items));
    stages.push_back(Value(Value::Table{{"stage", stage},
                                        {"items", meter.items},
                                        {"threads", meter.threads},
                                        {"capacity", meter.capacity},
                                        {"mean_depth", static_cast<double>(meter.depth_sum) / pulls},
                                        {"empty_waits", meter.empty_waits},
                                        {"full_waits", meter.full_waits},
                                        {"pull_s", meter.pull_s},
                                        {"busy_s", meter.busy_s}}));
  }
  return stages;
}

data::LoaderOptions loader_options(const PipelineOptions& options, data::EmulatedStorage* storage) {
  data::LoaderOptions loading;
  loading.mode = data::LoadMode::Training;
  loading.shard = {.batch = options.batch};
  loading.pipeline = options.pipeline;
  loading.workers = options.workers > 0 ? options.workers : runtime::available_cores();
  loading.seed = options.seed;
  loading.preprocess = data::with_channels(data::preset("xray"), static_cast<int>(options.channels));
  loading.preprocess.size_px = options.image_px;
  loading.max_bad_share = 0.0;
  loading.storage = storage;
  loading.is_cold = options.is_cold;
  return loading;
}

// What the consumer saw of the measured batches.
struct Course {
  std::vector<double> batch_s;
  std::int64_t images = 0;
  double wall_s = 0.0;
  double processor_s = 0.0;
  double wait_s = 0.0;
  std::string checksum;
};

Course take_batches(data::Loader& loader, const PipelineOptions& options, const Slots& slots) {
  Course course;
  Clock::time_point begin = Clock::now(), last = begin, device_is_free = begin;
  double processor_begin_s = processor_s(), wait_begin_s = 0.0;
  for (std::int64_t i = 0; i < options.warmup + options.steps; ++i) {
    const auto batch = loader.next();
    if (!batch) {
      throw ConfigError(error_text("bench.pipeline", "pipeline",
                                   fmt::format("{} batches", options.warmup + options.steps), fmt::format("{}", i),
                                   "a repeat, fewer --steps, or a smaller --batch"));
    }
    if (i == 0) course.checksum = checksum(slots.all()[static_cast<std::size_t>(batch->slot)].images);
    if (options.device_images_per_s > 0.0) {
      device_is_free = std::max(device_is_free, Clock::now()) +
                       std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * static_cast<double>(options.batch) /
                                                                          options.device_images_per_s));
      std::this_thread::sleep_until(device_is_free);  // the emulated device computes
    }
    loader.release(batch->slot);
    const auto now = Clock::now();
    if (i < options.warmup) {
      begin = now;
      processor_begin_s = processor_s();
      wait_begin_s = loader.stats().wait_s;
    } else {
      course.batch_s.push_back(seconds(now - last));
      course.images += batch->valid;
    }
    last = now;
  }
  course.wall_s = seconds(last - begin);
  course.processor_s = processor_s() - processor_begin_s;
  course.wait_s = loader.stats().wait_s - wait_begin_s;
  return course;
}

}  // namespace

double parse_emulated_device(std::string_view text) {
  constexpr std::string_view kPrefix = "emulated:";
  double rate = 0.0;
  if (text.starts_with(kPrefix)) {
    const char* const begin = text.data() + kPrefix.size();
    const char* const end = text.data() + text.size();
    const auto [at, error] = std::from_chars(begin, end, rate);
    if (error == std::errc() && at == end && rate >= 0.1 && rate <= 1e9) return rate;
  }
  throw ConfigError(
      error_text("bench.pipeline", "--device", "emulated:RATE, images a second", text, "--device emulated:1200"));
}

Value run_pipeline(const data::Dataset& dataset, const PipelineOptions& options) {
  require_at_least("warmup", options.warmup, 0);
  require_at_least("steps", options.steps, 1);
  std::optional<data::EmulatedStorage> storage;
  if (options.storage) storage.emplace(*options.storage);
  data::LoaderOptions loading = loader_options(options, storage ? &*storage : nullptr);
  const Slots slots(options, data::slot_bytes(loading.preprocess, DType::F32), dataset.label_names.size());
  std::vector<std::uint32_t> samples(dataset.samples.size());
  std::iota(samples.begin(), samples.end(), 0U);
  data::Loader loader(dataset, samples, loading, slots.all());
  const Course course = take_batches(loader, options, slots);
  const data::LoaderStats stats = loader.stats();
  const double loaded = std::max<double>(1.0, static_cast<double>(stats.samples));
  const bool has_device = options.device_images_per_s > 0.0;

  Value result = Value::table();
  result.set("case", "pipeline");
  result.set("pipeline", loader.pipeline().text());
  result.set("images", std::ssize(dataset.samples));
  result.set("batch", options.batch);
  result.set("image_px", options.image_px);
  result.set("channels", options.channels);
  result.set("workers", loading.workers);
  result.set("warmup", options.warmup);
  result.set("n", options.steps);
  result.set("cold", options.is_cold);
  result.set("seed", static_cast<std::int64_t>(options.seed));
  result.set("storage", options.storage ? Value(options.storage->text()) : Value());
  result.set("device", has_device ? Value(fmt::format("emulated:{}", options.device_images_per_s)) : Value());
  result.set("emulated", options.storage.has_value() || has_device);
  result.set("images_per_s", static_cast<double>(course.images) / course.wall_s);
  result.set("per_core", static_cast<double>(course.images) / course.processor_s);
  result.set("batch_ms", summary_ms(course.batch_s));
  result.set("wait_share", course.wait_s / course.wall_s);
  result.set("bound", !has_device || train::is_input_bound(course.wait_s, course.wall_s) ? "input" : "compute");
  result.set("read_ms", 1e3 * stats.read_s / loaded);
  result.set("decode_ms", 1e3 * stats.decode_s / loaded);
  result.set("transform_ms", 1e3 * stats.transform_s / loaded);
  result.set("read_bytes", static_cast<double>(stats.read_bytes) / loaded);
  result.set("stages", stage_table(loader.report()));
  result.set("rss_bytes", largest_rss_bytes());
  result.set("checksum", course.checksum);
  add_environment(result);
  return result;
}

}  // namespace roentgen::bench
