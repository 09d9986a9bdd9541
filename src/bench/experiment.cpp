// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "bench/consumer.h"
#include "bench/harness.h"
#include "bench/input.h"
#include "bench/orders.h"
#include "bench/record_folder.h"
#include "bench/rounds.h"
#include "core/error.h"
#include "core/log.h"
#include "data/source/dataset.h"

namespace roentgen::bench {
namespace {

struct Storage {
  std::string_view name;
  bool is_cold = false;
  bool is_slow = false;
};
constexpr Storage kStorages[] = {
    {.name = "warm"}, {.name = "cold", .is_cold = true}, {.name = "slow", .is_slow = true}};

struct Format {
  std::string_view name;
  const data::Dataset* dataset = nullptr;
};

struct Cell {
  Storage storage;
  Format format;
  std::size_t order = 0;
};

class Experiment {
 public:
  Experiment(const data::Dataset& files, const ExperimentOptions& options)
      : options_(options),
        sizes_(order_sizes(workers_of(options.input), options.input.batch, std::ssize(files.samples))),
        orders_(preset_orders(sizes_)),
        record_files_(record_files_for(std::ssize(files.samples))),
        records_(files, {.shards = record_files_, .workers = workers_of(options.input)}, options.work),
        formats_{{.name = "files", .dataset = &files}, {.name = "tfrecord", .dataset = &records_.dataset()}} {
    for (const Storage& storage : kStorages) {
      if (storage.is_slow && !options.input.storage) continue;
      for (const Format& format : formats_) {
        for (std::size_t order = 0; order < orders_.size(); ++order) {
          cells_.push_back({.storage = storage, .format = format, .order = order});
        }
      }
    }
  }

  // All cells of one device.
  void run(Consumer& device) {
    log::info(fmt::format("experiment: {}", device.name()));
    const auto slots = std::ssize(device.slots(0));
    const BatchCounts counts{.warmup = std::max(options_.input.warmup, slots),
                             .settle_s = options_.cell_s,
                             .steps = options_.input.steps,
                             .most_s = options_.cell_s};
    std::vector<double> alone;
    const auto courses = interleave(cells_.size(), options_.rounds, [&](std::size_t i) {
      if (i == 0) alone.push_back(take_one_batch(device, options_.input.batch, counts).images_per_s());
      return measure(cells_[i], device, counts);
    });
    devices_.push_back(Value::Table{
        {"device", device.name()}, {"emulated", device.is_emulated()}, {"images_per_s", summarise(alone).median}});
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      table_.push_back(row(device, cells_[i], courses[i], alone, courses[naive_of(i)]));
    }
  }

  [[nodiscard]] Value result(const data::Dataset& files) {
    Value pipelines = Value::array();
    for (const Order& order : orders_) {
      pipelines.push_back(Value::Table{{"order", order.name}, {"stages", order.pipeline}});
    }
    Value result = Value::table();
    result.set("case", "experiment");
    add_settings(result, files, options_.input);
    std::erase_if(result.as_table(), [](const auto& entry) { return entry.first == "cold"; });
    result.set("buffer", sizes_.buffer);
    result.set("rounds", options_.rounds);
    result.set("cell_s", options_.cell_s);
    result.set("record_files", record_files_);
    result.set("devices", std::move(devices_));
    result.set("cells", std::move(table_));
    result.set("pipelines", std::move(pipelines));
    add_environment(result);
    return result;
  }

 private:
  [[nodiscard]] Course measure(const Cell& cell, Consumer& device, const BatchCounts& counts) const {
    PipelineOptions input = options_.input;
    input.pipeline = data::parse_pipeline(orders_[cell.order].pipeline);
    input.most_readers = kReaders;
    input.is_cold = cell.storage.is_cold;
    if (!cell.storage.is_slow) input.storage.reset();
    if (!input.is_cold) read_once(*cell.format.dataset);
    Input running(*cell.format.dataset, input, device.slots(cell.format.dataset->label_names.size()));
    return take_batches(running, device, counts);
  }

  // The cell with the naive order and all else as in this one; naive is the last order.
  [[nodiscard]] std::size_t naive_of(std::size_t i) const { return i - cells_[i].order + orders_.size() - 1; }

  [[nodiscard]] Value row(const Consumer& device, const Cell& cell, const std::vector<Course>& courses,
                          const std::vector<double>& alone, const std::vector<Course>& naive) const {
    std::vector<double> of_device, of_naive;
    for (std::size_t i = 0; i < courses.size(); ++i) {
      of_device.push_back(courses[i].images_per_s() / alone[i]);
      of_naive.push_back(courses[i].images_per_s() / naive[i].images_per_s());
    }
    return Value::Table{
        {"device", device.name()},
        {"storage", cell.storage.name},
        {"format", cell.format.name},
        {"order", orders_[cell.order].name},
        {"images_per_s", median_of(courses, [](const Course& course) { return course.images_per_s(); })},
        {"of_device", summarise(of_device).median},
        {"of_naive", summarise(of_naive).median},
        {"wait_share", median_of(courses, [](const Course& course) { return course.wait_share(); })},
        {"bound", bound_of(courses.back(), device)},
        {"steps", std::ssize(courses.back().batch_s)},
        {"emulated", device.is_emulated() || cell.storage.is_slow}};
  }

  const ExperimentOptions& options_;
  const OrderSizes sizes_;
  const std::vector<Order> orders_;
  const std::int64_t record_files_;
  const RecordFolder records_;
  const std::vector<Format> formats_;
  std::vector<Cell> cells_;
  Value devices_ = Value::array();
  Value table_ = Value::array();
};

}  // namespace

Value run_experiment(const data::Dataset& dataset, const ExperimentOptions& options) {
  require_at_least("warmup", options.input.warmup, 0);
  require_at_least("steps", options.input.steps, 1);
  require_at_least("rounds", options.rounds, 1);
  if (options.models.empty() && options.rates.empty()) {
    throw ConfigError(error_text("bench.experiment", "devices", "a model or a rate", "none", "--rates 200,1000"));
  }
  Experiment experiment(dataset, options);
  PipelineOptions usual = options.input;
  usual.pipeline = data::training_pipeline(data::Tail::Drop);
  const BatchSize size = batch_size(usual);
  for (const std::string& model : options.models) {
    StepOptions step = options.step;
    step.model = model;
    step.batch = options.input.batch;
    step.image_px = options.input.image_px;
    step.channels = options.input.channels;
    const auto device = make_training_step(step, {.threads = threads_of(step.threads, false), .slots = size.slots});
    experiment.run(*device);
  }
  for (const double rate : options.rates) experiment.run(*make_emulated_device(rate, size));
  return experiment.result(dataset);
}

std::vector<double> parse_rates(std::string_view text) {
  std::vector<double> rates;
  if (text.empty()) return rates;
  while (true) {
    const auto comma = text.find(',');
    rates.push_back(parse_emulated_device("emulated:" + std::string(text.substr(0, comma))));
    if (comma == std::string_view::npos) return rates;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace roentgen::bench
