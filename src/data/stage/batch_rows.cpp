// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/batch_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <optional>

#include "core/error.h"
#include "core/error_parts.h"
#include "core/random.h"
#include "data/transform/augment.h"

namespace roentgen::data {
namespace {

/// How often another sample is drawn for a corrupt one before giving up: by then almost everything must be corrupt.
constexpr int kMaxDraws = 100;

}  // namespace

RowFiller::RowFiller(const Dataset& dataset, const std::vector<std::uint32_t>& samples, const LoaderOptions& options)
    : dataset_(dataset),
      samples_(samples),
      options_(options),
      labels_(dataset, samples, options.label_form),
      row_bytes_(slot_bytes(options.preprocess, options.dtype)) {}

void RowFiller::check(const BatchSlot& slot) const {
  const auto rows = static_cast<std::size_t>(options_.shard.batch);
  const std::size_t labels = rows * static_cast<std::size_t>(labels_.width());
  if (slot.images.size() == rows * row_bytes_ && slot.labels.size() == labels && slot.mask.size() == labels) return;
  throw ShapeError(error_text("data.loader", "slot",
                              fmt::format("{} bytes, {} labels, {} masks", rows * row_bytes_, labels, labels),
                              fmt::format("{}, {}, {}", slot.images.size(), slot.labels.size(), slot.mask.size())));
}

void RowFiller::fill(OpenBatch& batch, std::int64_t row, const BatchSlot& slot, SampleLoader& loader) const {
  const auto index = static_cast<std::size_t>(row);
  const auto image = slot.images.subspan(index * row_bytes_, row_bytes_);
  const auto width = static_cast<std::size_t>(labels_.width());
  const auto labels = slot.labels.subspan(index * width, width);
  const auto mask = slot.mask.subspan(index * width, width);
  if (index >= batch.rows.size()) {  // behind the last sample
    std::fill(image.begin(), image.end(), std::byte{0});
    std::fill(labels.begin(), labels.end(), 0.0F);
    std::fill(mask.begin(), mask.end(), 0.0F);
    return;
  }
  Row& result = batch.rows[index];
  result.sample = batch.planned[index];
  try {
    load(batch, result, {.bytes = image, .dtype = options_.dtype}, loader);
    labels_.write(result.sample, labels, mask);
  } catch (...) {
    result.error = std::current_exception();
  }
}

void RowFiller::load(const OpenBatch& batch, Row& row, SlotView out, SampleLoader& loader) const {
  const std::uint32_t planned = row.sample;
  const bool is_training = options_.mode == LoadMode::Training;
  std::optional<AugmentDraw> distortion = options_.view;
  if (is_training) {
    Random random(options_.seed, RandomStage::Augment, planned, batch.epoch);
    distortion = draw(options_.augment, random);
  }
  Random replacements(options_.seed, RandomStage::Replace, planned, batch.epoch);
  for (int draws = 0; draws <= kMaxDraws; ++draws) {
    const Status status = loader.load(row.sample, distortion ? &*distortion : nullptr, out);
    if (status) return;
    row.bad.push_back({.sample = row.sample, .id = dataset_.samples[row.sample].id, .reason = status.error()});
    if (!is_training) {
      std::ranges::fill(out.bytes, std::byte{0});
      return;
    }
    row.sample = samples_[replacements.below(samples_.size())];
  }
  row.gave_up = true;
}

void settle(OpenBatch& batch, LoadMode mode, Quarantine& quarantine) {
  for (Row& row : batch.rows) {
    if (row.error) std::rethrow_exception(row.error);
    for (const BadSample& bad : row.bad) {
      if (mode == LoadMode::Prediction) {
        batch.bad.push_back({.row = &row - batch.rows.data(), .reason = bad.reason});
        continue;
      }
      if (mode == LoadMode::Evaluation) {
        throw DataError(with_remedy(bad.reason, "mending it or removing its row: evaluation reads every image"));
      }
      quarantine.add(bad, batch.epoch);
    }
    if (row.gave_up) {
      throw DataError(error_text("data.loader", "corrupt images", "a readable replacement",
                                 fmt::format("{} corrupt ones in a row, the last {}: {}", kMaxDraws, row.bad.back().id,
                                             cause_of(row.bad.back().reason)),
                                 "mending the images"));
    }
    batch.samples.push_back(row.sample);
  }
}

}  // namespace roentgen::data
