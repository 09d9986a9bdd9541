// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/batch_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/error_parts.h"
#include "core/random.h"
#include "data/transform/augment.h"

namespace roentgen::data {
namespace {

/// Largest number of replacements tried for a corrupt sample. If all of them are corrupt, almost all samples must be.
constexpr int kMaxDraws = 100;

/// Bytes of the file that an earlier stage has read; empty if none has. Fails if reading failed.
Result<std::span<const std::byte>> read_before(const Element& element) {
  const Cargo* cargo = element.cargo.get();
  if (cargo != nullptr && cargo->read_error) return Failure{*cargo->read_error};
  if (cargo != nullptr && cargo->file) return std::span<const std::byte>(*cargo->file);
  return std::span<const std::byte>();
}

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
  throw ShapeError(error_text("data.loader", "batch buffer",
                              fmt::format("{} bytes, {} labels and {} label masks", rows * row_bytes_, labels, labels),
                              fmt::format("{}, {} and {}", slot.images.size(), slot.labels.size(), slot.mask.size())));
}

void RowFiller::read(Element& element, SampleLoader& loader) const {
  auto cargo = std::make_shared<Cargo>();
  const auto bytes = loader.read(element.index);
  if (bytes) {
    cargo->file.emplace(bytes.value().begin(), bytes.value().end());
  } else {
    cargo->read_error = bytes.error();
  }
  element.cargo = std::move(cargo);
  count(loader);
}

void RowFiller::map(Element& element, SampleLoader& loader) const {
  if (element.is_padding) return;
  auto cargo = std::make_shared<Cargo>();
  cargo->image = runtime::AlignedBuffer(row_bytes_);
  Row& row = cargo->row.emplace(Row{.sample = element.index});
  try {
    load(element, row, {.bytes = cargo->image.bytes().first(row_bytes_), .dtype = options_.dtype}, read_before(element),
         loader);
  } catch (...) {
    row.error = std::current_exception();
  }
  element.cargo = std::move(cargo);
  count(loader);
}

Result<std::span<const std::byte>> RowFiller::read(OpenBatch& batch, std::int64_t row, SampleLoader& reader) const {
  const Element& element = batch.elements[static_cast<std::size_t>(row)];
  if (element.is_padding) return std::span<const std::byte>();
  if (element.cargo != nullptr) return read_before(element);
  try {
    auto bytes = reader.read(element.index);
    count(reader);
    return bytes;
  } catch (...) {
    batch.rows[static_cast<std::size_t>(row)].error = std::current_exception();
    return std::span<const std::byte>();
  }
}

void RowFiller::fill(OpenBatch& batch, std::int64_t row, const BatchSlot& slot,
                     const Result<std::span<const std::byte>>& file, SampleLoader& loader) const {
  const auto index = static_cast<std::size_t>(row);
  const auto image = slot.images.subspan(index * row_bytes_, row_bytes_);
  const auto width = static_cast<std::size_t>(labels_.width());
  const auto labels = slot.labels.subspan(index * width, width);
  const auto mask = slot.mask.subspan(index * width, width);
  Element& element = batch.elements[index];
  if (element.is_padding) {
    std::fill(image.begin(), image.end(), std::byte{0});
    std::fill(labels.begin(), labels.end(), 0.0F);
    std::fill(mask.begin(), mask.end(), 0.0F);
    return;
  }
  Row& result = batch.rows[index];
  if (result.error) return;
  result.sample = element.index;
  try {
    if (element.cargo != nullptr && element.cargo->row) {
      result = *element.cargo->row;
      std::copy_n(element.cargo->image.data(), row_bytes_, image.data());
    } else {
      load(element, result, {.bytes = image, .dtype = options_.dtype}, file, loader);
    }
    labels_.write(result.sample, labels, mask);
  } catch (...) {
    result.error = std::current_exception();
  }
  element.cargo.reset();
  count(loader);
}

void RowFiller::load(const Element& element, Row& row, SlotView out, const Result<std::span<const std::byte>>& file,
                     SampleLoader& loader) const {
  const std::uint32_t planned = row.sample;
  const bool is_training = options_.mode == LoadMode::Training;
  std::optional<AugmentDraw> distortion = options_.view;
  if (is_training) {
    const std::string& id = dataset_.samples[planned].id;
    distortion = draw(options_.augment, {.seed = options_.seed, .epoch = element.draw_epoch, .id = id});
  }
  Random replacements(options_.seed, RandomStage::Replace, planned, element.draw_epoch);
  for (int draws = 0; draws <= kMaxDraws; ++draws) {
    const auto status = [&]() -> Status {
      const bool is_planned = draws == 0;
      if (is_planned && !file) return file.why();
      return loader.load(row.sample, distortion ? &*distortion : nullptr, out,
                         is_planned ? file.value() : std::span<const std::byte>());
    }();
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

void RowFiller::count(SampleLoader& loader) const {
  const SampleCosts costs = loader.take_costs();
  MutexLock lock(mutex_);
  costs_ += costs;
}

SampleCosts RowFiller::costs() const {
  MutexLock lock(mutex_);
  return costs_;
}

void settle(OpenBatch& batch, LoadMode mode, Quarantine& quarantine) {
  for (Row& row : batch.rows) {
    const auto index = static_cast<std::size_t>(&row - batch.rows.data());
    if (batch.elements[index].is_padding) continue;
    if (row.error) std::rethrow_exception(row.error);
    for (const BadSample& bad : row.bad) {
      if (mode == LoadMode::Prediction) {
        batch.bad.push_back({.row = static_cast<std::int64_t>(index), .reason = bad.reason});
        continue;
      }
      if (mode == LoadMode::Evaluation) {
        throw DataError(
            with_remedy(bad.reason, "repairing it or removing its row, because evaluation reads every image"));
      }
      quarantine.add(bad, batch.elements[index].epoch);
    }
    if (row.gave_up) {
      throw DataError(error_text("data.loader", "corrupt images", "a readable replacement",
                                 fmt::format("{} corrupt images in a row, the last {}: {}", kMaxDraws,
                                             row.bad.back().id, cause_of(row.bad.back().reason)),
                                 "repairing or removing corrupt images"));
    }
    batch.samples.push_back(row.sample);
  }
}

}  // namespace roentgen::data
