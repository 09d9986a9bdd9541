// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Converts a sample's labels (1, 0, NaN) to the rows that a loss reads: targets and mask.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/source/dataset.h"
#include "data/stage/loader.h"

namespace roentgen::data {

/// Label rows of all samples. Thread-safe.
class LabelRows {
 public:
  /// `dataset` must outlive the object. Throws DataError if the form is ClassIndex and one of `samples` has several
  /// positive labels. Also throws it if a sample has none although all its labels are known.
  LabelRows(const Dataset& dataset, const std::vector<std::uint32_t>& samples, LabelForm form);

  /// Number of elements in a row: K, or 1 for a class index.
  [[nodiscard]] std::int64_t width() const;
  /// Writes labels and mask of a sample; both spans have width() elements.
  void write(std::uint32_t sample, std::span<float> labels, std::span<float> mask) const;

 private:
  const Dataset& dataset_;
  LabelForm form_;
};

}  // namespace roentgen::data
