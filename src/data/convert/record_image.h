// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The image of one sample in its stored form.
#pragma once

#include <cstddef>
#include <vector>

#include "core/result.h"
#include "data/convert/convert.h"
#include "data/convert/record_form.h"
#include "data/image.h"
#include "data/stage/sample_reader.h"
#include "data/transform/transform.h"

namespace roentgen::data {

/// Makes images as records have them. Keeps its buffers. One per worker: thread-compatible.
class RecordMaker {
 public:
  /// `dataset` and `options` must outlive it.
  RecordMaker(const Dataset& dataset, const ConvertOptions& options)
      : dataset_(dataset), options_(options), reader_(FileReader::PageCache::Use, options.intensity) {}

  /// The image of dataset.samples[sample]. Failure: as SampleReader::load().
  [[nodiscard]] Result<StoredForm> make(std::size_t sample);
  /// Do the image bytes of the record last made, decoded, have the pixels that were to be stored?
  [[nodiscard]] bool holds(const Image& decoded) const;

 private:
  [[nodiscard]] Status keep(const Sample& sample, StoredForm& form);
  [[nodiscard]] Status prepare(const Sample& sample, Encoding encoding);
  // decoded_ with one channel where its three are equal.
  void drop_equal_channels();
  /// Preprocessing that resizes records.
  [[nodiscard]] Preprocess resized(int channels) const;
  void resize();
  // stored_ with white at the greatest number of 8 or 16 bits.
  void spread_to(int bits);
  [[nodiscard]] std::vector<std::byte> encode(Encoding encoding) const;

  const Dataset& dataset_;
  const ConvertOptions& options_;
  SampleReader reader_;
  Transformer transformer_;
  /// The image as decoded, and as stored.
  Image decoded_, stored_;
  /// StoredForm::has_other_gray of the record last made.
  bool has_other_gray_ = false;
};

}  // namespace roentgen::data
