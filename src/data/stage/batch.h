// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Data exchanged between a Loader (loader.h) and the consumer of its batches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace roentgen::data {

/// Memory of one batch, owned by the caller (the engine's slot). Must outlive the Loader. Its workers write to it
/// between construction or release(slot) and the next() that returns this slot.
struct BatchSlot {
  /// (N, C, H, W) images in planar layout: N * slot_bytes(preprocess, dtype) bytes.
  std::span<std::byte> images;
  /// (N, K) labels: 1 or 0; 0 if unknown. With LabelForm::ClassIndex (N, 1): class 0 .. K-1.
  std::span<float> labels;
  /// Mask with the shape of `labels`: 1 known, 0 unknown. In the rows after the last valid sample, mask and images are
  /// all 0.
  std::span<float> mask;
};

/// A row whose sample could not be read, with the reason.
struct BadRow {
  std::int64_t row = 0;  ///< row of the batch, from 0
  std::string reason;    ///< one-line error that names the sample
};

/// A filled slot. The caller may use it until release(slot).
struct Batch {
  int slot = 0;             ///< index into the loader's slots
  std::uint32_t epoch = 0;  ///< epoch of its samples, from 0
  /// Number of the batch in its epoch, from 0.
  std::int64_t index = 0;
  /// Index into Dataset::samples for each valid row; for a replaced sample, that of the replacement. Valid until
  /// release(slot).
  std::span<const std::uint32_t> samples;
  /// Number of valid rows: samples.size().
  std::int64_t valid = 0;
  /// Valid rows that contain only zeros because their sample is unreadable, in order. Only in LoadMode::Prediction.
  /// Valid until release(slot).
  std::span<const BadRow> bad;
};

/// Source of batches: a Loader, or a synthetic one in benchmarks. Not thread-safe.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  /// Waits for the next batch and returns it; nullopt after the last batch.
  [[nodiscard]] virtual std::optional<Batch> next() = 0;
  /// Returns a slot so that it can be filled again.
  virtual void release(int slot) = 0;
};

/// Counts and times of a loader since its start.
struct LoaderStats {
  std::int64_t samples = 0;  ///< number of samples loaded
  /// Seconds that callers waited in next().
  double wait_s = 0.0;
  /// Seconds of reading, summed over all workers.
  double read_s = 0.0;
  double decode_s = 0.0;     ///< seconds of decoding, summed over all workers
  double transform_s = 0.0;  ///< seconds of resizing and normalising, summed over all workers
  /// Number of bytes read from files.
  std::uint64_t read_bytes = 0;
  /// Number of samples that came from the cache.
  std::int64_t cached = 0;
  /// Number of distinct corrupt samples in all batches returned so far, including samples known to be corrupt at the
  /// start.
  std::int64_t bad = 0;
};

}  // namespace roentgen::data
