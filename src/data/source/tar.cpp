// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Dataset reader `tar`: WebDataset shards. Consecutive files with the same name (tar_samples.h) form one sample: an
// image (.png, .jpg, .jpeg, .dcm, or .npy with pixels) and its labels. Of the following files, the first that contains
// labels is used:
//   .json  {"labels": {"Mass": 1, "Edema": null}} (convert), {"labels": ["Mass"]} or {"label": 3}, with `filename`,
//          `patient`, `split`, `view`, `sex`, `age` (these five in any case); numbers are read as texts
//   .cls   the number of a class, or its name
//   .txt   findings separated by "|", as NIH writes them
// Only headers and labels are read here; samples store the offset of their image in the archive.
#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "core/error.h"
#include "data/source/finding_names.h"
#include "data/source/finding_text.h"
#include "data/source/findings.h"
#include "data/source/placed_rows.h"
#include "data/source/record_listing.h"
#include "data/source/tar_samples.h"
#include "io/json.h"
#include "io/npy.h"
#include "io/tar.h"

namespace roentgen::data {
namespace {

constexpr std::string_view kThing = "data.tar";

std::string_view text_of(std::span<const std::byte> archive, const io::TarMember& member) {
  const auto bytes = archive.subspan(member.begin, member.length);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Reads one shard into the listing.
class Shard {
 public:
  Shard(RecordListing& listing, const RecordFile& file, std::span<const std::byte> archive)
      : listing_(listing), file_(file), archive_(archive) {}

  void read(const std::vector<io::TarMember>& members) {
    std::set<std::string_view> keys;
    const std::vector<TarSample> samples = tar_samples(members, file_, listing_);
    for (const TarSample& sample : samples) {
      const bool is_new = keys.insert(sample.key).second;
      const bool has_image = sample.image != nullptr && sample.image->lost_target.empty();
      if (has_image) {
        take(sample);
      } else if (!has_labels(sample)) {
        leave_out_all(sample);
      } else if (is_new) {
        listing_.add_absent(file_, sample.key + what_is_instead(sample));
      } else {
        listing_.refuse(fmt::format("{}, {}", file_.name, sample.key), "all files of a sample next to each other",
                        "files at two positions of the archive");
      }
      for (const std::string& ending : sample.others) listing_.leave_out(file_, "left out, files " + ending);
    }
    if (samples_ == 0) listing_.note(fmt::format("{} has no image", file_.name));
  }

 private:
  // Returns false for .txt and .json files that state no labels, because they may have another purpose.
  [[nodiscard]] bool has_labels(const TarSample& sample) const {
    if (sample.image != nullptr || sample.cls != nullptr) return true;
    if (sample.json == nullptr) return false;
    const auto json = io::parse_json(text_of(archive_, *sample.json), sample.key);
    return !json || json.value().find("labels") != nullptr || json.value().find("label") != nullptr;
  }

  // Text for errors: names the file found instead of an image.
  static std::string what_is_instead(const TarSample& sample) {
    if (sample.image != nullptr) return ": a link to " + sample.image->lost_target;
    return sample.others.empty() ? "" : ": " + sample.others.front();
  }

  void leave_out_all(const TarSample& sample) {
    if (sample.json != nullptr) listing_.leave_out(file_, "left out, .json files without labels or an image");
    if (sample.txt != nullptr) listing_.leave_out(file_, "left out, .txt files without an image");
  }

  void take(const TarSample& group) {
    ++samples_;
    where_ = RecordListing::name_of_record(file_, samples_);
    for (const io::TarMember* labels : {group.json, group.cls, group.txt}) {
      if (labels == nullptr || labels->lost_target.empty()) continue;
      listing_.refuse(where_, "labels", fmt::format("a link to {}, which is not in the archive", labels->lost_target));
    }
    Sample sample{.id = group.image->name, .stored = place_of(group), .split = file_.split};
    Value json;
    if (group.json != nullptr) json = parse_json(*group.json);
    read_known(json, sample);
    listing_.check_line(sample.id, "name of a file", where_);
    listing_.add(file_, samples_, std::move(sample), labels_of(group, json));
  }

  [[nodiscard]] StoredImage place_of(const TarSample& group) const {
    StoredImage place{.begin = group.image->begin, .length = group.image->length, .image_length = group.image->length};
    if (group.image_ending != "npy") return place;
    const auto bytes = archive_.subspan(place.begin, place.length);
    const io::NpyHead head = io::parse_npy_head(bytes, where_).or_throw<DataError>();
    const Shape& shape = head.shape;
    const bool has_form = (shape.rank() == 2 || (shape.rank() == 3 && (shape[2] == 1 || shape[2] == 3))) &&
                          head.dtype != DType::F32 && shape.elements() > 0;
    if (!has_form) {
      listing_.refuse(where_, "an array (H, W) or (H, W, 3) of dtype uint8 or uint16",
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
    if (!json.is_table()) listing_.refuse(where_, "a JSON object in the .json file", std::string(json.kind()));
    return json;
  }

  [[nodiscard]] std::string text_in(const Value& json, std::string_view key) const {
    const Value* value = json.find(key);
    if (value == nullptr || value->is_null()) return {};
    constexpr int kDigits = 53;
    std::optional<std::string> text;
    if (value->is_string()) text = value->as_string();
    if (value->is_integer()) text = std::to_string(value->as_integer());
    if (value->is_double()) text = text_of_number(value->as_double(), kDigits);
    if (!text) {
      listing_.refuse(where_, fmt::format("text or a number of at most 15 digits as {}", key),
                      value->is_double() ? "a longer number" : value->kind());
    }
    if (!text->empty()) listing_.check_line(*text, key, where_);
    return *text;
  }

  // Key of a text or number field whose name matches, ignoring case.
  [[nodiscard]] static std::string_view key_in(const Value& json, std::string_view name) {
    if (!json.is_table()) return name;
    return key_of(json.as_table(), name, [](const Value& value) { return value.is_string() || value.is_number(); });
  }

  [[nodiscard]] static float age_in(const Value& json) {
    const Value* age = json.find(key_in(json, "age"));
    if (age != nullptr && age->is_string()) return parse_age(age->as_string());
    if (age == nullptr || !age->is_number() || age->as_double() < 0) return std::nanf("");
    return static_cast<float>(age->as_double());
  }

  // Keys of the fields that are read, spelt as in the JSON object.
  struct Keys {
    explicit Keys(const Value& json) : patient(key_in(json, "patient")), split(key_in(json, "split")) {}
    std::string_view patient, split;
  };

  // Notes fields that look like a patient id or state another split, in nested tables as well.
  void look_at_fields(const Value& json, const std::string& before, const Keys& read, Split split) const {
    if (json.is_array()) {
      for (const Value& value : json.as_array()) look_at_fields(value, before, read, split);
    }
    if (!json.is_table()) return;
    for (const auto& [key, value] : json.as_table()) {
      if (before.empty() && key == "labels") continue;
      const std::string name = before + key;
      const bool is_nested = value.is_table() || value.is_array();
      if (is_nested) look_at_fields(value, name + '.', read, split);
      if (!is_nested) listing_.look_at_field(file_, name, read.patient);
      if (value.is_string()) {
        listing_.look_at_split(file_, {.name = name, .text = value.as_string(), .read = read.split}, split);
      }
    }
  }

  void read_known(const Value& json, Sample& sample) const {
    const Keys keys(json);
    if (std::string id = text_in(json, "filename"); !id.empty()) sample.id = std::move(id);
    sample.patient = text_in(json, keys.patient);
    sample.view = text_in(json, key_in(json, "view"));
    sample.sex = text_in(json, key_in(json, "sex"));
    if (const std::string split = text_in(json, keys.split); !split.empty()) {
      sample.split = listing_.given_split(split, keys.split, where_);
    }
    sample.age_years = age_in(json);
    look_at_fields(json, "", keys, sample.split);
    const Value* white = json.find("max_value");
    if (white == nullptr || !sample.stored->raw) return;
    const std::int64_t most = sample.stored->raw->max_value;
    if (!white->is_integer() || white->as_integer() < 1 || white->as_integer() > most) {
      listing_.refuse(where_, fmt::format("max_value from 1 to {}", most), "another value");
    }
    sample.stored->raw->max_value = static_cast<std::uint32_t>(white->as_integer());
  }

  // Labels of a sample. A .json with labels is preferred to a .cls, and a .cls to a .txt.
  [[nodiscard]] RecordLabels labels_of(const TarSample& group, const Value& json) const {
    std::optional<RecordLabels> labels = labels_of_json(json);
    const bool is_of_json = labels.has_value();
    if (group.cls != nullptr) {
      const std::string_view text = stripped(text_of(archive_, *group.cls));
      if (is_of_json) note_unread_class(*labels, class_of(text));
      if (!is_of_json) labels = class_in(text);
    }
    if (group.txt != nullptr && labels) {
      listing_.leave_out(
          file_, fmt::format("not read, .txt files of samples with labels in a .{} file", is_of_json ? "json" : "cls"));
    } else if (group.txt != nullptr) {
      labels = findings_in(stripped(text_of(archive_, *group.txt)));
    }
    if (!labels) listing_.refuse(where_, "labels in a .json, .cls or .txt file of the same name", "none");
    return *std::move(labels);
  }

  [[nodiscard]] std::optional<RecordLabels> labels_of_json(const Value& json) const {
    if (const Value* labels = json.find("labels")) return labels_in(*labels);
    const Value* label = json.find("label");
    if (label == nullptr || label->is_null()) return std::nullopt;
    if (label->is_integer()) return ClassLabel{.number = label->as_integer()};
    if (!label->is_string()) listing_.refuse(where_, "a whole number or a name as label", std::string(label->kind()));
    return FoundLabels{.names = {text_in(json, "label")}};
  }

  // Notes a .cls file that is not used, unless it agrees with the .json.
  void note_unread_class(const RecordLabels& taken, const RecordLabels& unread) const {
    if (taken == unread) return;
    const bool is_other = taken.index() == unread.index();
    listing_.leave_out(file_, is_other ? "not read, .cls files with another label than the sample's .json file"
                                       : "not read, .cls files of samples with labels in a .json file");
  }

  [[nodiscard]] RecordLabels labels_in(const Value& labels) const {
    if (labels.is_array()) {
      FoundLabels found;
      for (const Value& name : labels.as_array()) {
        if (!name.is_string()) listing_.refuse(where_, "text in the array \"labels\"", std::string(name.kind()));
        listing_.check_line(name.as_string(), "labels", where_);
        found.names.push_back(name.as_string());
      }
      return found;
    }
    if (!labels.is_table()) listing_.refuse(where_, "a JSON object or array as \"labels\"", std::string(labels.kind()));
    NamedLabels named;
    for (const auto& [name, value] : labels.as_table()) {
      listing_.check_line(name, "labels", where_);
      const bool is_known = value.is_null() || value.is_bool() || value.is_integer();
      if (!is_known) listing_.refuse(where_, "1, 0, -1 or null as label value", std::string(value.kind()));
      named.names.push_back(name);
      named.values.push_back(value.is_null() ? -1 : value.is_bool() ? (value.as_bool() ? 1 : 0) : value.as_integer());
    }
    if (named.names.empty()) listing_.refuse(where_, "at least one entry in \"labels\"", "none");
    return named;
  }

  [[nodiscard]] RecordLabels class_in(std::string_view text) const {
    RecordLabels label = class_of(text);
    if (std::holds_alternative<FoundLabels>(label)) listing_.check_line(text, ".cls", where_);
    return label;
  }

  static RecordLabels class_of(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size()) return ClassLabel{.number = number};
    return FoundLabels{.names = {std::string(text)}};
  }

  [[nodiscard]] RecordLabels findings_in(std::string_view text) const {
    FoundLabels found;
    for (const std::string& name : split_names(text)) {
      if (spelling_key(name) == spelling_key(kNoFinding)) continue;
      listing_.check_line(name, ".txt", where_);
      found.names.push_back(name);
    }
    return found;
  }

  RecordListing& listing_;
  const RecordFile& file_;
  const std::span<const std::byte> archive_;
  std::size_t samples_ = 0;
  /// Position of the current sample, for errors.
  std::string where_;
};

}  // namespace

bool probe_tar(const SourceOptions& options, TableFiles& /*tables*/) {
  return options.csv.empty() && !record_files(options.root, RecordKind::Tar).empty();
}

Listing list_tar(const SourceOptions& options, TableFiles& /*tables*/) {
  RecordListing listing(options, kThing, record_files(options.root, RecordKind::Tar));
  return listing.read([&listing](const RecordFile& file, std::span<const std::byte> bytes) {
    Shard(listing, file, bytes).read(io::scan_tar(bytes, file.name).or_throw<DataError>());
  });
}

}  // namespace roentgen::data
