// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// DICOM codec: one gray image of up to 16 bits per file, decoded by DCMTK, or OpenJPEG for JPEG 2000. They return
// stored values, which gray_levels.h converts. ImageInfo states the stored bits; the decoded image has the bits of the
// chosen Intensity.
#include <fmt/core.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <vector>

#include "core/log.h"
#include "data/codec/codec_table.h"
#include "data/codec/dicom/file.h"
#include "data/codec/dicom_start.h"
#include "data/codec/gray_levels.h"

namespace roentgen::data {
namespace {

using Bytes = std::span<const std::byte>;

Result<ImageInfo> read_info(Bytes bytes, std::string_view what) {
  const auto read = read_dicom_image_header(bytes, what);
  if (!read) return read.why();
  const DicomHeader& header = read.value();
  return ImageInfo{.format = "dicom",
                   .colour = "gray",
                   .width_px = header.width_px,
                   .height_px = header.height_px,
                   .channels = 1,
                   .bits = header.meaning.bits_stored};
}

template <typename Sample>
void fill(std::span<const std::uint16_t> codes, const GrayTable& table, Image& out) {
  const std::span<Sample> samples = out.samples<Sample>();
  const auto channels = static_cast<std::size_t>(out.channels());
  if (channels == 1) {
    std::ranges::transform(codes, samples.begin(),
                           [&table](std::uint16_t code) { return static_cast<Sample>(table.levels[code]); });
    return;
  }
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const auto level = static_cast<Sample>(table.levels[codes[i]]);
    for (std::size_t channel = 0; channel < channels; ++channel) samples[i * channels + channel] = level;
  }
}

std::vector<std::uint32_t> counts_of(std::span<const std::uint16_t> codes, int bits) {
  std::vector<std::uint32_t> counts(std::size_t{1} << bits, 0);
  for (const std::uint16_t code : codes) ++counts[code];
  return counts;
}

// Logs each of `notes` that this process has not logged yet as a warning that names `what`. Thread-safe.
void say_once(std::span<const std::string> notes, std::string_view what) {
  static std::mutex mutex;
  static std::set<std::string> said;  // contains few texts, because they differ only in small numbers
  for (const std::string& note : notes) {
    const std::scoped_lock lock(mutex);
    if (said.insert(note).second) log::warning(fmt::format("{}; the first is {}", note, what));
  }
}

Status decode(const DecodeJob& job, Image& out) {
  auto file = DicomFile::open(job.bytes, job.what);
  if (!file) return file.why();
  const DicomHeader& header = file.value().header();
  if (header.width_px != job.info.width_px || header.height_px != job.info.height_px) {
    return failure("data.dicom", job.what,
                   fmt::format("the same size in the whole file, {}x{}", job.info.width_px, job.info.height_px),
                   fmt::format("{}x{} after the pixel data", header.width_px, header.height_px),
                   "fetching the file again");
  }
  const Intensity intensity = job.options.intensity;
  if (is_viewed(intensity) && !header.view.fault.empty()) return Failure{header.view.fault};
  const auto pixels = static_cast<std::size_t>(job.info.width_px * job.info.height_px);
  const std::span<std::byte> memory = grown(job.scratch.stored, pixels * sizeof(std::uint16_t));
  const std::span codes(reinterpret_cast<std::uint16_t*>(memory.data()), pixels);
  Status read = file.value().read_codes(job.what, codes);
  if (!read) return read;
  const GrayMeaning& meaning = header.meaning;
  const auto counts = needs_counts(intensity) ? counts_of(codes, meaning.bits_stored) : std::vector<std::uint32_t>();
  const GrayTable table = gray_table(meaning, intensity, counts);
  ImageLayout layout = out.layout();
  layout.bits = table.bits;
  layout.max_value = table.max_value;
  if (layout.bytes() > job.options.limits.max_bytes) {
    return failure("data.dicom", job.what, fmt::format("at most {} bytes of pixels", job.options.limits.max_bytes),
                   std::to_string(layout.bytes()), "a smaller copy of the image");
  }
  out.reset(layout);
  with_sample_type(table.bits, [&](auto sample) { fill<decltype(sample)>(codes, table, out); });
  say_once(header.notes, job.what);
  if (is_viewed(intensity)) say_once(header.view.notes, job.what);
  return read;
}

}  // namespace

const Codec& codec_dicom() {
  static constexpr Codec kCodec{"dicom", "DICOM", begins_as_dicom, read_info, decode};
  return kCodec;
}

}  // namespace roentgen::data
