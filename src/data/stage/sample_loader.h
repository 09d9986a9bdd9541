// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// SampleLoader: loads one sample from its file into one row of a slot. It is the work of a Loader's worker, without
// threads.
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

/// Time and bytes of the samples loaded since the last take().
struct SampleCosts {
  double read_s = 0.0;           ///< seconds of reading
  double decode_s = 0.0;         ///< seconds of decoding
  double transform_s = 0.0;      ///< seconds of resizing and normalising
  std::uint64_t read_bytes = 0;  ///< bytes read from files
  std::int64_t cached = 0;       ///< samples that came from the cache

  /// Adds up.
  SampleCosts& operator+=(const SampleCosts& other) {
    read_s += other.read_s;
    decode_s += other.decode_s;
    transform_s += other.transform_s;
    read_bytes += other.read_bytes;
    cached += other.cached;
    return *this;
  }
};

/// Keeps its buffers from sample to sample. One per worker: thread-compatible.
class SampleLoader {
 public:
  /// Both arguments must outlive it.
  SampleLoader(const Dataset& dataset, const LoaderOptions& options);

  /// Fills `out` with dataset.samples[sample], distorted by `draw` unless null. `file`: the bytes of its file, where
  /// they were read before; empty: they are read here. Failure: a file that cannot be read or decoded; `out` is then
  /// undefined.
  [[nodiscard]] Status load(std::uint32_t sample, const AugmentDraw* draw, SlotView out,
                            std::span<const std::byte> file = {});
  /// Bytes of the sample's file, valid until the next call of read() or load(). Empty where the decoded image is in the
  /// cache, so that nothing must be read.
  [[nodiscard]] Result<std::span<const std::byte>> read(std::uint32_t sample);

  /// The costs so far; starts again at zero.
  [[nodiscard]] SampleCosts take_costs();

 private:
  /// Decodes into `out` the part of the picture that `draw` needs. Hashes the picture on request, where `out` is not
  /// all of it.
  [[nodiscard]] Status decode(std::uint32_t sample, std::span<const std::byte> file, const AugmentDraw& draw,
                              Image& out);
  [[nodiscard]] ImageUse use() const;
  /// Smallest zoom of any random draw.
  [[nodiscard]] double smallest_zoom() const;
  [[nodiscard]] bool is_hash_wanted(std::uint32_t sample) const;

  const Dataset& dataset_;
  const LoaderOptions& options_;
  SampleReader reader_;
  Image image_;
  /// Whole picture, of which image_ is a part.
  Image whole_;
  Transformer transformer_;
  SampleCosts costs_;
};

}  // namespace roentgen::data
