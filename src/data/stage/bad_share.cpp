// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/bad_share.h"

namespace roentgen::data {

double share_admitting(std::int64_t bad, std::int64_t images) {
  std::int64_t scale = 100;
  while (bad * scale < 10 * images) scale *= 10;
  std::int64_t parts = (bad * scale + images - 1) / images;
  // Rounding can make the product too small: 0.29 * 100 is less than 29 in binary.
  while (static_cast<double>(parts) / static_cast<double>(scale) * static_cast<double>(images) <
         static_cast<double>(bad)) {
    ++parts;
  }
  return static_cast<double>(parts) / static_cast<double>(scale);
}

}  // namespace roentgen::data
