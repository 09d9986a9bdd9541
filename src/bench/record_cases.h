// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The forms that the case `formats` compares. For src/bench only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/convert/convert.h"

namespace roentgen::bench {

/// A form to be measured.
struct RecordCase {
  /// "tfrecord keep".
  std::string name;
  data::ConvertOptions options;
  /// Several images in a file?
  bool has_shards = true;
};
/// Every form that convert writes, images as they are first, then of `stored_px` px; a file an image only of the
/// latter.
[[nodiscard]] std::vector<RecordCase> record_cases(std::int64_t stored_px);

}  // namespace roentgen::bench
