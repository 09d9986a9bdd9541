// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The source `tar`: WebDataset's shards. Files that follow each other and share their name up to the first dot of its
// last part are one sample: an image (.png, .jpg, .jpeg, .dcm, or .npy with pixels) and what is known of it, as
//   .json  {"labels": {"Mass": 1, "Edema": null}} (convert), {"labels": ["Mass"]} or {"label": 3}, with `filename`,
//          `patient`, `split`, `view`, `sex`, `age`
//   .cls   the number of a class, or its name
//   .txt   findings with "|" between, as NIH writes them
// Only headers and labels are read here; samples name the place of their image in the archive.
#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "data/source/findings.h"
#include "data/source/record_listing.h"
#include "io/file.h"
#include "io/json.h"
#include "io/npy.h"
#include "io/tar.h"

namespace roentgen::data {
namespace {

constexpr std::string_view kThing = "data.tar";
constexpr std::array<std::string_view, 5> kImages{"png", "jpg", "jpeg", "dcm", "npy"};

/// The files of one sample.
struct Group {
  std::string key;
  const io::TarMember* image = nullptr;
  std::string image_ending;
  const io::TarMember* json = nullptr;
  const io::TarMember* cls = nullptr;
  const io::TarMember* txt = nullptr;
};

/// "dir/000017" and "seg.png" of "dir/000017.SEG.png"; an empty key where the file is hidden.
struct Name {
  std::string key, ending;
};
Name split_name(const std::string& name) {
  const auto slash = name.rfind('/');
  const auto begin = slash == std::string::npos ? 0 : slash + 1;
  const auto dot = name.find('.', begin);
  if (dot == begin) return {};
  std::string ending = dot == std::string::npos ? "" : name.substr(dot + 1);
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return {.key = name.substr(0, dot), .ending = std::move(ending)};
}

std::string_view text_of(std::span<const std::byte> archive, const io::TarMember& member) {
  const auto bytes = archive.subspan(member.begin, member.length);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// One shard on its way into the listing.
class Shard {
 public:
  Shard(RecordListing& listing, const RecordFile& file, std::span<const std::byte> archive)
      : listing_(listing), file_(file), archive_(archive) {}

  void read(const std::vector<io::TarMember>& members) {
    Group group;
    for (const io::TarMember& member : members) {
      auto [key, ending] = split_name(member.name);
      if (key.empty()) continue;
      if (key != group.key) take(group);
      if (key != group.key) group = {.key = std::move(key)};
      assign(group, member, ending);
    }
    take(group);
    if (samples_ == 0) listing_.note(fmt::format("{} has no image", file_.name));
  }

 private:
  void assign(Group& group, const io::TarMember& member, const std::string& ending) const {
    const bool is_image = std::ranges::find(kImages, ending) != kImages.end();
    if (is_image && group.image != nullptr) {
      listing_.refuse(fmt::format("{}, {}", file_.name, group.key), "one image a sample",
                      fmt::format("{} and {}", group.image_ending, ending));
    }
    if (is_image) group.image = &member;
    if (is_image) group.image_ending = ending;
    if (ending == "json") group.json = &member;
    if (ending == "cls") group.cls = &member;
    if (ending == "txt") group.txt = &member;
  }

  void take(const Group& group) {
    if (group.image == nullptr) return;
    ++samples_;
    where_ = RecordListing::name_of_record(file_, samples_);
    Sample sample{.id = group.image->name, .stored = place_of(group), .split = file_.split};
    Value json;
    if (group.json != nullptr) json = parse_json(*group.json);
    read_known(json, sample);
    listing_.check_line(sample.id, "name of a file", where_);
    listing_.add(file_, samples_, std::move(sample), labels_of(group, json));
  }

  [[nodiscard]] StoredImage place_of(const Group& group) const {
    StoredImage place{.begin = group.image->begin, .length = group.image->length, .image_length = group.image->length};
    if (group.image_ending != "npy") return place;
    const auto bytes = archive_.subspan(place.begin, place.length);
    const io::NpyHead head = io::parse_npy_head(bytes, where_).or_throw<DataError>();
    const Shape& shape = head.shape;
    const bool has_form = (shape.rank() == 2 || (shape.rank() == 3 && (shape[2] == 1 || shape[2] == 3))) &&
                          head.dtype != DType::F32 && shape.elements() > 0;
    if (!has_form) {
      listing_.refuse(where_, "an array (H, W) or (H, W, 3) of u1 or u2",
                      shape.text() + " " + std::string(name_of(head.dtype)));
    }
    const int bits = head.dtype == DType::U8 ? 8 : 16;
    place.image_begin = head.data_begin;
    place.image_length -= head.data_begin;
    place.raw = ImageLayout{.width_px = shape[1],
                            .height_px = shape[0],
                            .channels = shape.rank() == 3 ? static_cast<int>(shape[2]) : 1,
                            .bits = bits,
                            .max_value = bits == 8 ? 255U : 65535U};
    return place;
  }

  [[nodiscard]] Value parse_json(const io::TarMember& member) const {
    Value json = io::parse_json(text_of(archive_, member), where_).or_throw<DataError>();
    if (!json.is_table()) listing_.refuse(where_, "a table as .json", std::string(json.kind()));
    return json;
  }

  [[nodiscard]] std::string text_in(const Value& json, std::string_view key) const {
    const Value* value = json.find(key);
    if (value == nullptr || !value->is_string() || value->as_string().empty()) return {};
    listing_.check_line(value->as_string(), key, where_);
    return value->as_string();
  }

  void read_known(const Value& json, Sample& sample) const {
    if (std::string id = text_in(json, "filename"); !id.empty()) sample.id = std::move(id);
    sample.patient = text_in(json, "patient");
    sample.view = text_in(json, "view");
    sample.sex = text_in(json, "sex");
    if (const std::string split = text_in(json, "split"); !split.empty()) {
      sample.split = listing_.given_split(split, "split", where_);
    }
    if (const Value* age = json.find("age"); age != nullptr && age->is_number() && age->as_double() >= 0) {
      sample.age_years = static_cast<float>(age->as_double());
    }
    const Value* white = json.find("max_value");
    if (white == nullptr || !sample.stored->raw) return;
    const std::int64_t most = sample.stored->raw->max_value;
    if (!white->is_integer() || white->as_integer() < 1 || white->as_integer() > most) {
      listing_.refuse(where_, fmt::format("max_value from 1 to {}", most), "another");
    }
    sample.stored->raw->max_value = static_cast<std::uint32_t>(white->as_integer());
  }

  [[nodiscard]] RecordLabels labels_of(const Group& group, const Value& json) const {
    if (const Value* labels = json.find("labels")) return labels_in(*labels);
    if (const Value* label = json.find("label")) {
      if (label->is_integer()) return ClassLabel{.number = label->as_integer()};
      if (label->is_string()) return FoundLabels{.names = {text_in(json, "label")}};
    }
    if (group.cls != nullptr) return class_in(stripped(text_of(archive_, *group.cls)));
    if (group.txt != nullptr) return findings_in(stripped(text_of(archive_, *group.txt)));
    listing_.refuse(where_, "labels in a .json, .cls or .txt of the same name", "none");
  }

  [[nodiscard]] RecordLabels labels_in(const Value& labels) const {
    if (labels.is_array()) {
      FoundLabels found;
      for (const Value& name : labels.as_array()) {
        if (!name.is_string()) listing_.refuse(where_, "names in the array labels", std::string(name.kind()));
        listing_.check_line(name.as_string(), "labels", where_);
        found.names.push_back(name.as_string());
      }
      return found;
    }
    if (!labels.is_table()) listing_.refuse(where_, "a table or an array as labels", std::string(labels.kind()));
    NamedLabels named;
    for (const auto& [name, value] : labels.as_table()) {
      listing_.check_line(name, "labels", where_);
      const bool is_known = value.is_null() || value.is_bool() || value.is_integer();
      if (!is_known) listing_.refuse(where_, "1, 0, -1 or null as label", std::string(value.kind()));
      named.names.push_back(name);
      named.values.push_back(value.is_null() ? -1 : value.is_bool() ? (value.as_bool() ? 1 : 0) : value.as_integer());
    }
    if (named.names.empty()) listing_.refuse(where_, "a label in labels", "none");
    return named;
  }

  [[nodiscard]] RecordLabels class_in(std::string_view text) const {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size()) return ClassLabel{.number = number};
    listing_.check_line(text, ".cls", where_);
    return FoundLabels{.names = {std::string(text)}};
  }

  [[nodiscard]] RecordLabels findings_in(std::string_view text) const {
    FoundLabels found;
    while (!text.empty()) {
      const auto bar = text.find('|');
      const std::string_view name = stripped(text.substr(0, bar));
      text.remove_prefix(bar == std::string_view::npos ? text.size() : bar + 1);
      if (name == kNoFinding) continue;
      listing_.check_line(name, ".txt", where_);
      found.names.emplace_back(name);
    }
    return found;
  }

  RecordListing& listing_;
  const RecordFile& file_;
  const std::span<const std::byte> archive_;
  std::size_t samples_ = 0;
  /// Of the sample at hand, for errors.
  std::string where_;
};

}  // namespace

bool probe_tar(const SourceOptions& options) {
  return options.csv.empty() && !record_files(options.root, RecordKind::Tar).empty();
}

Listing list_tar(const SourceOptions& options) {
  RecordListing listing(options, kThing, record_files(options.root, RecordKind::Tar));
  for (const RecordFile& file : listing.files()) {
    if (listing.recall(file)) continue;
    listing.begin(file);
    const io::MappedFile mapped = io::MappedFile::open(file.path).or_throw<DataError>();
    const auto members = io::scan_tar(mapped.bytes(), file.name).or_throw<DataError>();
    Shard(listing, file, mapped.bytes()).read(members);
    listing.end(file);
  }
  return listing.finish();
}

}  // namespace roentgen::data
