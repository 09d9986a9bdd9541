// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/sample_reader.h"

#include <algorithm>

#include "io/record.h"

namespace roentgen::data {

Result<std::span<const std::byte>> SampleReader::read(const Sample& sample) {
  if (!sample.stored) return reader_.read(sample.path, sample.id);
  return reader_.read_part(sample.path, sample.id, sample.stored->begin, sample.stored->length);
}

Status SampleReader::decode(const Sample& sample, std::span<const std::byte> bytes, Channels channels, Image& out) {
  if (sample.stored) {
    const StoredImage& stored = *sample.stored;
    if (stored.has_checksum && !io::is_sound_record(bytes)) {
      return failure("data.read", sample.id, "a record whose checksum holds", "another checksum",
                     "fetching or writing the record file again");
    }
    bytes = bytes.subspan(stored.image_begin, stored.image_length);
    if (stored.raw) {
      out.reset(*stored.raw);
      std::ranges::copy(bytes, out.bytes().begin());
      return Done{};
    }
  }
  return decoder_.decode(bytes, sample.id, {.channels = channels, .limits = {}, .intensity = intensity_}, out);
}

Status SampleReader::load(const Sample& sample, Channels channels, Image& out) {
  const auto bytes = read(sample);
  if (!bytes) return bytes.why();
  return decode(sample, bytes.value(), channels, out);
}

}  // namespace roentgen::data
