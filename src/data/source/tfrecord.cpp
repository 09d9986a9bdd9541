// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The source `tfrecord`: TFRecord files of tf.train.Example, one image a record, in `image/encoded`. Three schemas:
//   roentgen  image/label (1, 0, -1 = unknown) with image/label_names, and what else is known of the image (convert)
//   Dell      image/label with 14 integers in CheXNet's order, image/filename in NIH's form
//   ImageNet  image/class/label, one class an image, with image/class/text
// Only the heads and features are read here; samples name the place of their image in the file.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "data/source/findings.h"
#include "data/source/record_listing.h"
#include "data/source/source.h"
#include "io/example.h"
#include "io/file.h"
#include "io/gzip.h"
#include "io/record.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kThing = "data.tfrecord";

std::int64_t only_integer(const io::Example& example, std::string_view name) {
  const auto values = io::integers_of(example, name);
  return values.size() == 1 ? values.front() : 0;
}

std::optional<ImageLayout> raw_layout(const RecordListing& listing, const io::Example& example, std::uint64_t bytes,
                                      const std::string& where) {
  if (io::text_of(example, "image/format") != "raw") return std::nullopt;
  constexpr std::int64_t kMostSide = 1 << 20;
  const std::int64_t width = only_integer(example, "image/width"), height = only_integer(example, "image/height");
  const std::int64_t channels = only_integer(example, "image/channels"), bits = only_integer(example, "image/bits");
  const std::int64_t most = bits == 8 ? 255 : 65535;
  const bool has_white = example.contains("image/max_value");
  const std::int64_t white = has_white ? only_integer(example, "image/max_value") : most;
  const bool is_form = width > 0 && height > 0 && width <= kMostSide && height <= kMostSide &&
                       (channels == 1 || channels == 3) && (bits == 8 || bits == 16) && white > 0 && white <= most;
  if (is_form) {
    const ImageLayout layout{.width_px = width,
                             .height_px = height,
                             .channels = static_cast<int>(channels),
                             .bits = static_cast<int>(bits),
                             .max_value = static_cast<std::uint32_t>(white)};
    if (layout.bytes() == bytes) return layout;
  }
  listing.refuse(
      where, "raw pixels with their width, height, channels (1 or 3), bits (8 or 16) and max_value",
      fmt::format("{} bytes, {}x{}, {} channels, {} bits, max_value {}", bytes, width, height, channels, bits, white));
}

RecordLabels read_labels(const RecordListing& listing, const io::Example& example, const std::string& where) {
  const auto values = io::integers_of(example, "image/label");
  const auto classes = io::integers_of(example, "image/class/label");
  NamedLabels labels{.names = {}, .values = {values.begin(), values.end()}};
  if (const auto found = example.find("image/label_names"); found != example.end()) {
    if (const auto* list = std::get_if<io::BytesList>(&found->second)) {
      for (const auto& name : *list) {
        labels.names.emplace_back(reinterpret_cast<const char*>(name.data()), name.size());
      }
    }
  } else if (values.size() == kNihFindings.size()) {
    labels.names.assign(kNihFindings.begin(), kNihFindings.end());
  }
  for (const std::string& name : labels.names) listing.check_line(name, "image/label_names", where);
  if (classes.size() == 1 && labels.names.empty()) {
    const std::string_view text = io::text_of(example, "image/class/text");
    if (!text.empty()) listing.check_line(text, "image/class/text", where);
    return ClassLabel{.number = classes.front(), .name = std::string(text)};
  }
  if (labels.names.empty() || labels.values.size() != labels.names.size()) {
    listing.refuse(where, "image/label with image/label_names, 14 integers as image/label, or one as image/class/label",
                   fmt::format("{} labels, {} names, {} classes", values.size(), labels.names.size(), classes.size()));
  }
  return labels;
}

/// The record's features, and the place of its image.
void read_example(RecordListing& listing, const RecordFile& file, std::size_t number,
                  std::span<const std::byte> message, StoredImage place) {
  const std::string where = RecordListing::name_of_record(file, number);
  const io::Example example = io::parse_example(message, where).or_throw<DataError>();
  const std::string_view image = io::text_of(example, "image/encoded");
  if (image.empty()) listing.refuse(where, "an image as image/encoded", "none");
  place.image_begin = static_cast<std::uint64_t>(reinterpret_cast<const std::byte*>(image.data()) - message.data());
  place.image_length = image.size();
  place.raw = raw_layout(listing, example, image.size(), where);
  Sample sample{.id = std::string(io::text_of(example, "image/filename")),
                .stored = place,
                .patient = std::string(io::text_of(example, "image/patient")),
                .split = file.split,
                .view = std::string(io::text_of(example, "image/view")),
                .sex = std::string(io::text_of(example, "image/sex"))};
  if (!sample.id.empty()) listing.check_line(sample.id, "image/filename", where);
  if (const auto found = example.find("image/age"); found != example.end()) {
    const auto* age = std::get_if<std::vector<float>>(&found->second);
    if (age != nullptr && age->size() == 1 && std::isfinite(age->front()) && age->front() >= 0.0F) {
      sample.age_years = age->front();
    }
  }
  if (const auto split = io::text_of(example, "image/split"); !split.empty()) {
    sample.split = listing.given_split(split, "image/split", where);
  }
  listing.add(file, number, std::move(sample), read_labels(listing, example, where));
}

// What is wrong with a record whose checksum holds was written so; the others are damaged.
void read_record(RecordListing& listing, const RecordFile& file, std::size_t number, std::span<const std::byte> bytes,
                 const io::RecordPlace& frame) {
  const StoredImage place{
      .begin = frame.begin, .length = frame.length + io::kFrameTail_bytes, .framing = Framing::MaskedCrc32c};
  // The first says what labels there are, so that it had better be sound.
  const bool is_sound = listing.has_labels() || io::is_sound_record(bytes.subspan(place.begin, place.length));
  if (!is_sound && listing.knows_split(file)) {
    listing.add_damaged(file, number, place, {});
    return;
  }
  try {
    read_example(listing, file, number, bytes.subspan(frame.begin, frame.length), place);
  } catch (const DataError& error) {
    if (io::is_sound_record(bytes.subspan(place.begin, place.length))) throw;
    listing.add_damaged(file, number, place, error.what());
  }
}

// Does the sum of the first length hold? Other programs number their files likewise.
bool begins_with_record(const fs::path& path) {
  const auto file = io::MappedFile::open(path);
  if (!file) return false;
  const auto bytes = file.value().bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::string head = io::is_gzip(text) ? io::gunzip_head(text, io::kFrameHead_bytes)
                                             : std::string(text.substr(0, io::kFrameHead_bytes));
  return head.size() == io::kFrameHead_bytes && io::is_sound_record(std::as_bytes(std::span(head)));
}

}  // namespace

bool probe_tfrecord(const SourceOptions& options) {
  return options.csv.empty() &&
         std::ranges::any_of(record_files(options.root, RecordKind::TfRecord),
                             [](const RecordFile& file) { return file.has_ending || begins_with_record(file.path); });
}

Listing list_tfrecord(const SourceOptions& options) {
  RecordListing listing(options, kThing, record_files(options.root, RecordKind::TfRecord));
  for (const RecordFile& file : listing.files()) {
    if (listing.recall(file)) continue;
    listing.begin(file);
    const io::MappedFile mapped = io::MappedFile::open(file.path).or_throw<DataError>();
    const auto bytes = mapped.bytes();
    const auto places = io::scan_records(bytes, file.name, io::RecordCheck::Lengths).or_throw<DataError>();
    if (places.empty()) listing.note(fmt::format("{} has no record", file.name));
    for (std::size_t i = 0; i < places.size(); ++i) read_record(listing, file, i + 1, bytes, places[i]);
    listing.end(file);
  }
  return listing.finish();
}

}  // namespace roentgen::data
