// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// BatchFeed for Python: batches as arrays by DLPack.
#include <fmt/format.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>

#include "core/error.h"
#include "data/transform/augment.h"
#include "python/arrays.h"
#include "python/batch_feed.h"
#include "python/module.h"
#include "python/process.h"
#include "python/values.h"
#include "runtime/core_list.h"

namespace nb = nanobind;

namespace roentgen::python {
namespace {

DType dtype_of(const std::string& name) {
  if (name == "float32") return DType::F32;
  if (name == "uint8") return DType::U8;
  throw ConfigError(error_text("python.loader", "dtype", "\"float32\" or \"uint8\"", name, "dtype=\"float32\""));
}

// ConfigError unless `value` lies in [least, most].
std::int64_t within(std::int64_t value, std::int64_t least, std::int64_t most, const char* name) {
  if (value >= least && value <= most) return value;
  throw ConfigError(error_text("python.loader", name, fmt::format("a number from {} to {}", least, most),
                               fmt::to_string(value), "another number"));
}

constexpr std::int64_t kMostBatch = 1 << 20;
constexpr std::int64_t kMostRanks = 1 << 20;
constexpr std::int64_t kMostWorkers = 1024;

// Options as roentgen.Loader gives them: all keys are there.
FeedOptions read_options(const Value& table) {
  FeedOptions options;
  data::LoaderOptions& loading = options.loading;
  loading.mode = table.at("training").as_bool() ? data::LoadMode::Training : data::LoadMode::Evaluation;
  const std::int64_t ranks = within(table.at("ranks").as_integer(), 1, kMostRanks, "ranks");
  loading.shard = {.batch = within(table.at("batch").as_integer(), 1, kMostBatch, "batch"),
                   .tail = data::parse_tail(table.at("tail").as_string()),
                   .rank = static_cast<int>(within(table.at("rank").as_integer(), 0, ranks - 1, "rank")),
                   .ranks = static_cast<int>(ranks)};
  const auto workers = static_cast<int>(within(table.at("workers").as_integer(), 0, kMostWorkers, "workers"));
  loading.workers = workers > 0 ? workers : static_cast<int>(runtime::usable_cores().size());
  loading.seed = static_cast<std::uint64_t>(table.at("seed").as_integer());
  loading.preprocess = data::preprocess_from_value(table.at("preprocess"));
  loading.augment = data::augment_from_value(table.at("augment"));
  loading.dtype = dtype_of(table.at("dtype").as_string());
  if (loading.mode == data::LoadMode::Evaluation) {  // its own pipeline ends after one epoch
    loading.pipeline = data::Pipeline({data::SamplesStage{}, data::ShardStage{.tail = loading.shard.tail},
                                       data::RepeatStage{}, data::MapAndBatchStage{}, data::PrefetchStage{}});
  }
  loading.max_bad_share = table.at("max_bad").as_double();
  return options;
}

std::unique_ptr<BatchFeed> make_feed(std::shared_ptr<data::Dataset> dataset, std::vector<std::uint32_t> samples,
                                     const nb::dict& dict) {
  const Value table = from_python(dict, "options of the loader");
  const nb::gil_scoped_release released;
  require_threads();
  FeedOptions options = read_options(table);
  options.samples = std::move(samples);
  return std::make_unique<BatchFeed>(std::move(dataset), std::move(options));
}

// Images, labels and samples of a batch, or None at the end of an epoch.
nb::object next_batch(BatchFeed& feed) {
  std::shared_ptr<LentBatch> batch;
  {
    const nb::gil_scoped_release released;
    batch = feed.next();
  }
  if (!batch) return nb::none();
  const auto side = static_cast<std::size_t>(feed.preprocess().size_px);
  const auto rows = static_cast<std::size_t>(batch->rows);
  const auto channels = static_cast<std::size_t>(feed.preprocess().channels);
  const auto dtype = feed.dtype() == DType::U8 ? nb::dtype<std::uint8_t>() : nb::dtype<float>();
  const std::size_t labels = batch->labels.size() / static_cast<std::size_t>(feed.batch_size());
  return nb::make_tuple(share_array(batch->images.data(), dtype, {rows, channels, side, side}, batch),
                        share_array(batch->labels.data(), nb::dtype<float>(), {rows, labels}, batch), batch->samples);
}

nb::dict state_of(const BatchFeed& feed) {
  const FeedState state = feed.state();
  nb::dict dict;
  dict["epoch"] = state.position.epoch;
  dict["batch"] = state.position.batch;
  dict["batch_size"] = state.shard.batch;
  dict["ranks"] = state.shard.ranks;
  dict["tail"] = data::name_of(state.shard.tail);
  dict["seen"] = state.seen;
  dict["bad"] = state.bad;
  return dict;
}

nb::dict stats_of(const BatchFeed& feed) {
  const data::LoaderStats stats = feed.stats();
  nb::dict dict;
  dict["images"] = stats.samples;
  dict["wait_s"] = stats.wait_s;
  dict["read_s"] = stats.read_s;
  dict["decode_s"] = stats.decode_s;
  dict["transform_s"] = stats.transform_s;
  dict["read_bytes"] = stats.read_bytes;
  return dict;
}

void restore(BatchFeed& feed, const nb::dict& dict, int rank) {
  FeedState state;
  state.position = {.epoch = nb::cast<std::uint32_t>(dict["epoch"]), .batch = nb::cast<std::int64_t>(dict["batch"])};
  state.shard = {
      .batch = within(nb::cast<std::int64_t>(dict["batch_size"]), 1, kMostBatch, "state: batch_size"),
      .tail = data::parse_tail(nb::cast<std::string>(dict["tail"])),
      .rank = rank,
      .ranks = static_cast<int>(within(nb::cast<std::int64_t>(dict["ranks"]), 1, kMostRanks, "state: ranks"))};
  state.seen = nb::cast<std::vector<std::uint32_t>>(dict["seen"]);
  state.bad = nb::cast<std::vector<std::uint32_t>>(dict["bad"]);
  const nb::gil_scoped_release released;
  feed.restore(state);
}

}  // namespace

void add_loader(nb::module_& module) {
  nb::class_<BatchFeed>(module, "BatchFeed")
      .def("next", &next_batch)
      .def("skip_to_next_epoch", &BatchFeed::skip_to_next_epoch, nb::call_guard<nb::gil_scoped_release>())
      .def("steps_per_epoch", &BatchFeed::steps_per_epoch)
      .def("stats", &stats_of)
      .def("state", &state_of)
      .def("restore", &restore);
  module.def("make_feed", &make_feed);
}

}  // namespace roentgen::python
