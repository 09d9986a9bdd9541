// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Encodes the image of one sample for storage.
#pragma once

#include <cstddef>
#include <vector>

#include "core/result.h"
#include "data/convert/convert.h"
#include "data/convert/record_form.h"
#include "data/image.h"
#include "data/stage/sample_reader.h"
#include "data/transform/geometry.h"
#include "data/transform/transform.h"

namespace roentgen::data {

/// Encodes images for records and reuses its buffers. Thread-compatible: each worker has its own.
class RecordMaker {
 public:
  /// `dataset` and `options` must outlive it.
  RecordMaker(const Dataset& dataset, const ConvertOptions& options);

  /// Encodes the image of dataset.samples[sample]. Fails as SampleReader::load() does.
  [[nodiscard]] Result<StoredForm> make(std::size_t sample);
  /// True if `decoded`, read back from the record made last, has the intended pixels.
  [[nodiscard]] bool holds(const Image& decoded) const;

 private:
  [[nodiscard]] Status keep(const Sample& sample, StoredForm& form);
  [[nodiscard]] Status prepare(const Sample& sample, Encoding encoding);
  // Reduces decoded_ to one channel if its three channels are equal.
  void drop_equal_channels();
  /// True if images are stored with another size.
  [[nodiscard]] bool is_resized() const { return options_.size_px > 0 || options_.shorter_px > 0; }
  /// Size of a stored image whose file has this layout.
  [[nodiscard]] PictureSize stored_size(const ImageLayout& picture) const;
  /// Preprocessing that resizes images to the stored size.
  [[nodiscard]] Preprocess resized(int channels) const;
  void resize();
  // Scales stored_ so that white is the largest value of 8 or 16 bits.
  void spread_to(int bits);
  [[nodiscard]] std::vector<std::byte> encode(Encoding encoding) const;

  const Dataset& dataset_;
  const ConvertOptions& options_;
  /// The output format.
  const RecordForm form_;
  SampleReader reader_;
  Transformer transformer_;
  /// The image as decoded from its file, and the image to store.
  Image decoded_, stored_;
  /// Value of StoredForm::has_other_gray for the record made last.
  bool has_other_gray_ = false;
};

}  // namespace roentgen::data
