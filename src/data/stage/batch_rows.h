// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Rows of one batch: any worker fills them one by one, and the consumer settles them in order. This part of the Loader
// knows samples and corruption; it has no threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/thread_annotations.h"
#include "data/source/dataset.h"
#include "data/stage/element.h"
#include "data/stage/label_rows.h"
#include "data/stage/loader.h"
#include "data/stage/quarantine.h"
#include "data/stage/sample_loader.h"

namespace roentgen::data {

/// A batch from the time its slot is chosen until the slot is released.
struct OpenBatch {
  int slot = 0;
  /// Number of the batch, from the first batch of the first epoch.
  std::int64_t number = 0;
  /// Elements of the batch, one per row of the slot; padding fills nothing.
  std::vector<Element> elements;
  /// Result of each row.
  std::vector<Row> rows;
  /// Samples of the valid rows, and those of them that could not be read, made when the batch is settled.
  std::vector<std::uint32_t> samples;
  std::vector<BadRow> bad;
  /// Rows that have their element, were claimed by workers, and are done. Under the pool's mutex.
  std::int64_t placed = 0;
  std::int64_t claimed = 0;
  std::int64_t done = 0;
};

/// Reads, maps and writes samples. Thread-safe as long as no two threads fill the same row; each thread has a
/// SampleLoader of its own.
class RowFiller {
 public:
  /// Arguments must outlive it. Throws DataError: see LabelRows.
  RowFiller(const Dataset& dataset, const std::vector<std::uint32_t>& samples, const LoaderOptions& options);

  [[nodiscard]] SampleLoader make_loader() const { return {dataset_, options_}; }
  /// Gives the element the bytes of its file, or the reason for their absence. For a stage that reads ahead.
  void read(Element& element, SampleLoader& loader) const;
  /// Gives the element its row. For a stage before the batch. Never throws because of a sample.
  void map(Element& element, SampleLoader& loader) const;
  /// Bytes of the row's file, or the reason for their absence; valid until `reader` is used again. Empty where nothing
  /// must be read: padding, a row that an earlier stage has read or mapped, a cached image. Never throws: other errors
  /// are in batch.rows[row].
  [[nodiscard]] Result<std::span<const std::byte>> read(OpenBatch& batch, std::int64_t row, SampleLoader& reader) const;
  /// Fills row `row` of the batch's slot: image, labels and mask, or zeros for padding. Does the steps that were not
  /// done before. `file` is the result of read(). Never throws: errors are in batch.rows[row].
  void fill(OpenBatch& batch, std::int64_t row, const BatchSlot& slot, const Result<std::span<const std::byte>>& file,
            SampleLoader& loader) const;
  /// ShapeError when the slot has not the size of a batch.
  void check(const BatchSlot& slot) const;
  /// Costs of all threads so far.
  [[nodiscard]] SampleCosts costs() const;

 private:
  /// `file` holds the bytes of the planned sample.
  void load(const Element& element, Row& row, SlotView out, const Result<std::span<const std::byte>>& file,
            SampleLoader& loader) const;
  void count(SampleLoader& loader) const;

  const Dataset& dataset_;
  const std::vector<std::uint32_t>& samples_;
  const LoaderOptions& options_;
  const LabelRows labels_;
  const std::size_t row_bytes_;

  mutable Mutex mutex_;
  mutable SampleCosts costs_ RG_GUARDED_BY(mutex_);
};

/// Handles the errors of a full batch, in the order of its rows, and lists its samples and, in prediction, the bad
/// ones. Throws the error of a worker. Throws DataError on a corrupt sample in evaluation, when no replacement could be
/// read, and as Quarantine::add().
void settle(OpenBatch& batch, LoadMode mode, Quarantine& quarantine);

}  // namespace roentgen::data
