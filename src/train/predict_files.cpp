// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/predict_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "data/image.h"
#include "data/source/dataset.h"
#include "data/stage/loader.h"
#include "data/transform/transform.h"
#include "engine/engine.h"

namespace roentgen::train {
namespace {

constexpr int kSlots = 2;

// Runs the batch in `slot` and fills in the probabilities of the readable images.
void compute(engine::Executable& executable, int slot, const PredictOptions& options,
             std::vector<PredictedImage>& images, const std::function<std::string(std::uint32_t)>& name_of) {
  executable.bind_slot(slot);
  executable.forward();
  const std::span<const float> logits = executable.read("logits");
  const std::size_t K = logits.size() / static_cast<std::size_t>(executable.inputs().front().shape[0]);
  for (PredictedImage& image : images) {
    if (!image.reason.empty()) continue;
    image.probabilities.resize(K);
    to_probabilities(logits.subspan(static_cast<std::size_t>(image.row) * K, K), options.loss, image.probabilities,
                     name_of(image.sample));
  }
}

}  // namespace

std::int64_t batch_for(std::int64_t images, std::int64_t most) {
  constexpr std::int64_t kLeastBatch = 8;
  return std::min(most, std::max(images, kLeastBatch));
}

void predict_files(engine::Executable& executable, const data::Dataset& dataset, const PredictOptions& options,
                   const PredictedBatch& on_batch) {
  const SlotMemory memory(executable, kSlots, static_cast<std::int64_t>(dataset.label_names.size()));
  std::vector<std::uint32_t> samples(dataset.samples.size());
  std::iota(samples.begin(), samples.end(), 0U);
  data::Loader loader(dataset, std::move(samples), prediction_loading(memory, options, data::LoadMode::Prediction),
                      memory.slots());
  const auto name_of = [&](std::uint32_t sample) { return dataset.samples[sample].id; };
  std::vector<PredictedImage> images;
  std::int64_t done = 0;
  while (const std::optional<data::Batch> batch = loader.next()) {
    images.assign(static_cast<std::size_t>(batch->valid), {});
    for (const data::BadRow& bad : batch->bad) images[static_cast<std::size_t>(bad.row)].reason = bad.reason;
    for (std::size_t i = 0; i < images.size(); ++i) {
      images[i].sample = batch->samples[i];
      images[i].row = static_cast<std::int64_t>(i);
    }
    compute(executable, batch->slot, options, images, name_of);
    loader.release(batch->slot);  // the executable owns the outputs
    on_batch(images);
    done += batch->valid;
    if (options.on_progress) options.on_progress(done);
  }
}

void predict_images(engine::Executable& executable, std::span<const data::Image> pictures,
                    const PredictOptions& options, const PredictedBatch& on_batch) {
  const SlotMemory memory(executable, kSlots, 0);
  const data::BatchSlot slot = memory.slots().front();
  const std::size_t row_bytes = data::slot_bytes(options.preprocess, memory.dtype());
  const auto name_of = [](std::uint32_t image) { return fmt::format("image {}", image); };
  data::Transformer transformer;
  std::vector<PredictedImage> images;
  for (std::size_t done = 0; done < pictures.size(); done += images.size()) {
    images.assign(std::min(pictures.size() - done, static_cast<std::size_t>(memory.batch())), {});
    for (std::size_t i = 0; i < images.size(); ++i) {
      images[i].sample = static_cast<std::uint32_t>(done + i);
      images[i].row = static_cast<std::int64_t>(i);
      transformer.apply(pictures[done + i], options.preprocess, nullptr,
                        {.bytes = slot.images.subspan(i * row_bytes, row_bytes), .dtype = memory.dtype()});
    }
    compute(executable, 0, options, images, name_of);
    on_batch(images);
    if (options.on_progress) options.on_progress(static_cast<std::int64_t>(done + images.size()));
  }
}

}  // namespace roentgen::train
