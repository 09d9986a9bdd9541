// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Rows of one batch. Any worker fills rows one by one, and the consumer then checks them in order. This part of the
// Loader handles samples and corruption; it has no threads.
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

/// A batch, from the choice of its slot until the slot is released.
struct OpenBatch {
  int slot = 0;
  /// Number of the batch, counted from the first batch of the first epoch.
  std::int64_t number = 0;
  /// Elements of the batch, one per row of the slot. Padding elements leave their rows zero.
  std::vector<Element> elements;
  /// Result of each row.
  std::vector<Row> rows;
  /// Samples of the valid rows, and the rows among them that could not be read. Filled by settle().
  std::vector<std::uint32_t> samples;
  std::vector<BadRow> bad;
  /// Number of rows that have an element, were claimed by workers, and are done. Guarded by the pool's mutex.
  std::int64_t placed = 0;
  std::int64_t claimed = 0;
  std::int64_t done = 0;
};

/// Reads, decodes and writes samples. Thread-safe if no two threads fill the same row and each thread uses its own
/// SampleLoader.
class RowFiller {
 public:
  /// All arguments must outlive the object. Throws DataError as LabelRows does.
  RowFiller(const Dataset& dataset, const std::vector<std::uint32_t>& samples, const LoaderOptions& options);

  [[nodiscard]] SampleLoader make_loader() const { return {dataset_, options_}; }
  /// Stores the bytes of the element's file in it, or the error. For a stage that reads ahead.
  void read(Element& element, SampleLoader& loader) const;
  /// Stores the finished row in the element. For a stage before the batch. A bad sample is recorded, never thrown.
  void map(Element& element, SampleLoader& loader) const;
  /// Returns the bytes of the row's file, or the error; valid until `reader` is used again. Empty if nothing must be
  /// read: padding, a row that an earlier stage has read or mapped, or a cached image. Never throws: other errors are
  /// stored in batch.rows[row].
  [[nodiscard]] Result<std::span<const std::byte>> read(OpenBatch& batch, std::int64_t row, SampleLoader& reader) const;
  /// Fills a row of the batch's slot with image, labels and mask, or zeros for padding. Performs the steps that earlier
  /// stages did not. `file` is the result of read(). Never throws: errors are stored in batch.rows[row].
  void fill(OpenBatch& batch, std::int64_t row, const BatchSlot& slot, const Result<std::span<const std::byte>>& file,
            SampleLoader& loader) const;
  /// Throws ShapeError if the slot does not have the size of a batch.
  void check(const BatchSlot& slot) const;
  /// Costs of all threads so far.
  [[nodiscard]] SampleCosts costs() const;

 private:
  /// Loads a row into `out`. `file` contains the bytes of the planned sample.
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

/// Handles the errors of a full batch in the order of its rows. Lists its samples and, in prediction, the unreadable
/// samples. Rethrows the exception of a worker. Throws DataError for a corrupt sample in evaluation, if no replacement
/// could be read, and as Quarantine::add() does.
void settle(OpenBatch& batch, LoadMode mode, Quarantine& quarantine);

}  // namespace roentgen::data
