// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// What becomes of the rows of one batch: filled one by one by any worker, settled in order by the consumer. The part of
// the Loader that knows samples and corruption, without its threads.
#pragma once

#include <cstdint>
#include <exception>
#include <vector>

#include "data/source/dataset.h"
#include "data/stage/label_rows.h"
#include "data/stage/loader.h"
#include "data/stage/quarantine.h"
#include "data/stage/sample_loader.h"

namespace roentgen::data {

/// What became of one row.
struct Row {
  /// What is in it: the planned sample or its replacement.
  std::uint32_t sample = 0;
  /// Samples that could not be read on the way.
  std::vector<BadSample> bad;
  /// Training: not even a replacement was readable.
  bool gave_up = false;
  std::exception_ptr error;
};

/// A batch from the time its slot is chosen until the slot is released.
struct OpenBatch {
  int slot = 0;
  std::uint32_t epoch = 0;
  std::int64_t index = 0;
  /// The planned samples, one per valid row.
  std::vector<std::uint32_t> planned;
  /// One per valid row.
  std::vector<Row> rows;
  /// Samples of the valid rows, and those of them that could not be read, made when the batch is settled.
  std::vector<std::uint32_t> samples;
  std::vector<BadRow> bad;
  /// Rows claimed by workers, and rows done, of all the slot's rows. Under the pool's mutex.
  std::int64_t claimed = 0;
  std::int64_t done = 0;
};

/// Fills rows. Thread-safe as long as no two threads fill the same row.
class RowFiller {
 public:
  /// All must outlive it. DataError: see LabelRows.
  RowFiller(const Dataset& dataset, const std::vector<std::uint32_t>& samples, const LoaderOptions& options);

  /// Fills row `row` of the batch's slot: image, labels and mask, or zeros behind the last sample. Never throws: what
  /// goes wrong is in batch.rows[row].
  void fill(OpenBatch& batch, std::int64_t row, const BatchSlot& slot, SampleLoader& loader) const;
  /// ShapeError when the slot has not the size of a batch.
  void check(const BatchSlot& slot) const;

 private:
  void load(const OpenBatch& batch, Row& row, SlotView out, SampleLoader& loader) const;

  const Dataset& dataset_;
  const std::vector<std::uint32_t>& samples_;
  const LoaderOptions& options_;
  const LabelRows labels_;
  const std::size_t row_bytes_;
};

/// Deals with what went wrong in a full batch, in the order of its rows, and lists its samples and, in prediction, the
/// bad ones. Throws what a worker threw; DataError on a corrupt sample in evaluation, when no replacement could be
/// read, and as Quarantine::add().
void settle(OpenBatch& batch, LoadMode mode, Quarantine& quarantine);

}  // namespace roentgen::data
