// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/sample_reader.h"

#include <algorithm>

#include "data/codec/channels.h"
#include "io/record.h"
#include "io/recordio.h"

namespace roentgen::data {
namespace {

// Interleaves 8-bit planes; with three planes, blue comes first.
void interleave_bgr(std::span<const std::byte> planes, Image& out) {
  const auto channels = static_cast<std::size_t>(out.channels());
  const std::size_t pixels = planes.size() / channels;
  for (std::size_t channel = 0; channel < channels; ++channel) {
    const std::byte* from = planes.data() + (channels - 1 - channel) * pixels;
    std::byte* to = out.bytes().data() + channel;
    for (std::size_t i = 0; i < pixels; ++i) to[i * channels] = from[i];
  }
}

}  // namespace

Result<std::span<const std::byte>> SampleReader::read(const Sample& sample) {
  if (!sample.stored) return reader_.read(sample.path, sample.id);
  return reader_.read_part(sample.path, sample.id, sample.stored->begin, sample.stored->length);
}

Result<std::span<const std::byte>> SampleReader::unpack(const Sample& sample, std::span<const std::byte> bytes) {
  if (!sample.stored) return bytes;
  const StoredImage& stored = *sample.stored;
  const auto refuse = [&](std::string_view expected, std::string_view got) {
    return failure("data.read", sample.id, expected, got, "fetching or writing the record file again");
  };
  if (stored.framing == Framing::MaskedCrc32c && !io::is_sound_record(bytes)) {
    return refuse("a record with a valid checksum", "a wrong checksum");
  }
  if (stored.framing == Framing::RecordIoParts) {
    if (!io::join_recordio(bytes, joined_)) return refuse("the parts of one record in order", "other parts");
    bytes = joined_;
  }
  if (stored.image_begin > bytes.size() || stored.image_length > bytes.size() - stored.image_begin) {
    return refuse("the record length found at the start", "a shorter record");
  }
  return bytes.subspan(stored.image_begin, stored.image_length);
}

Status SampleReader::decode(const Sample& sample, std::span<const std::byte> bytes, DecodeOptions options, Image& out) {
  const auto image = unpack(sample, bytes);
  if (!image) return image.why();
  if (sample.stored && sample.stored->raw) {
    take_pixels(*sample.stored, image.value(), options, out);
    return Done{};
  }
  options.intensity = intensity_;
  return decoder_.decode(image.value(), sample.id, options, out);
}

void SampleReader::take_pixels(const StoredImage& stored, std::span<const std::byte> pixels,
                               const DecodeOptions& options, Image& out) {
  const ImageLayout& layout = *stored.raw;
  const bool becomes_gray = options.channels == Channels::Gray && layout.channels == 3;
  const bool is_planar = stored.order == PixelOrder::PlanarBgr;
  if (options.may_borrow && layout.bits == 8 && !is_planar && !becomes_gray && pixels.size() == layout.bytes()) {
    out.show(layout, pixels);
    return;
  }
  Image& whole = becomes_gray ? colour_ : out;
  whole.reset(layout);
  if (is_planar)
    interleave_bgr(pixels, whole);
  else
    std::ranges::copy(pixels, whole.bytes().begin());
  if (becomes_gray) make_gray(colour_, out);
}

Status SampleReader::load(const Sample& sample, Channels channels, Image& out) {
  const auto bytes = read(sample);
  if (!bytes) return bytes.why();
  return decode(sample, bytes.value(), {.channels = channels, .limits = {}}, out);
}

}  // namespace roentgen::data
