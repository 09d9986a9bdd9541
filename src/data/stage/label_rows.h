// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Converts a sample's labels (1, 0, NaN) to the two rows that a loss reads: targets and mask.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/source/dataset.h"
#include "data/stage/loader.h"

namespace roentgen::data {

/// Thread-safe.
class LabelRows {
 public:
  /// `dataset` must outlive it. DataError when the form is ClassIndex and one of `samples` has several positives, or
  /// none although all its labels are known.
  LabelRows(const Dataset& dataset, const std::vector<std::uint32_t>& samples, LabelForm form);

  /// Elements of a row: K, or 1 for a class index.
  [[nodiscard]] std::int64_t width() const;
  /// Writes the rows of a sample; both have width() elements.
  void write(std::uint32_t sample, std::span<float> labels, std::span<float> mask) const;

 private:
  const Dataset& dataset_;
  LabelForm form_;
};

}  // namespace roentgen::data
