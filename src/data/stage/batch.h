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

/// Memory of one batch, owned by the caller (the engine's slot). Must outlive the Loader, which writes it from its
/// workers between construction or release(slot) and the next() that returns the slot.
struct BatchSlot {
  /// (N, C, H, W), planes: N * slot_bytes(preprocess, dtype) bytes.
  std::span<std::byte> images;
  /// (N, K): 1, 0; 0 where unknown. With LabelForm::ClassIndex (N, 1): 0 .. K-1.
  std::span<float> labels;
  /// Mask of the size of labels: 1 known, 0 unknown. All 0 in the rows after the last valid sample, whose images are 0
  /// too.
  std::span<float> mask;
};

/// A row whose sample could not be read, and why: one line that names the sample.
struct BadRow {
  std::int64_t row = 0;  ///< row of the batch, from 0
  std::string reason;    ///< one line that names the sample
};

/// A filled slot. Belongs to the caller until release(slot).
struct Batch {
  int slot = 0;             ///< index into the loader's slots
  std::uint32_t epoch = 0;  ///< epoch of its samples, from 0
  /// Number of the batch in its epoch, from 0.
  std::int64_t index = 0;
  /// Index into Dataset::samples of each valid row; for a replacement its own index. Until release(slot).
  std::span<const std::uint32_t> samples;
  /// Rows that count: samples.size().
  std::int64_t valid = 0;
  /// LoadMode::Prediction: the rows among them that hold nothing but zeros, in order. Until release(slot).
  std::span<const BadRow> bad;
};

/// Source of batches: a Loader, or a fake one in benchmarks. One thread.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  /// Returns the next batch, waiting for it; nullopt after the last one.
  [[nodiscard]] virtual std::optional<Batch> next() = 0;
  /// Gives a slot back to be filled again.
  virtual void release(int slot) = 0;
};

/// Counts and times of a loader so far.
struct LoaderStats {
  std::int64_t samples = 0;  ///< samples loaded
  /// Time callers spent in next().
  double wait_s = 0.0;
  /// Sums over workers.
  double read_s = 0.0;
  double decode_s = 0.0;     ///< seconds of decoding, over all workers
  double transform_s = 0.0;  ///< seconds of resizing and normalising, over all workers
  /// Bytes read from files.
  std::uint64_t read_bytes = 0;
  /// Samples that came from the cache.
  std::int64_t cached = 0;
  /// Distinct corrupt samples met in the batches returned so far, and those known before.
  std::int64_t bad = 0;
};

}  // namespace roentgen::data
