// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/census/image_facts.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>

#include "core/error_parts.h"
#include "data/codec/codec.h"
#include "data/stage/pixel_hashes.h"

namespace roentgen::data {
namespace {

/// Number of leading bytes that contain the header, except in JPEG files with long segments before it.
constexpr std::uint64_t kHead_bytes = 1U << 14U;

/// Offset and size of the image's own bytes.
struct Place {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
};

Place place_of(const Sample& sample) {
  if (sample.stored) {
    return {.begin = sample.stored->begin + sample.stored->image_begin, .bytes = sample.stored->image_length};
  }
  std::error_code error;
  const auto size = std::filesystem::file_size(sample.path, error);
  return {.begin = 0, .bytes = error ? 0 : static_cast<std::uint64_t>(size)};
}

/// True if the image's bytes are not contiguous in the file, because its record may be in parts or damaged.
bool is_apart(const Sample& sample) {
  return sample.stored && (sample.stored->framing == Framing::RecordIoParts || sample.stored->image_length == 0);
}

/// Key of an image's bytes. Includes the length, so files with equal beginnings but different lengths have different
/// keys.
ImageKey key_of(std::span<const std::byte> bytes, std::uint64_t length) {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(bytes.data(), bytes.size(), length);
  return {hash.high64, hash.low64};
}

/// Removes the name of the image from an error message.
std::string reason_of(std::string_view error) {
  const ErrorParts parts = error_parts(error);
  return parts.expected.empty() ? parts.got : fmt::format("{}, not {}", parts.got, parts.expected);
}

std::string raw_form(const ImageLayout& layout) {
  return fmt::format("raw {} {} bit", layout.channels == 1 ? "gray" : "rgb", layout.bits);
}

template <typename T>
void find_range(const Image& image, ImageFacts& facts) {
  const auto samples = image.samples<T>();
  if (samples.empty()) return;
  const auto [lowest, highest] = std::ranges::minmax_element(samples);
  facts.lowest = *lowest;
  facts.highest = *highest;
  facts.white = image.layout().max_value;
}

}  // namespace

Result<std::span<const std::byte>> FactsReader::head_of(const Sample& sample, std::uint64_t begin,
                                                        std::uint64_t length) {
  if (is_apart(sample)) {
    const auto record = samples_.read(sample);
    return record ? samples_.unpack(sample, record.value()) : record;
  }
  // The reader of whole files gives the usual error message if the file is empty or absent.
  return length == 0 ? files_.read(sample.path, sample.id) : files_.read_part(sample.path, sample.id, begin, length);
}

void FactsReader::read_head(const Sample& sample, ImageFacts& facts) {
  const Place place = place_of(sample);
  facts.bytes = place.bytes;
  const std::uint64_t length = std::min(place.bytes, kHead_bytes);
  const auto head = head_of(sample, place.begin, length);
  if (!head) {
    facts.broken = reason_of(head.error());
    return;
  }
  facts.is_whole = length == place.bytes || is_apart(sample);
  facts.key = key_of(head.value(), place.bytes);
  if (sample.stored && sample.stored->raw) {
    const ImageLayout& layout = *sample.stored->raw;
    facts.form = raw_form(layout);
    facts.width_px = layout.width_px;
    facts.height_px = layout.height_px;
    return;
  }
  auto info = read_info(head.value(), sample.id);
  if (!info && !facts.is_whole) {
    const auto whole = files_.read_part(sample.path, sample.id, place.begin, place.bytes);
    if (!whole) {
      facts.broken = reason_of(whole.error());
      return;
    }
    info = read_info(whole.value(), sample.id);
  }
  if (!info) {
    facts.broken = reason_of(info.error());
    return;
  }
  facts.form = fmt::format("{} {} {} bit", info.value().format, info.value().colour, info.value().bits);
  facts.width_px = info.value().width_px;
  facts.height_px = info.value().height_px;
}

void FactsReader::read_pixels(const Sample& sample, ImageFacts& facts) {
  facts.is_whole = true;
  facts.key.reset();
  const Status status = samples_.load(sample, Channels::FromFile, image_);
  if (!status.ok()) {
    facts.broken = reason_of(status.error());
    return;
  }
  with_sample_type(image_.layout().bits, [&](auto zero) { find_range<decltype(zero)>(image_, facts); });
  const std::uint64_t hash = pixel_hash(image_);
  if (hash != 0) facts.key = ImageKey{0, hash};
}

ImageFacts FactsReader::read(const Sample& sample, CensusDepth depth) {
  ImageFacts facts;
  read_head(sample, facts);
  if (depth == CensusDepth::Pixels && facts.broken.empty()) read_pixels(sample, facts);
  if (!facts.broken.empty()) facts.key.reset();
  return facts;
}

std::optional<ImageKey> FactsReader::whole_key(const Sample& sample) {
  const Place place = place_of(sample);
  const auto bytes = head_of(sample, place.begin, place.bytes);
  if (!bytes) return std::nullopt;
  return key_of(bytes.value(), place.bytes);
}

}  // namespace roentgen::data
