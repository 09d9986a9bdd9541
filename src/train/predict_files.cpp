// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/predict_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "data/image.h"
#include "data/source/dataset.h"
#include "data/stage/loader.h"
#include "data/transform/transform.h"
#include "engine/engine.h"
#include "train/inference_loop.h"

namespace roentgen::train {
namespace {

constexpr int kSlots = 2;

using NameOf = std::function<std::string(std::uint32_t)>;

// Reads the probabilities of the readable images from the last forward.
void read_probabilities(const engine::Executable& executable, const PredictOptions& options,
                        std::vector<PredictedImage>& images, const NameOf& name_of) {
  const std::span<const float> logits = executable.read("logits");
  const std::size_t K = logits.size() / static_cast<std::size_t>(executable.inputs().front().shape[0]);
  for (PredictedImage& image : images) {
    if (!image.reason.empty()) continue;
    image.probabilities.resize(K);
    to_probabilities(logits.subspan(static_cast<std::size_t>(image.row) * K, K), options.loss, image.probabilities,
                     name_of(image.sample));
  }
}

void predict_batches(engine::Executable& executable, data::BatchSource& source, const PredictOptions& options,
                     const NameOf& name_of, const PredictedBatch& on_batch) {
  const auto describe = [](const data::Batch& batch) {
    std::vector<PredictedImage> images(static_cast<std::size_t>(batch.valid));
    for (const data::BadRow& bad : batch.bad) images[static_cast<std::size_t>(bad.row)].reason = bad.reason;
    for (std::size_t i = 0; i < images.size(); ++i) {
      images[i].sample = batch.samples[i];
      images[i].row = static_cast<std::int64_t>(i);
    }
    return images;
  };
  std::int64_t done = 0;
  run_inference(executable, source, describe, [&](std::vector<PredictedImage> images) {
    read_probabilities(executable, options, images, name_of);
    on_batch(images);
    done += std::ssize(images);
    if (options.on_progress) options.on_progress(done);
  });
}

// Batch source of images in memory, which are preprocessed when a batch is requested. The slots take turns.
class Pictures final : public data::BatchSource {
 public:
  Pictures(std::span<const data::Image> pictures, const data::Preprocess& preprocess, const SlotMemory& memory)
      : pictures_(pictures), preprocess_(preprocess), memory_(memory), slots_(memory.slots()) {
    samples_.resize(pictures.size());
    std::iota(samples_.begin(), samples_.end(), 0U);
  }
  [[nodiscard]] std::optional<data::Batch> next() override {
    const std::size_t count = std::min(pictures_.size() - done_, static_cast<std::size_t>(memory_.batch()));
    if (count == 0) return std::nullopt;
    const int slot = std::exchange(slot_, (slot_ + 1) % kSlots);
    const std::span<std::byte> images = slots_[static_cast<std::size_t>(slot)].images;
    const std::size_t row_bytes = data::slot_bytes(preprocess_, memory_.dtype());
    for (std::size_t i = 0; i < count; ++i) {
      transformer_.apply(pictures_[done_ + i], preprocess_, nullptr,
                         {.bytes = images.subspan(i * row_bytes, row_bytes), .dtype = memory_.dtype()});
    }
    const auto samples = std::span<const std::uint32_t>(samples_).subspan(done_, count);
    done_ += count;
    return data::Batch{.slot = slot, .samples = samples, .valid = static_cast<std::int64_t>(count)};
  }
  void release(int /*slot*/) override {}

 private:
  std::span<const data::Image> pictures_;
  const data::Preprocess& preprocess_;
  const SlotMemory& memory_;
  std::vector<data::BatchSlot> slots_;
  std::vector<std::uint32_t> samples_;
  std::size_t done_ = 0;
  int slot_ = 0;
  data::Transformer transformer_;
};

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
  const NameOf name_of = [&](std::uint32_t sample) { return dataset.samples[sample].id; };
  predict_batches(executable, loader, options, name_of, on_batch);
}

void predict_images(engine::Executable& executable, std::span<const data::Image> pictures,
                    const PredictOptions& options, const PredictedBatch& on_batch) {
  const SlotMemory memory(executable, kSlots, 0);
  Pictures source(pictures, options.preprocess, memory);
  const NameOf name_of = [](std::uint32_t image) { return fmt::format("image {}", image); };
  predict_batches(executable, source, options, name_of, on_batch);
}

}  // namespace roentgen::train
