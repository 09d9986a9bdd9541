// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/record_listing.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "core/error.h"
#include "core/lower_case.h"
#include "core/plural.h"
#include "data/source/finding_names.h"
#include "data/source/patient.h"
#include "data/source/split.h"
#include "data/source/unpacked.h"
#include "io/file.h"
#include "io/map_guard.h"
#include "io/sha256.h"
#include "runtime/cache_folder.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;

/// Largest number of findings; more are descriptions, not labels.
constexpr std::size_t kMostFound = 4096;

}  // namespace

std::optional<std::string> text_of_number(double number, int digits) {
  if (!(std::abs(number) < std::ldexp(1.0, digits))) return std::nullopt;
  const auto whole = static_cast<std::int64_t>(number);
  return static_cast<double>(whole) == number ? fmt::format("{}.0", whole) : fmt::format("{}", number);
}

bool differ_in_case_alone(std::string_view a, std::string_view b) { return a != b && lower_case(a) == lower_case(b); }

std::string nih_patient(std::string_view id) {
  const auto line = id.find('_');
  const bool is_nih = line == 8 && std::all_of(id.begin(), id.begin() + 8, [](char c) { return c >= '0' && c <= '9'; });
  if (!is_nih) return {};
  const auto digit = std::min<std::size_t>(id.find_first_not_of('0'), 7);
  return std::string(id.substr(digit, 8 - digit));
}

std::string RecordListing::name_of_record(const RecordFile& file, std::size_t number) {
  return fmt::format("{}, record {}", file.name, number);
}

RecordListing::RecordListing(const SourceOptions& options, std::string_view thing, std::vector<RecordFile> files)
    : options_(options), thing_(thing), files_(std::move(files)) {
  if (files_.empty()) refuse(options.root.string(), "record files of this format", "none", "another --data");
  if (!options.csv.empty()) {
    throw ConfigError(error_text(thing_, "data.csv", "no data.csv, because the record files contain the labels",
                                 options.csv.front().string(), "--set data.source=csv"));
  }
  std::string absent = absent_record_files(files_);
  std::erase_if(files_, [&](const RecordFile& file) {
    std::error_code ignored;
    if (fs::exists(file.path, ignored)) return false;
    absent += fmt::format("{}{} (a broken link)", absent.empty() ? "" : ", ", file.name);
    return true;
  });
  if (!absent.empty()) settle_absent_files(absent);
  if (const auto gaps = gaps_between_record_files(files_); !gaps.empty()) {
    note(fmt::format("numbers missing between record files: {} ({})", gaps.size(), first_names(gaps)));
  }
  if (files_.empty())
    refuse(options.root.string(), "a record file", "only broken links", "mounting the disk of the link targets");
  std::int64_t packed = 0;
  for (RecordFile& file : files_) {
    fs::path path = unpacked(file.path, runtime::default_cache_folder());
    packed += path == file.path ? 0 : 1;
    file.path = std::move(path);
  }
  if (packed > 0) note(counted(packed, "gzipped record file") + ", unpacked into the cache folder");
}

void RecordListing::settle_absent_files(const std::string& absent) {
  if (options_.absent == Absent::Refuse) {
    refuse(options_.root.string(), "all record files of the numbered set", absent + " missing",
           "--set data.absent=skip to ignore the missing files");
  }
  note(fmt::format("missing record files, skipped: {}", absent));
}

void RecordListing::refuse(std::string_view what, std::string_view expected, std::string_view got,
                           std::string_view remedy) const {
  throw DataError(error_text(thing_, what, expected, got, remedy));
}

void RecordListing::check_line(std::string_view text, std::string_view field, std::string_view where) const {
  const auto is_control = [](unsigned char c) { return c < 32 || c == 127; };
  if (!text.empty() && std::ranges::none_of(text, is_control)) return;
  refuse(where, fmt::format("one line of text as {}", field), text.empty() ? "an empty text" : "control characters");
}

Split RecordListing::given_split(std::string_view text, std::string_view field, std::string_view where) {
  try {
    const Split split = parse_split(text);
    listing_.given_splits = index_.given_splits = fmt::format("{} in the record files", field);
    return split;
  } catch (const ConfigError&) {
    check_line(text, field, where);
    if (uses_given_splits(options_.split)) {
      refuse(where, fmt::format("train, val, test or none as {}", field), text,
             "correcting it, or --set data.split=random");
    }
    index_path_.clear();  // no index is stored, so that later listings that use splits still report this text
    return Split::None;
  }
}

void RecordListing::check_labels(const RecordLabels& labels, const std::string& where) {
  const auto* named = std::get_if<NamedLabels>(&labels);
  const bool is_first = form_ == std::variant_npos;
  if (is_first) form_ = labels.index();
  if (is_first && named != nullptr) names_ = named->names;
  if (labels.index() != form_ || (named != nullptr && named->names != names_)) {
    refuse(where, "the same label names as in earlier records", "different names");
  }
  if (named != nullptr) {
    for (const std::int64_t value : named->values) {
      if (value < -1 || value > 1) refuse(where, "1, 0 or -1 as label value", fmt::format("{}", value));
    }
  } else if (const auto* found = std::get_if<FoundLabels>(&labels)) {
    found_.insert(found->names.begin(), found->names.end());
    if (found_.size() > kMostFound) {
      refuse(where, fmt::format("at most {} different labels", kMostFound), "more", "labels instead of free text");
    }
  } else {
    const auto& label = std::get<ClassLabel>(labels);
    if (label.number < 0) refuse(where, "a class number of at least 0", fmt::format("{}", label.number));
    auto& name = classes_[label.number];
    if (name.empty()) name = label.name;
  }
}

// Path of the index; empty if there is no cache folder.
fs::path RecordListing::index_path_of(const RecordFile& file, std::string_view thing) {
  const fs::path folder = runtime::default_cache_folder();
  return folder.empty() ? folder : record_index_path(file.path, thing, folder);
}

bool RecordListing::recall(const RecordFile& file) {
  auto index = find_record_index(index_path_of(file, thing_));
  if (!index) return false;
  index_ = {};
  for (std::string& line : index->notes) note(std::move(line));
  std::ranges::move(index->left_out, std::back_inserter(left_out_));
  std::ranges::move(index->absent, std::back_inserter(absent_));
  if (!index->given_splits.empty()) listing_.given_splits = index->given_splits;
  for (IndexedRecord& record : index->records) {
    add(file, record.number, std::move(record.sample), std::move(record.labels));
  }
  return true;
}

void RecordListing::begin(const RecordFile& file) {
  index_ = {};
  is_damaged_ = false;
  index_path_ = index_path_of(file, thing_);
}

void RecordListing::end(const RecordFile& file, std::span<const std::byte> map) {
  static_cast<void>(io::check_map(map, file.path).or_throw<DataError>());
  const bool has_stayed = !index_path_.empty() && index_path_of(file, thing_) == index_path_;  // file unchanged?
  if (!is_damaged_ && has_stayed && index_.records.size() >= kLong) keep_record_index(index_path_, index_);
  index_ = {};
  index_path_.clear();
}

void RecordListing::add(const RecordFile& file, std::size_t number, Sample sample, RecordLabels labels) {
  if (!index_path_.empty()) index_.records.push_back({.number = number, .sample = sample, .labels = labels});
  const std::string where = name_of_record(file, number);
  sample.path = file.path;
  if (sample.id.empty()) sample.id = fmt::format("{}#{}", file.name, number);
  if (normal_patient(sample.patient).empty()) {
    if (std::string patient = nih_patient(sample.id); !patient.empty()) sample.patient = std::move(patient);
  }
  if (auto* found = std::get_if<FoundLabels>(&labels)) unite_spellings(*found);
  const auto [position, is_new] = numbers_.try_emplace(sample.id, labels_.size());
  if (!is_new) return repeats_.add(sample.id, labels_[position->second] != labels);
  check_labels(labels, where);
  listing_.samples.push_back(std::move(sample));
  labels_.emplace_back(std::move(labels));
}

void RecordListing::unite_spellings(FoundLabels& found) {
  for (std::string& name : found.names) name = spellings_.try_emplace(finding_text_key(name), name).first->second;
}

bool RecordListing::knows_split(const RecordFile& file) const {
  return file.split != Split::None || options_.split.mode == SplitMode::Whole;
}

void RecordListing::add_damaged(const RecordFile& file, std::size_t number, const StoredImage& place,
                                const std::string& why) {
  if (!knows_split(file)) throw DataError(why);
  is_damaged_ = true;
  listing_.samples.push_back(
      {.id = fmt::format("{}#{}", file.name, number), .path = file.path, .stored = place, .split = file.split});
  labels_.emplace_back(std::nullopt);
  damaged_.push_back(name_of_record(file, number));
  if (why_damaged_.empty()) why_damaged_ = why;
}

void RecordListing::leave_out(const RecordFile& file, std::string what) {
  left_out_.push_back({.what = std::move(what), .where = file.name});
  index_.left_out.push_back(left_out_.back());
}

void RecordListing::add_absent(const RecordFile& file, std::string_view name) {
  absent_.push_back({.what = fmt::format("{}, {}", file.name, name), .where = file.name});
  index_.absent.push_back(absent_.back());
}

void RecordListing::look_at_field(const RecordFile& file, std::string_view field, std::string_view read) {
  if (field == read || !looks_like_patient(field)) return;
  check_line(field, "name of a field", file.name);
  leave_out(file, fmt::format("not read, record field {} (patients are read from {})", field, read));
}

void RecordListing::look_at_split(const RecordFile& file, const SplitField& field, Split split_of_image) {
  const auto split = find_split(field.text);
  if (!split || *split == Split::None || *split == split_of_image || !looks_like_split(field.name)) return;
  check_line(field.name, "name of a field", file.name);
  leave_out(file, fmt::format("not read, record field {} with train, val or test (splits are read from {})", field.name,
                              field.read));
}

void RecordListing::settle_samples_without_image() {
  if (absent_.empty()) return;
  std::vector<std::string> names;
  for (const UnreadEntry& one : absent_) names.push_back(one.what);
  if (options_.absent == Absent::Refuse) {
    refuse(options_.root.string(), "an image in every labelled sample",
           fmt::format("samples without an image: {} ({})", absent_.size(), first_names(names)),
           "--set data.absent=skip to ignore these samples");
  }
  for (UnreadEntry& one : absent_) {
    left_out_.push_back({.what = "left out, samples without an image", .where = std::move(one.where)});
  }
}

float RecordListing::label_of(std::size_t sample, std::size_t column) const {
  if (!labels_[sample]) return std::nanf("");
  const RecordLabels& labels = *labels_[sample];
  if (const auto* named = std::get_if<NamedLabels>(&labels)) {
    return named->values[column] < 0 ? std::nanf("") : static_cast<float>(named->values[column]);
  }
  if (const auto* found = std::get_if<FoundLabels>(&labels)) {
    return std::ranges::find(found->names, names_[column]) == found->names.end() ? 0.0F : 1.0F;
  }
  const auto at = std::next(classes_.begin(), static_cast<std::ptrdiff_t>(column));
  return std::get<ClassLabel>(labels).number == at->first ? 1.0F : 0.0F;
}

void RecordListing::apply_given_names() {
  if (given_names_.empty()) return;
  if (classes_.empty() && names_.size() == given_names_.size()) names_ = given_names_;
  if (classes_.empty()) return;
  const std::int64_t largest = classes_.rbegin()->first;
  if (given_names_.size() == 1 && largest <= 1) {
    classes_ = {{1, given_names_.front()}};
  } else if (largest < std::ssize(given_names_)) {
    for (std::size_t i = 0; i < given_names_.size(); ++i) classes_[static_cast<std::int64_t>(i)] = given_names_[i];
  }
}

void RecordListing::choose_labels() {
  apply_given_names();
  names_.insert(names_.end(), found_.begin(), found_.end());
  for (const auto& [number, text] : classes_) {
    const std::string name = text.empty() ? fmt::format("class {}", number) : text;
    // Class names can repeat: ImageNet has two classes "crane".
    const bool is_taken = std::ranges::find(names_, name) != names_.end();
    names_.push_back(is_taken ? fmt::format("{} ({})", name, number) : name);
  }
  listing_.label_names = options_.labels.empty() ? names_ : options_.labels;
  check_distinct_findings(listing_.label_names);
  if (options_.policy != LabelPolicy{} || !options_.label_policies.empty()) {
    throw ConfigError(error_text("data.labels", "data.blank, data.uncertain and data.label_policy",
                                 "none of these keys, because record files contain final labels", "at least one",
                                 "setting them for roentgen convert"));
  }
  for (const std::string& label : listing_.label_names) {
    const auto column = finding_column(names_, label);
    if (!column && options_.unknown_labels == UnknownLabels::Mask) {
      for (Sample& sample : listing_.samples) sample.labels.push_back(std::nanf(""));
      continue;
    }
    if (!column) {
      throw ConfigError(error_text("data.labels", label, "a label that the record files contain",
                                   "a name other than " + first_names(names_, names_.size()),
                                   "data.labels=[] for all labels"));
    }
    for (std::size_t i = 0; i < listing_.samples.size(); ++i) {
      listing_.samples[i].labels.push_back(label_of(i, *column));
    }
  }
}

// Hash of all names, labels and splits, used like the hash of a label table. It does not depend on how records are
// divided into files.
std::string RecordListing::labels_sha256() const {
  std::string text;
  if (classes_.empty()) {
    for (const std::string& name : names_) text += name + '\n';
  }
  for (const auto& [number, name] : classes_) {
    text += fmt::format("{} {}\n", number, name.empty() ? fmt::format("class {}", number) : name);
  }
  for (std::size_t i = 0; i < labels_.size(); ++i) {
    text += listing_.samples[i].id + ',' + std::string(name_of(listing_.samples[i].split));
    if (!labels_[i]) {
      text += ",damaged";
    } else if (const auto* named = std::get_if<NamedLabels>(&*labels_[i])) {
      for (const std::int64_t value : named->values) text += fmt::format(",{}", value);
    } else if (const auto* found = std::get_if<FoundLabels>(&*labels_[i])) {
      for (const std::string& name : found->names) text += ',' + name;
    } else {
      text += fmt::format(",{}", std::get<ClassLabel>(*labels_[i]).number);
    }
    text += '\n';
  }
  return io::sha256_hex(text);
}

void RecordListing::note_files() {
  std::map<std::string, std::vector<std::string>> places;
  for (UnreadEntry& one : left_out_) places[std::move(one.what)].push_back(std::move(one.where));
  for (auto& [what, where] : places) {
    const std::size_t count = where.size();
    std::ranges::sort(where);
    where.erase(std::unique(where.begin(), where.end()), where.end());
    listing_.notes.push_back(fmt::format("{}: {} ({})", what, count, first_names(where)));
  }
  const auto without_split = std::ranges::count(files_, Split::None, &RecordFile::split);
  if (without_split < std::ssize(files_) && listing_.given_splits.empty()) {
    listing_.given_splits = "names of the record files";
  }
  if (without_split > 0 && without_split < std::ssize(files_)) {
    note(
        fmt::format("{} of {} record files have names without train, val or test: their images have no split unless "
                    "records state it",
                    without_split, files_.size()));
  }
  if (listing_.given_splits.empty() && uses_given_splits(options_.split)) {
    std::vector<std::string> names;
    for (const RecordFile& file : files_) {
      if (holds_split_word(file.name)) names.push_back(file.name);
    }
    if (!names.empty()) {
      note(fmt::format(
          "record files not read as splits, because train, val or test is not at the beginning of the name: {} ({})",
          names.size(), first_names(names)));
    }
  }
  if (!damaged_.empty()) {
    note(fmt::format("damaged records, counted as corrupt images: {} ({})", damaged_.size(), first_names(damaged_)));
  }
  note(counted(std::ssize(files_), "record file") + "; no table, so the hash covers names and labels");
}

Listing RecordListing::read(const std::function<void(const RecordFile&, std::span<const std::byte>)>& read_file) {
  for (const RecordFile& file : files_) {
    if (recall(file)) continue;
    begin(file);
    const io::MappedFile mapped = io::MappedFile::open(file.path).or_throw<DataError>();
    read_file(file, mapped.bytes());
    end(file, mapped.bytes());
  }
  return finish();
}

Listing RecordListing::finish() {
  if (form_ == std::variant_npos && !why_damaged_.empty()) throw DataError(why_damaged_);
  settle_samples_without_image();
  if (form_ == std::variant_npos) {
    refuse(files_.front().name, "a record",
           !damaged_.empty()    ? "only damaged records"
           : !left_out_.empty() ? "none; " + left_out_.front().what
                                : "an empty file");
  }
  choose_labels();
  settle_repeated(repeats_, options_, listing_);
  note_files();
  listing_.csv = {files_.front().path};
  listing_.csv_sha256 = {labels_sha256()};
  return std::move(listing_);
}

}  // namespace roentgen::data
