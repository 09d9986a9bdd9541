// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Dataset reader `tfrecord`: TFRecord files of tf.train.Example, one image per record, in `image/encoded`. Three
// schemas:
//   roentgen  image/label (1, 0, -1 = unknown) with image/label_names, and other fields that convert writes
//   Dell      image/label with 14 integers in CheXNet's order, image/filename in NIH's form
//   ImageNet  image/class/label, one class per image, with image/class/text
// Only record headers and features are read here; samples store the position of their image in the file.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/error.h"
#include "data/source/findings.h"
#include "data/source/placed_rows.h"
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

// The single value of a feature, as text; empty if it has none.
std::string known_text(const RecordListing& listing, const io::Example& example, std::string_view name,
                       const std::string& where) {
  const auto found = example.find(name);
  if (found == example.end()) return {};
  const auto only = [&](const auto& list) {
    if (list.size() > 1) listing.refuse(where, fmt::format("one value for {}", name), fmt::format("{}", list.size()));
    return !list.empty();
  };
  constexpr int kDigits = 24;
  std::string text;
  if (const auto* texts = std::get_if<io::BytesList>(&found->second); texts != nullptr && only(*texts)) {
    text = io::text_of(example, name);
  }
  if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&found->second);
      numbers != nullptr && only(*numbers)) {
    text = std::to_string(numbers->front());
  }
  if (const auto* floats = std::get_if<std::vector<float>>(&found->second); floats != nullptr && only(*floats)) {
    const float number = floats->front();
    const auto spelled = std::isnan(number) ? std::optional<std::string>("") : text_of_number(number, kDigits);
    if (!spelled)
      listing.refuse(where, fmt::format("text or an integer for {}", name), "a float of more than 7 digits");
    text = *spelled;
  }
  if (!text.empty()) listing.check_line(text, name, where);
  return text;
}

// Key of a feature with one value whose name matches, ignoring case.
std::string_view key_in(const io::Example& example, std::string_view name) {
  return key_of(example, name, [](const io::Feature& feature) {
    return std::visit(
        [](const auto& list) {
          if constexpr (std::is_same_v<std::decay_t<decltype(list)>, std::monostate>) {
            return false;
          } else {
            return list.size() == 1;
          }
        },
        feature);
  });
}

// Age in years; NaN if there is no valid one.
float age_in(const io::Example& example) {
  const std::string_view age = key_in(example, "image/age");
  const auto found = example.find(age);
  if (found == example.end()) return std::nanf("");
  if (const auto* floats = std::get_if<std::vector<float>>(&found->second)) {
    const bool is_age = floats->size() == 1 && std::isfinite(floats->front()) && floats->front() >= 0.0F;
    return is_age ? floats->front() : std::nanf("");
  }
  const auto numbers = io::integers_of(example, age);
  return parse_age(numbers.size() == 1 ? std::to_string(numbers.front()) : io::text_of(example, age));
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
      where, "raw pixels that match width, height, channels (1 or 3), bits (8 or 16) and max_value",
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

/// Reads the record's features and the position of its image.
void read_example(RecordListing& listing, const RecordFile& file, std::size_t number,
                  std::span<const std::byte> message, StoredImage place) {
  const std::string where = RecordListing::name_of_record(file, number);
  const io::Example example = io::parse_example(message, where).or_throw<DataError>();
  const std::string_view image = io::text_of(example, "image/encoded");
  if (image.empty()) listing.refuse(where, "an image in image/encoded", "none");
  if (const auto images = std::get<io::BytesList>(example.at("image/encoded")).size(); images > 1) {
    listing.refuse(where, "one image in image/encoded", fmt::format("{}", images));
  }
  const auto known = [&](std::string_view name) { return known_text(listing, example, name, where); };
  const std::string_view patient = key_in(example, "image/patient"), split_key = key_in(example, "image/split");
  place.image_begin = static_cast<std::uint64_t>(reinterpret_cast<const std::byte*>(image.data()) - message.data());
  place.image_length = image.size();
  place.raw = raw_layout(listing, example, image.size(), where);
  Sample sample{.id = known("image/filename"),
                .stored = place,
                .patient = known(patient),
                .split = file.split,
                .view = known(key_in(example, "image/view")),
                .sex = known(key_in(example, "image/sex")),
                .age_years = age_in(example)};
  if (const auto split = known(split_key); !split.empty()) {
    sample.split = listing.given_split(split, split_key, where);
  }
  for (const auto& [name, feature] : example) {
    listing.look_at_field(file, name, patient);
    listing.look_at_split(file, {.name = name, .text = io::text_of(example, name), .read = split_key}, sample.split);
  }
  listing.add(file, number, std::move(sample), read_labels(listing, example, where));
}

// Reads a record. An invalid record with a valid checksum was written that way, so its error is thrown; with a wrong
// checksum the record counts as damaged.
void read_record(RecordListing& listing, const RecordFile& file, std::size_t number, std::span<const std::byte> bytes,
                 const io::RecordPlace& frame) {
  const StoredImage place{
      .begin = frame.begin, .length = frame.length + io::kFrameTail_bytes, .framing = Framing::MaskedCrc32c};
  // The first record defines the labels, so its checksum is verified.
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

// True if the checksum of the first length is right. Files of other programs may have similar names.
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

bool probe_tfrecord(const SourceOptions& options, TableFiles& /*tables*/) {
  return options.csv.empty() &&
         std::ranges::any_of(record_files(options.root, RecordKind::TfRecord),
                             [](const RecordFile& file) { return file.has_ending || begins_with_record(file.path); });
}

Listing list_tfrecord(const SourceOptions& options, TableFiles& /*tables*/) {
  RecordListing listing(options, kThing, record_files(options.root, RecordKind::TfRecord));
  return listing.read([&listing](const RecordFile& file, std::span<const std::byte> bytes) {
    const auto places = io::scan_records(bytes, file.name, io::RecordCheck::Lengths).or_throw<DataError>();
    if (places.empty()) listing.note(fmt::format("{} has no record", file.name));
    for (std::size_t i = 0; i < places.size(); ++i) read_record(listing, file, i + 1, bytes, places[i]);
  });
}

}  // namespace roentgen::data
