// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "tests/fuzz/image_target.h"

#include "data/codec/codec.h"

namespace roentgen::fuzz {

void decode_any(Input input) {
  constexpr data::DecodeLimits kLimits{.max_pixels = 1 << 18, .max_bytes = 4U << 20U};
  static data::Decoder decoder;
  static data::Image image;
  const auto info = data::read_info(input, "input", kLimits);
  if (info.ok()) {
    require(info.value().width_px > 0 && info.value().height_px > 0 &&
                info.value().width_px * info.value().height_px <= kLimits.max_pixels,
            "a size within the limits");
  }
  for (const auto channels : {data::Channels::FromFile, data::Channels::Gray, data::Channels::Rgb}) {
    const Status status = decoder.decode(input, "input", {.channels = channels, .limits = kLimits}, image);
    if (status.ok()) require(info.ok(), "a header that reads where the pixels do");
    if (!status.ok()) require(status.error().find('\n') == std::string::npos, "an error in one line");
  }
}

}  // namespace roentgen::fuzz
