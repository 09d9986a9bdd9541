// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/predict_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "core/error.h"
#include "data/source/dataset.h"
#include "data/stage/loader.h"
#include "engine/engine.h"

namespace roentgen::train {
namespace {

constexpr int kSlots = 2;

data::LoaderOptions loader_options(const SlotMemory& memory, const PredictOptions& options) {
  data::LoaderOptions loading;
  loading.mode = data::LoadMode::Prediction;
  loading.shard = {.batch = memory.batch(), .tail = data::Tail::Pad};
  loading.workers = options.workers;
  loading.most_readers = options.most_readers;
  loading.epochs = 1;
  loading.preprocess = options.preprocess;
  loading.dtype = memory.dtype();
  return loading;
}

void check_finite(std::span<const float> logits, std::string_view image) {
  const auto bad = std::ranges::find_if_not(logits, [](float value) { return std::isfinite(value); });
  if (bad == logits.end()) return;
  throw DataError(error_text("train.predict", image, "finite logits", fmt::to_string(*bad),
                             "other weights, or training with a lower optimizer.lr or with train.clip_norm"));
}

}  // namespace

void predict_files(engine::Executable& executable, const data::Dataset& dataset, const PredictOptions& options,
                   const PredictedBatch& on_batch) {
  const SlotMemory memory(executable, kSlots, static_cast<std::int64_t>(dataset.label_names.size()));
  std::vector<std::uint32_t> samples(dataset.samples.size());
  std::iota(samples.begin(), samples.end(), 0U);
  data::Loader loader(dataset, std::move(samples), loader_options(memory, options), memory.slots());
  std::vector<PredictedImage> images;
  std::int64_t done = 0;
  while (const std::optional<data::Batch> batch = loader.next()) {
    executable.bind_slot(batch->slot);
    executable.forward();
    const std::span<const float> logits = executable.output("logits");
    const std::size_t K = logits.size() / static_cast<std::size_t>(memory.batch());
    images.assign(static_cast<std::size_t>(batch->valid), {});
    for (const data::BadRow& bad : batch->bad) images[static_cast<std::size_t>(bad.row)].reason = bad.reason;
    for (std::size_t i = 0; i < images.size(); ++i) {
      images[i].sample = batch->samples[i];
      images[i].row = static_cast<std::int64_t>(i);
      if (!images[i].reason.empty()) continue;
      check_finite(logits.subspan(i * K, K), dataset.samples[images[i].sample].id);
      images[i].probabilities.resize(K);
      to_probabilities(logits.subspan(i * K, K), options.loss, images[i].probabilities);
    }
    loader.release(batch->slot);  // the outputs are the executable's own
    on_batch(images);
    done += batch->valid;
    if (options.on_progress) options.on_progress(done);
  }
}

}  // namespace roentgen::train
