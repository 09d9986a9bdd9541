// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/log.h"
#include "core/short_error.h"
#include "data/source/converted.h"
#include "data/source/folder_walk.h"
#include "data/source/image_index.h"
#include "data/source/label_map.h"
#include "data/source/linked_files.h"
#include "data/source/obstacles.h"
#include "data/source/patient.h"
#include "data/source/record_files.h"
#include "data/source/record_source.h"
#include "data/source/several.h"
#include "data/source/source.h"
#include "data/source/split.h"
#include "data/source/summary.h"
#include "data/source/table_files.h"
#include "io/sha256.h"

namespace roentgen::data {
namespace {

/// An entry of source_list.h.
struct SourceEntry {
  std::string_view name;
  std::string_view what;
  bool (*probe)(const SourceOptions&, TableFiles&);
  Listing (*list)(const SourceOptions&, TableFiles&);
};

#define RG_SOURCE_ENTRY(name, what) SourceEntry{#name, what, probe_##name, list_##name},
constexpr std::array kSources{RG_SOURCES(RG_SOURCE_ENTRY)};
constexpr std::array kRecordSources{RG_RECORD_SOURCES(RG_SOURCE_ENTRY)};
#undef RG_SOURCE_ENTRY

constexpr std::size_t kShownColumns = 12;
constexpr std::array<std::string_view, 4> kSplitNames{"train", "val", "test", "none"};

void check_root(const SourceOptions& options) {
  std::error_code error;
  const auto status = std::filesystem::status(options.root, error);
  if (std::filesystem::is_directory(status)) return;
  throw DataError(short_error_text("data.source", options.root.string(),
                                   std::filesystem::exists(status) ? "not a folder" : "no such folder"));
}

/// Throws DataError for tables in data.csv that do not exist.
void check_named_tables(const SourceOptions& options, TableFiles& tables) {
  for (const std::filesystem::path& path : named_tables(options)) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (std::filesystem::exists(status) && !std::filesystem::is_directory(status)) continue;
    std::vector<std::string> others;
    for (const auto& other : tables_in(options.root, tables)) others.push_back(other.filename().string());
    throw DataError(error_text("data.csv", path.string(), "a table",
                               std::filesystem::exists(status) ? "a folder" : "no such file",
                               others.empty() ? "a path relative to the data folder"
                                              : "one of the tables in this folder: " + first_names(others)));
  }
}

/// Throws DataError for tables without a column of image files. Checks the tables in data.csv, else labels.csv, else
/// the only table of the folder.
void refuse_without_images(const SourceOptions& options, TableFiles& tables) {
  std::vector<std::filesystem::path> paths = named_tables(options);
  if (paths.empty()) {
    if (const auto usual = plain_or_gzipped(options.root / "labels.csv")) {
      paths = {*usual};
    } else if (auto all = tables_in(options.root, tables); all.size() == 1 || !options.image.empty()) {
      paths = std::move(all);
    }
  }
  for (const auto& path : paths) {
    const std::vector<std::string>& header = tables.header(path);
    if (header.empty() || image_column(header, options.files, options.image)) continue;
    throw DataError(error_text("data.csv", path.filename().string(),
                               options.image.empty() ? "a column of image files, named path"
                                                     : fmt::format("the column {} of image files", options.image),
                               "only the columns " + first_names(header, kShownColumns),
                               "--set data.image=COLUMN with the column of image files"));
  }
}

/// Throws DataError if the tables of a folder name absent images, because other files in the folder may belong to
/// another data set.
void refuse_absent_images(const SourceOptions& options, TableFiles& tables, std::string_view other) {
  const FoundTables& found = tables.found_in(options.root, options.image);
  if (!found.read.empty() || found.absent.empty()) return;
  const std::filesystem::path& table = found.absent.front();
  throw DataError(error_text(
      "data.source", table.string(), "the images of this table in the folder " + options.root.string(),
      fmt::format("none of them ({})", first_names(image_names(tables.table(options.root / table), options.image))),
      "writing paths relative to the table" + (other.empty() ? "" : fmt::format(", or --set data.source={}", other))));
}

const SourceEntry& choose_source(const SourceOptions& options, TableFiles& tables) {
  std::string names, looked_for;
  for (const auto& source : kSources) {
    if (options.source == source.name) return source;
    names += fmt::format(", {}", source.name);
  }
  if (options.source != "auto") {
    throw ConfigError(
        error_text("data.source", "source", "one of auto" + names, options.source, "--set data.source=auto"));
  }
  for (const auto& source : kSources) {
    if (source.probe(options, tables)) {
      // DICOM files alone have no labels. A table next to them means that the user expects labels.
      if (source.name == "dicom") refuse_absent_images(options, tables, source.name);
      return source;
    }
    looked_for += fmt::format("{}{} ({})", looked_for.empty() ? "" : "; ", source.name, source.what);
  }
  check_named_tables(options, tables);
  if (options.csv.empty()) refuse_absent_images(options, tables, "");
  for (const std::string& line : source_obstacles(options)) log::info(line);
  refuse_without_images(options, tables);
  throw DataError(error_text("data.source", options.root.string(), "one of these data sets: " + looked_for,
                             "none of them", "--set data.csv=FILE if the table has another name"));
}

// Adds a note if a folder contains records and images, or two kinds of records, because only one of them is read.
// Record files in subfolders are not read.
void note_other_files(const SourceOptions& options, std::string_view chosen, Listing& listing) {
  if (std::ranges::find(kRecordSources, chosen, &SourceEntry::name) == kRecordSources.end()) return;
  Tally images, records;
  const std::filesystem::path top = options.root / "";
  FolderWalk walk(WalkOrder::Mixed, [&](const std::filesystem::path& path) {
    if (has_image_extension(path)) images.add(ending_of(path));
    const bool is_below = path.parent_path() / "" != top;
    if (is_below && has_record_ending(path.filename().string())) records.add(ending_of(path));
    return true;
  });
  try {
    walk.walk(options.root);
  } catch (const DataError&) {
    return;  // a folder that belongs to another user, without readable records
  }
  listing.left_out_images += images.total();
  if (!images.is_empty()) {
    listing.notes.push_back("image files in this folder that are not read (" + images.text() + ")");
  }
  if (!records.is_empty()) {
    listing.notes.push_back("record files in subfolders that are not read (" + records.text() + ")");
  }
}

void note_other_records(const SourceOptions& options, std::string_view chosen, TableFiles& tables, Listing& listing) {
  if (options.source != "auto") return;
  for (const auto& source : kRecordSources) {
    if (source.name == chosen || !source.probe(options, tables)) continue;
    listing.notes.push_back(fmt::format(
        "not read, although also in this folder: {}; --set data.source={} reads it instead", source.what, source.name));
  }
}

void check_distinct(const std::vector<std::string>& labels) {
  std::set<std::string_view> seen;
  for (const auto& label : labels) {
    if (seen.insert(label).second) continue;
    throw ConfigError(
        error_text("data.labels", label, "each label once", "this one twice", "naming it once in data.labels"));
  }
}

bool is_frontal(std::string_view view) {
  constexpr std::array<std::string_view, 13> kFrontal{"PA",      "AP",          "AP_horizontal", "AP supine", "frontal",
                                                      "Frontal", "LLD-frontal", "AP erect",      "AP AXIAL",  "AP LLD",
                                                      "AP RLD",  "PA LLD",      "PA RLD"};
  return std::find(kFrontal.begin(), kFrontal.end(), view) != kFrontal.end();
}

/// Keeps the requested views and notes how many images of which view were dropped.
void filter_views(Listing& listing, const SourceOptions& options) {
  if (options.views.empty()) return;
  const auto wanted = [&](std::string_view view) {
    return std::any_of(options.views.begin(), options.views.end(), [&](const std::string& want) {
      return want == view || (want == "frontal" && is_frontal(view));
    });
  };
  std::int64_t unknown = 0, kept = 0, dropped = 0;
  std::erase_if(listing.samples, [&](const Sample& sample) {
    const bool keep = sample.view.empty() || wanted(sample.view);
    ++(sample.view.empty() ? unknown : keep ? kept : dropped);
    return !keep;
  });
  const std::string names = fmt::format("{}", fmt::join(options.views, ", "));
  listing.notes.push_back(fmt::format("views {}: {} kept, {} of other views dropped, {} of unknown view kept", names,
                                      kept, dropped, unknown));
  if (listing.samples.empty()) {
    throw DataError(error_text("data.source", "views", "at least one image of view " + names, "none",
                               "--set data.views=[] for all views"));
  }
}

std::string hash_patient(const Dataset& dataset, const std::string& patient, std::string_view salt) {
  if (dataset.parts.size() > 1) return io::sha256_hex(fmt::format("{}\n{}", salt, patient)).substr(0, 16);
  return io::sha256_hex(fmt::format("{}\n{}\n{}", salt, dataset.patient_namespace, patient)).substr(0, 16);
}

}  // namespace

std::string_view name_of(Split split) { return kSplitNames.at(static_cast<std::size_t>(split)); }

Split parse_split(std::string_view text) {
  if (const auto split = find_split(text)) return *split;
  throw ConfigError(error_text("data.split", "split", "one of train, val, test, none", text, "one of these names"));
}

bool has_records(const std::filesystem::path& folder) { return record_source(folder).has_value(); }

std::optional<std::string_view> record_source(const std::filesystem::path& folder) {
  TableFiles tables;
  const auto found = std::ranges::find_if(
      kRecordSources, [&](const SourceEntry& source) { return source.probe({.root = folder}, tables); });
  return found == kRecordSources.end() ? std::nullopt : std::optional(found->name);
}

bool fits_source(const SourceOptions& options, TableFiles& tables) {
  return std::ranges::any_of(kSources, [&](const SourceEntry& source) {
    return (options.source == source.name || options.source == "auto") && source.probe(options, tables);
  });
}

bool fits_source(const SourceOptions& options) {
  TableFiles tables;
  return fits_source(options, tables);
}

std::string_view detected_source(const SourceOptions& options, TableFiles& tables) {
  check_root(options);
  return choose_source(options, tables).name;
}

std::string_view detected_source(const SourceOptions& options) {
  TableFiles tables;
  return detected_source(options, tables);
}

Dataset load_one(const SourceOptions& asked, TableFiles& tables) {
  check_root(asked);
  check_distinct(asked.labels);
  const SourceEntry& source = choose_source(asked, tables);
  for (const auto& [key, column] : {std::pair("data.image", &asked.image), std::pair("data.patient", &asked.patient)}) {
    if (column->empty() || source.name == "csv") continue;
    throw ConfigError(error_text("data.source", key, "data.source=csv, the only format that uses this key",
                                 fmt::format("data.source={}", source.name), fmt::format("removing {}", key)));
  }
  SourceOptions options = asked;
  if (options.patient_namespace.empty()) options.patient_namespace = asked.name.empty() ? source.name : asked.name;
  Listing listing = list_mapped([&](const SourceOptions& own) { return source.list(own, tables); }, options);
  if (options.files == ImageFiles::Needed) check_converted_count(options, source.name, listing);
  settle_patients(listing);
  settle_studies(listing);
  note_other_records(asked, source.name, tables, listing);
  note_other_files(asked, source.name, listing);
  if (options.files == ImageFiles::Needed) {
    check_distinct(listing.label_names);
    filter_views(listing, options);
  }
  std::string split_origin = assign_splits(listing, options);
  note_linked_files(listing);

  Dataset dataset;
  dataset.source = source.name;
  dataset.root = options.root;
  dataset.patient_namespace = std::move(options.patient_namespace);
  dataset.label_names = std::move(listing.label_names);
  dataset.samples = std::move(listing.samples);
  dataset.csv = std::move(listing.csv);
  dataset.csv_sha256 = std::move(listing.csv_sha256);
  dataset.split_origin = std::move(split_origin);
  dataset.notes = std::move(listing.notes);
  dataset.left_out_images = listing.left_out_images;
  dataset.parts = {{.name = asked.name.empty() ? dataset.source : asked.name,
                    .source = dataset.source,
                    .root = dataset.root,
                    .patient_namespace = dataset.patient_namespace,
                    .split_origin = dataset.split_origin,
                    .known_labels = dataset.label_names}};
  return dataset;
}

Dataset load_dataset(const SourceOptions& options, TableFiles& tables) {
  Dataset dataset = options.sources.empty() ? load_one(options, tables) : load_several(options, tables);
  summarise(dataset, options.unknown_labels);
  return dataset;
}

Dataset load_dataset(const SourceOptions& options) {
  TableFiles tables;
  return load_dataset(options, tables);
}

std::vector<std::uint32_t> samples_of(const Dataset& dataset, Split split) {
  std::vector<std::uint32_t> indices;
  for (std::size_t i = 0; i < dataset.samples.size(); ++i) {
    if (dataset.samples[i].split == split) indices.push_back(static_cast<std::uint32_t>(i));
  }
  return indices;
}

std::vector<std::string> patient_hashes(const Dataset& dataset, Split split, std::string_view salt) {
  std::set<std::string> patients;
  for (const auto& sample : dataset.samples) {
    if (sample.split == split && !sample.patient.empty()) patients.insert(sample.patient);
  }
  std::set<std::string> hashes;
  for (const auto& patient : patients) hashes.insert(hash_patient(dataset, patient, salt));
  return {hashes.begin(), hashes.end()};
}

std::vector<PatientSpellings> patient_spellings(const Dataset& dataset, const std::vector<std::uint32_t>& samples,
                                                std::string_view salt) {
  std::set<std::pair<std::string_view, std::string_view>> patients;  // pairs: normal form, id as the table states it
  for (const auto index : samples) {
    const Sample& sample = dataset.samples.at(index);
    if (!sample.patient.empty()) patients.emplace(sample.patient, sample.written_patient);
  }
  std::map<std::string_view, PatientSpellings> spellings;
  for (const auto& [patient, written] : patients) {
    const auto [position, is_new] = spellings.try_emplace(patient);
    PatientSpellings& hashes = position->second;
    const auto hash = [&](const std::string& spelling) { return hash_patient(dataset, spelling, salt); };
    if (!written.empty()) hashes.same.push_back(hash(std::string(written)));
    if (!is_new) continue;
    // In merged data sets, the namespace and a line break precede the patient id.
    const std::size_t own = patient.find('\n') + 1;
    const std::string before(patient.substr(0, own)), name(patient.substr(own));
    hashes.same.push_back(hash(std::string(patient)));
    for (const std::string& same : same_patient_spellings(name)) hashes.same.push_back(hash(before + same));
    for (const std::string& other : leading_zero_spellings(name)) hashes.zeros.push_back(hash(before + other));
  }
  std::vector<PatientSpellings> result;
  for (auto& entry : spellings) result.push_back(std::move(entry.second));
  return result;
}

std::vector<std::string> sample_patient_hashes(const Dataset& dataset, const std::vector<std::uint32_t>& samples,
                                               std::string_view salt) {
  std::vector<std::string> hashes;
  hashes.reserve(samples.size());
  for (const auto index : samples) {
    const std::string& patient = dataset.samples.at(index).patient;
    hashes.push_back(patient.empty() ? std::string() : hash_patient(dataset, patient, salt));
  }
  return hashes;
}

}  // namespace roentgen::data
