// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// SampleLoader: loads one sample from its file into one row of a slot. The Loader's workers call it; it has no threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/result.h"
#include "data/image.h"
#include "data/stage/image_store.h"
#include "data/stage/sample_reader.h"
#include "data/transform/transform.h"

namespace roentgen::data {

struct Dataset;
struct LoaderOptions;

/// Times and bytes of the samples loaded since the last take_costs().
struct SampleCosts {
  double read_s = 0.0;           ///< seconds of reading
  double decode_s = 0.0;         ///< seconds of decoding
  double transform_s = 0.0;      ///< seconds of resizing and normalising
  std::uint64_t read_bytes = 0;  ///< bytes read from files
  std::int64_t cached = 0;       ///< number of samples that came from the cache

  /// Adds the costs of `other`.
  SampleCosts& operator+=(const SampleCosts& other) {
    read_s += other.read_s;
    decode_s += other.decode_s;
    transform_s += other.transform_s;
    read_bytes += other.read_bytes;
    cached += other.cached;
    return *this;
  }
};

/// Loads samples and reuses its buffers. Thread-compatible: each worker has its own.
class SampleLoader {
 public:
  /// `dataset` and `options` must outlive the object.
  SampleLoader(const Dataset& dataset, const LoaderOptions& options);

  /// Fills `out` with dataset.samples[sample], distorted by `draw` unless it is null. `file`: bytes of the sample's
  /// file; if empty, it is read here. Fails if the file cannot be read or decoded; `out` is then undefined.
  [[nodiscard]] Status load(std::uint32_t sample, const AugmentDraw* draw, SlotView out,
                            std::span<const std::byte> file = {});
  /// Bytes of the sample's file, valid until the next call of read() or load(). Empty if the decoded image is in the
  /// cache, so that nothing must be read.
  [[nodiscard]] Result<std::span<const std::byte>> read(std::uint32_t sample);

  /// Returns the costs so far and resets them to zero.
  [[nodiscard]] SampleCosts take_costs();

 private:
  /// Decodes the part of the picture that `draw` needs into `out`. If hashes are requested and `out` is only a part,
  /// also hashes the whole picture.
  [[nodiscard]] Status decode(std::uint32_t sample, std::span<const std::byte> file, const AugmentDraw& draw,
                              Image& out);
  [[nodiscard]] ImageUse use() const;
  /// Smallest zoom that any random draw can have.
  [[nodiscard]] double smallest_zoom() const;
  [[nodiscard]] bool is_hash_wanted(std::uint32_t sample) const;

  const Dataset& dataset_;
  const LoaderOptions& options_;
  SampleReader reader_;
  Image image_;
  /// Whole picture, if image_ is a part of it.
  Image whole_;
  Transformer transformer_;
  SampleCosts costs_;
};

}  // namespace roentgen::data
