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
#include <map>
#include <set>
#include <utility>

#include "core/error.h"
#include "data/source/finding_names.h"
#include "data/source/findings.h"
#include "data/source/record_files.h"
#include "data/source/source.h"
#include "io/example.h"
#include "io/file.h"
#include "io/record.h"
#include "io/sha256.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kThing = "data.tfrecord";

/// What is gathered over all files before labels can be chosen.
struct Reading {
  const SourceOptions& options;
  Listing listing;
  /// Of the labels as they are stored: the same in all records, or by class.
  std::vector<std::string> stored_names;
  /// One per sample: 1, 0, -1, or the class alone.
  std::vector<std::vector<std::int64_t>> stored;
  std::map<std::int64_t, std::string> classes;
  bool is_of_classes = false;
  std::set<std::string> ids;
  std::vector<std::string> repeated;
};

[[noreturn]] void refuse(std::string_view what, std::string_view expected, std::string_view got,
                         std::string_view remedy = "docs/data.md, which lists what records hold") {
  throw DataError(error_text(kThing, what, expected, got, remedy));
}

std::int64_t only_integer(const io::Example& example, std::string_view name) {
  const auto values = io::integers_of(example, name);
  return values.size() == 1 ? values.front() : 0;
}

std::optional<ImageLayout> raw_layout(const io::Example& example, std::uint64_t bytes, const std::string& where) {
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
  refuse(
      where, "raw pixels with their width, height, channels (1 or 3), bits (8 or 16) and max_value",
      fmt::format("{} bytes, {}x{}, {} channels, {} bits, max_value {}", bytes, width, height, channels, bits, white));
}

// NIH's names begin with the patient's number: 00000013_005.png.
std::string nih_patient(std::string_view id) {
  const auto line = id.find('_');
  const bool is_nih = line == 8 && std::all_of(id.begin(), id.begin() + 8, [](char c) { return c >= '0' && c <= '9'; });
  if (!is_nih) return {};
  const auto digit = std::min<std::size_t>(id.find_first_not_of('0'), 7);
  return std::string(id.substr(digit, 8 - digit));
}

// What is printed and written into tables must be a word or some, in one line.
void check_name(std::string_view name, std::string_view feature, const std::string& where) {
  const auto is_control = [](unsigned char c) { return c < 32 || c == 127; };
  if (!name.empty() && std::ranges::none_of(name, is_control)) return;
  refuse(where, fmt::format("text in one line as {}", feature), name.empty() ? "nothing" : "control characters");
}

void read_labels(const io::Example& example, Reading& reading, const std::string& where) {
  const auto labels = io::integers_of(example, "image/label");
  const auto classes = io::integers_of(example, "image/class/label");
  std::vector<std::string> names;
  if (const auto found = example.find("image/label_names"); found != example.end()) {
    if (const auto* list = std::get_if<io::BytesList>(&found->second)) {
      for (const auto& name : *list) names.emplace_back(reinterpret_cast<const char*>(name.data()), name.size());
    }
  } else if (labels.size() == kNihFindings.size()) {
    names.assign(kNihFindings.begin(), kNihFindings.end());
  }
  for (const std::string& name : names) check_name(name, "image/label_names", where);
  const bool is_of_classes = classes.size() == 1 && names.empty();
  const bool is_first = reading.stored.empty();
  if (is_first) {
    reading.is_of_classes = is_of_classes;
    reading.stored_names = names;
  }
  if (is_of_classes != reading.is_of_classes || names != reading.stored_names) {
    refuse(where, "labels as in the records before", "others");
  }
  if (is_of_classes) {
    const std::string_view text = io::text_of(example, "image/class/text");
    if (classes.front() < 0) refuse(where, "a class of at least 0", fmt::format("{}", classes.front()));
    if (!text.empty()) check_name(text, "image/class/text", where);
    auto& name = reading.classes[classes.front()];
    if (name.empty()) name = text.empty() ? fmt::format("class {}", classes.front()) : std::string(text);
    reading.stored.emplace_back(classes.begin(), classes.end());
    return;
  }
  if (names.empty() || labels.size() != names.size()) {
    refuse(where, "image/label with image/label_names, 14 integers as image/label, or one as image/class/label",
           fmt::format("{} labels, {} names, {} classes", labels.size(), names.size(), classes.size()));
  }
  for (const std::int64_t label : labels) {
    if (label < -1 || label > 1) refuse(where, "1, 0 or -1 as label", fmt::format("{}", label));
  }
  reading.stored.emplace_back(labels.begin(), labels.end());
}

void read_record(const RecordFile& file, std::span<const std::byte> bytes, const io::RecordPlace& place,
                 std::size_t number, Reading& reading) {
  const std::string where = fmt::format("{}, record {}", file.path.filename().string(), number);
  const auto message = bytes.subspan(place.begin, place.length);
  const io::Example example = io::parse_example(message, where).or_throw<DataError>();
  const std::string_view image = io::text_of(example, "image/encoded");
  if (image.empty()) refuse(where, "an image as image/encoded", "none");
  const auto begin = static_cast<std::uint64_t>(reinterpret_cast<const std::byte*>(image.data()) - message.data());
  Sample sample{.id = std::string(io::text_of(example, "image/filename")),
                .path = file.path,
                .stored = StoredImage{.begin = place.begin,
                                      .length = place.length + io::kFrameTail_bytes,
                                      .image_begin = begin,
                                      .image_length = image.size(),
                                      .has_checksum = true,
                                      .raw = raw_layout(example, image.size(), where)},
                .patient = std::string(io::text_of(example, "image/patient")),
                .split = file.split,
                .view = std::string(io::text_of(example, "image/view")),
                .sex = std::string(io::text_of(example, "image/sex"))};
  if (!sample.id.empty()) check_name(sample.id, "image/filename", where);
  if (sample.id.empty()) sample.id = fmt::format("{}#{}", file.path.filename().string(), number);
  if (sample.patient.empty()) sample.patient = nih_patient(sample.id);
  if (const auto found = example.find("image/age"); found != example.end()) {
    const auto* age = std::get_if<std::vector<float>>(&found->second);
    if (age != nullptr && age->size() == 1 && std::isfinite(age->front()) && age->front() >= 0.0F) {
      sample.age_years = age->front();
    }
  }
  if (const auto split = io::text_of(example, "image/split"); !split.empty()) {
    try {
      sample.split = parse_split(split);
      reading.listing.given_splits = "image/split of the records";
    } catch (const ConfigError&) {
      check_name(split, "image/split", where);
      refuse(where, "train, val, test or none as image/split", split);
    }
  }
  if (!reading.ids.insert(sample.id).second) {
    reading.repeated.push_back(sample.id);
    return;
  }
  read_labels(example, reading, where);
  reading.listing.samples.push_back(std::move(sample));
}

void choose_labels(Reading& reading) {
  Listing& listing = reading.listing;
  std::vector<std::string> names = reading.stored_names;
  std::vector<std::int64_t> classes;
  for (const auto& [number, name] : reading.classes) {
    classes.push_back(number);
    // ImageNet has two classes "crane".
    const bool is_taken = std::ranges::find(names, name) != names.end();
    names.push_back(is_taken ? fmt::format("{} ({})", name, number) : name);
  }
  const auto& wanted = reading.options.labels;
  listing.label_names = wanted.empty() ? names : wanted;
  check_distinct_findings(listing.label_names);
  if (reading.options.policy != LabelPolicy{} || !reading.options.label_policies.empty()) {
    throw ConfigError(error_text("data.labels", "data.blank, data.uncertain and data.label_policy", "none for records",
                                 "one", "giving them to the conversion: what is unknown there stays so"));
  }
  for (const std::string& label : listing.label_names) {
    const auto column = finding_column(names, label);
    if (!column && reading.options.unknown_labels == UnknownLabels::Mask) {
      for (Sample& sample : listing.samples) sample.labels.push_back(std::nanf(""));
      continue;
    }
    if (!column) {
      throw ConfigError(error_text("data.labels", label, "a label of the records", first_names(names, names.size()),
                                   "data.labels=[] for all of them"));
    }
    for (std::size_t i = 0; i < listing.samples.size(); ++i) {
      float value = 0.0F;
      if (reading.is_of_classes) {
        value = reading.stored[i].front() == classes[*column] ? 1.0F : 0.0F;
      } else {
        const std::int64_t stored = reading.stored[i][*column];
        value = stored < 0 ? std::nanf("") : static_cast<float>(stored);
      }
      listing.samples[i].labels.push_back(value);
    }
  }
}

// Stands for the bytes of a label table: equal names, labels and splits, equal hash, however the records are cut.
std::string labels_sha256(const Reading& reading) {
  std::string text;
  for (const std::string& name : reading.stored_names) text += name + '\n';
  for (const auto& [number, name] : reading.classes) text += fmt::format("{} {}\n", number, name);
  for (std::size_t i = 0; i < reading.stored.size(); ++i) {
    text += reading.listing.samples[i].id + ',' + std::string(name_of(reading.listing.samples[i].split));
    for (const std::int64_t value : reading.stored[i]) text += fmt::format(",{}", value);
    text += '\n';
  }
  return io::sha256_hex(text);
}

// Does the sum of the first length hold? Other programs number their files likewise.
bool begins_with_record(const fs::path& path) {
  const auto file = io::MappedFile::open(path);
  if (!file || file.value().bytes().size() < io::kFrameHead_bytes) return false;
  const auto head = file.value().bytes().first(io::kFrameHead_bytes);
  return io::is_sound_record(head);
}

}  // namespace

bool has_records(const fs::path& folder) { return probe_tfrecord({.root = folder}); }

bool probe_tfrecord(const SourceOptions& options) {
  return options.csv.empty() &&
         std::ranges::any_of(record_files(options.root, RecordKind::TfRecord),
                             [](const RecordFile& file) { return file.has_ending || begins_with_record(file.path); });
}

Listing list_tfrecord(const SourceOptions& options) {
  const auto files = record_files(options.root, RecordKind::TfRecord);
  if (files.empty()) {
    refuse(options.root.string(), "*.tfrecord or train-00000-of-00010, ...", "none of them", "another --data");
  }
  if (!options.csv.empty()) {
    throw ConfigError(error_text(kThing, "data.csv", "none, since records hold the labels",
                                 options.csv.front().string(), "data.source=csv"));
  }
  Reading reading{.options = options};
  if (const std::string absent = absent_record_files(files); !absent.empty()) {
    if (options.absent == Absent::Refuse) {
      refuse(options.root.string(), "all record files that their names count", absent + " absent",
             "--set data.absent=skip to go on without them");
    }
    reading.listing.notes.push_back(fmt::format("absent record files, skipped: {}", absent));
  }
  std::int64_t without_split = 0;
  for (const RecordFile& file : files) {
    const std::string name = file.path.filename().string();
    const io::MappedFile mapped = io::MappedFile::open(file.path).or_throw<DataError>();
    const auto bytes = mapped.bytes();
    if (bytes.size() >= 2 && bytes[0] == std::byte{0x1F} && bytes[1] == std::byte{0x8B}) {
      refuse(name, "records as they are", "a gzipped file", "gunzip, or roentgen convert");
    }
    const auto places = io::scan_records(bytes, name, io::RecordCheck::Lengths).or_throw<DataError>();
    if (places.empty()) reading.listing.notes.push_back(fmt::format("{} has no record", name));
    without_split += file.split == Split::None ? 1 : 0;
    for (std::size_t i = 0; i < places.size(); ++i) read_record(file, bytes, places[i], i + 1, reading);
    if (file.split != Split::None && reading.listing.given_splits.empty())
      reading.listing.given_splits = "names of the record files";
  }
  if (reading.stored.empty()) refuse(files.front().path.filename().string(), "a record", "an empty file");
  if (without_split > 0 && without_split < std::ssize(files)) {
    reading.listing.notes.push_back(fmt::format(
        "{} of {} record files do not begin with train, val or test: their images are in no split unless they say so",
        without_split, files.size()));
  }
  choose_labels(reading);
  settle_repeated(reading.repeated, options, reading.listing);
  reading.listing.csv = {files.front().path};
  reading.listing.csv_sha256 = {labels_sha256(reading)};
  reading.listing.notes.push_back(
      fmt::format("{} record files; what is given as hash of the table is that of names and labels", files.size()));
  return std::move(reading.listing);
}

}  // namespace roentgen::data
