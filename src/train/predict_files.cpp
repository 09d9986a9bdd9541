// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/predict_files.h"

#include <numeric>
#include <optional>

#include "data/source/dataset.h"
#include "data/stage/loader.h"
#include "engine/engine.h"

namespace roentgen::train {

void predict_files(engine::Executable& executable, const data::Dataset& dataset, const PredictOptions& options,
                   const PredictedBatch& on_batch) {
  constexpr int kSlots = 2;
  const SlotMemory memory(executable, kSlots, static_cast<std::int64_t>(dataset.label_names.size()));
  std::vector<std::uint32_t> samples(dataset.samples.size());
  std::iota(samples.begin(), samples.end(), 0U);
  data::Loader loader(dataset, std::move(samples), prediction_loading(memory, options, data::LoadMode::Prediction),
                      memory.slots());
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
      images[i].probabilities.resize(K);
      to_probabilities(logits.subspan(i * K, K), options.loss, images[i].probabilities,
                       dataset.samples[images[i].sample].id);
    }
    loader.release(batch->slot);  // the outputs are the executable's own
    on_batch(images);
    done += batch->valid;
    if (options.on_progress) options.on_progress(done);
  }
}

}  // namespace roentgen::train
