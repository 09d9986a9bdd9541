// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Python interface of BatchFeed: batches as arrays by DLPack.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "data/transform/augment.h"
#include "python/arrays.h"
#include "python/core/batch_feed.h"
#include "python/core/options.h"
#include "python/core/process.h"
#include "python/module.h"
#include "python/native_call.h"
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

constexpr std::string_view kThing = "python.loader";
constexpr Range kBatch{.least = 1, .most = 1 << 20};
constexpr Range kRanks{.least = 1, .most = 1 << 20};
constexpr Range kWorkers{.least = 0, .most = 1024};

// Converts the options that the class roentgen.Loader passes.
FeedOptions read_options(const Value& table) {
  const OptionReader options(table, kThing);
  FeedOptions feed;
  data::LoaderOptions& loading = feed.loading;
  loading.mode = table.at("shuffle").as_bool() ? data::LoadMode::Training : data::LoadMode::Evaluation;
  const std::int64_t ranks = options.integer("ranks", kRanks);
  loading.shard = {.batch = options.integer("batch", kBatch),
                   .tail = data::parse_tail(options.text("tail")),
                   .rank = static_cast<int>(options.integer("rank", {.most = ranks - 1})),
                   .ranks = static_cast<int>(ranks)};
  const auto workers = static_cast<int>(options.integer("workers", kWorkers));
  loading.workers = workers > 0 ? workers : static_cast<int>(runtime::usable_cores().size());
  loading.seed = static_cast<std::uint64_t>(options.integer("seed", {}));
  loading.preprocess = data::preprocess_from_value(table.at("preprocess"));
  loading.augment = data::augment_from_value(table.at("augment"));
  loading.dtype = dtype_of(options.text("dtype"));
  if (loading.mode == data::LoadMode::Evaluation) {  // the pipeline for evaluation ends after one epoch
    loading.pipeline = data::Pipeline({data::SamplesStage{}, data::ShardStage{.tail = loading.shard.tail},
                                       data::RepeatStage{}, data::MapAndBatchStage{}, data::PrefetchStage{}});
  }
  loading.max_bad_share = options.share("max_bad");
  return feed;
}

std::unique_ptr<BatchFeed> make_feed(std::shared_ptr<data::Dataset> dataset, std::vector<std::uint32_t> samples,
                                     const nb::dict& dict) {
  const Value table = from_python(dict, "options");
  const NativeCall call;
  require_threads();
  FeedOptions options = read_options(table);
  options.samples = std::move(samples);
  return std::make_unique<BatchFeed>(std::move(dataset), std::move(options));
}

// Images, labels and samples of the next batch, or None at the end of an epoch.
nb::object next_batch(BatchFeed& feed) {
  std::shared_ptr<LentBatch> batch;
  {
    const NativeCall call;
    batch = feed.next();
  }
  if (!batch) return nb::none();
  const data::LoaderOptions& loading = feed.loading();
  const auto side = static_cast<std::size_t>(loading.preprocess.size_px);
  const auto rows = static_cast<std::size_t>(batch->rows);
  const auto channels = static_cast<std::size_t>(loading.preprocess.channels);
  const auto dtype = loading.dtype == DType::U8 ? nb::dtype<std::uint8_t>() : nb::dtype<float>();
  const std::size_t labels = batch->labels.size() / static_cast<std::size_t>(loading.shard.batch);
  return nb::make_tuple(share_array(batch->images.data(), dtype, {rows, channels, side, side}, batch),
                        share_array(batch->labels.data(), nb::dtype<float>(), {rows, labels}, batch), batch->samples);
}

// Position of the next batch as a dict; restore() reads it.
nb::dict place_of(const BatchFeed& feed) {
  FeedState state;
  {
    const NativeCall call;
    state = feed.state();
  }
  nb::dict dict;
  dict["epoch"] = state.position.epoch;
  dict["batch"] = state.position.batch;
  dict["batch_size"] = state.shard.batch;
  dict["ranks"] = state.shard.ranks;
  dict["tail"] = data::name_of(state.shard.tail);
  dict["seen"] = state.seen;
  dict["seen_batch"] = state.seen_batch;
  dict["bad"] = state.bad;
  return dict;
}

// Options that determine the contents of batches, in a canonical form.
nb::object settings_of(const BatchFeed& feed) {
  const data::LoaderOptions& loading = feed.loading();
  return to_python(Value::Table{{"shuffle", loading.mode == data::LoadMode::Training},
                                {"seed", static_cast<std::int64_t>(loading.seed)},
                                {"dtype", loading.dtype == DType::U8 ? "uint8" : "float32"},
                                {"preprocess", loading.preprocess.to_value()},
                                {"augment", loading.augment.to_value()}});
}

nb::dict stats_of(const BatchFeed& feed) {
  data::LoaderStats stats;
  {
    const NativeCall call;
    stats = feed.stats();
  }
  nb::dict dict;
  dict["images"] = stats.samples;
  dict["wait_s"] = stats.wait_s;
  dict["read_s"] = stats.read_s;
  dict["decode_s"] = stats.decode_s;
  dict["transform_s"] = stats.transform_s;
  dict["read_bytes"] = stats.read_bytes;
  return dict;
}

// Continues at a position that place_of() returned.
void restore(BatchFeed& feed, const nb::dict& place) {
  const Value table = from_python(place, "state");
  const NativeCall call;
  const OptionReader entries(table, "python.loader.state");
  const FeedState state{.position = {.epoch = static_cast<std::uint32_t>(entries.integer(
                                         "epoch", {.most = std::numeric_limits<std::uint32_t>::max() - 1})),
                                     .batch = entries.integer("batch", {})},
                        .shard = {.batch = entries.integer("batch_size", kBatch),
                                  .tail = data::parse_tail(entries.text("tail")),
                                  .rank = feed.loading().shard.rank,
                                  .ranks = static_cast<int>(entries.integer("ranks", kRanks))},
                        .seen = entries.indices("seen", feed.dataset_size()),
                        .seen_batch = entries.integer("seen_batch", {}),
                        .bad = entries.indices("bad", feed.dataset_size())};
  feed.restore(state);
}

}  // namespace

void add_loader(nb::module_& module) {
  nb::class_<BatchFeed>(module, "BatchFeed")
      .def("next", &next_batch)
      .def("skip_to_next_epoch", &BatchFeed::skip_to_next_epoch, nb::call_guard<NativeCall>())
      .def("steps_per_epoch", &BatchFeed::steps_per_epoch)
      .def("stats", &stats_of)
      .def("place", &place_of)
      .def("settings", &settings_of)
      .def("restore", &restore);
  module.def("make_feed", &make_feed);
}

}  // namespace roentgen::python
