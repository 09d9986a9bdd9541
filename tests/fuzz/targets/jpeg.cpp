// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/codec/codec.h"
#include "tests/fuzz/image_target.h"

namespace roentgen::fuzz {
namespace {

// Decodes a part of the picture at a reduced size, with our own decoder, or with libjpeg if ours does not support the
// file.
void decode_smaller(Input input, int reduction) {
  static data::Decoder decoder;
  static data::Image image;
  data::ImageLayout whole;
  data::DecodeOptions options{.channels = data::Channels::Gray,
                              .limits = {.max_pixels = 1 << 18, .max_bytes = 4U << 20U}};
  options.need = [&](const data::ImageLayout& picture) {
    whole = picture;
    return data::ImageNeed{.reduction = reduction,
                           .left = picture.width_px / (3 * reduction),
                           .top = picture.height_px / (3 * reduction),
                           .width_px = picture.width_px / (3 * reduction) + 1,
                           .height_px = picture.height_px / (3 * reduction) + 1};
  };
  const Status status = decoder.decode(input, "input", options, image);
  if (!status.ok()) return;
  require(image.part().reduction == reduction && image.picture() == whole, "a part of the picture that was asked of");
  require((image.part().left + image.width_px() - 1) * reduction < whole.width_px &&
              (image.part().top + image.height_px() - 1) * reduction < whole.height_px,
          "a part inside the picture");
}

}  // namespace

void fuzz_jpeg(Input input) {
  decode_any(input);
  for (const int reduction : {2, 4, 8}) decode_smaller(input, reduction);
}

}  // namespace roentgen::fuzz
