// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Dataset reader `mimic`: MIMIC-CXR-JPG (Johnson et al. 2019). It has three tables, plain or gzipped. ...-metadata.csv
// lists the images, ...-chexpert.csv or ...-negbio.csv has the labels of each study, and ...-split.csv the split of
// each image. An image lies at files/p10/p10000032/s50414267/<dicom_id>.jpg.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "core/error.h"
#include "data/source/chexpert_labels.h"
#include "data/source/folder_walk.h"
#include "data/source/label_value.h"
#include "data/source/placed_rows.h"
#include "data/source/source.h"
#include "data/source/split.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;

/// Paths of the three tables; empty if absent.
struct Tables {
  fs::path metadata, labels, split;
};

bool is_called(const fs::path& path, std::string_view part) {
  const std::string name = path.filename().string();
  return name.ends_with(fmt::format("-{}.csv", part)) || name.ends_with(fmt::format("-{}.csv.gz", part));
}

/// Assigns a file to its table. Plain files are preferred to gzipped files, and chexpert to negbio.
void sort_in(const fs::path& path, Tables& tables) {
  const auto put = [&path](fs::path& place) {
    if (place.empty() || place.extension() == ".gz") place = path;
  };
  if (is_called(path, "metadata")) put(tables.metadata);
  if (is_called(path, "split")) put(tables.split);
  const bool is_chexpert = is_called(path, "chexpert");
  if (is_chexpert || is_called(path, "negbio")) {
    const bool is_other_labeller = !tables.labels.empty() && is_called(tables.labels, "chexpert") != is_chexpert;
    if (!is_other_labeller) {
      put(tables.labels);
    } else if (is_chexpert) {
      tables.labels = path;
    }
  }
}

/// Finds the folder's tables; tables in data.csv replace them. A table in data.csv without a usual name is the label
/// table. Throws DataError if data.csv names two tables for one purpose.
Tables find_tables(const SourceOptions& options) {
  Tables tables, named;
  for (const fs::directory_entry& entry : sorted_entries(options.root)) {
    std::error_code unreadable;
    if (entry.is_regular_file(unreadable)) sort_in(entry.path(), tables);
  }
  const bool has_metadata = !tables.metadata.empty() || std::ranges::any_of(options.csv, [](const fs::path& path) {
    return is_called(path, "metadata");
  });
  for (const fs::path& path : options.csv) {
    const bool is_metadata = is_called(path, "metadata"), is_split = is_called(path, "split");
    fs::path& place = is_metadata ? named.metadata : is_split ? named.split : named.labels;
    if (!place.empty() && has_metadata) {  // without metadata the folder belongs to another dataset reader
      throw DataError(error_text("data.mimic", "data.csv",
                                 is_metadata ? "only one table of metadata"
                                 : is_split  ? "only one table of splits"
                                             : "only one table of labels",
                                 place.filename().string() + " and " + path.filename().string(),
                                 "leaving one of the two out"));
    }
    place = below_root(options, path);
  }
  if (!named.metadata.empty()) tables.metadata = named.metadata;
  if (!named.split.empty()) tables.split = named.split;
  if (!named.labels.empty()) tables.labels = named.labels;
  return tables;
}

std::size_t need_column(const io::Csv& table, const fs::path& path, std::string_view name) {
  if (const auto column = find_column(table.header, {name})) return *column;
  refuse_row("data.mimic", path.filename().string(), fmt::format("a column \"{}\"", name),
             "only the columns " + first_names(table.header, table.header.size()));
}

using StudyLabels = std::unordered_map<std::string, std::vector<float>>;

std::string study_key(const std::string& subject, const std::string& study) { return subject + "/" + study; }

StudyLabels read_labels(const io::Csv& table, const fs::path& path, const SourceOptions& options,
                        const std::vector<std::string>& names) {
  const std::size_t subject = need_column(table, path, "subject_id"), study = need_column(table, path, "study_id");
  const ChexpertLabels labels(table.header, options, names, path.filename().string());
  StudyLabels result;
  for_each_row(table, path.filename().string(), "data.mimic", [&](const auto& row, const std::string& where) {
    const bool is_new =
        result.try_emplace(study_key(field(row, subject), field(row, study)), labels.read(row, where)).second;
    if (!is_new) refuse_row("data.mimic", where, "each study once", "a second row of the same study");
  });
  return result;
}

using ImageSplits = std::unordered_map<std::string, Split>;

ImageSplits read_splits(const io::Csv& table, const fs::path& path) {
  const std::size_t image = need_column(table, path, "dicom_id"), column = need_column(table, path, "split");
  ImageSplits result;
  for_each_row(table, path.filename().string(), "data.mimic", [&](const auto& row, const std::string& where) {
    const std::string name = field(row, column);
    const auto split = find_split(name);
    if (!split) refuse_row("data.mimic", where, "train, validate or test", "\"" + name + "\"");
    const bool is_new = result.try_emplace(field(row, image), *split).second;
    if (!is_new) refuse_row("data.mimic", where, "each image once", "a second row of the same image");
  });
  return result;
}

/// Candidate paths such as files/p10/p10000032/s50414267/<image>.jpg, and shorter paths for resized or moved images.
/// MIMIC-CXR itself has .dcm files at these paths.
std::vector<fs::path> places_of(const fs::path& root, const fs::path& name) {
  std::vector<fs::path> places;
  for (const char* extension : {".png", ".jpg", ".dcm"}) {
    const fs::path file = fs::path(name).replace_extension(extension);
    for (const fs::path& folder : {root, root / "files"}) {
      places.push_back(folder / file.filename());
      places.push_back(folder / file);
    }
  }
  return places;
}

/// Labels and splits from the other tables, used while the table of images is read.
struct Reading {
  const SourceOptions& options;
  Listing& listing;
  StudyLabels labels{};
  /// Split of each image; nullopt if there is no split table.
  std::optional<ImageSplits> splits{};
};

void read_images(const io::Csv& table, const fs::path& path, Reading& reading) {
  const std::size_t image = need_column(table, path, "dicom_id"), subject = need_column(table, path, "subject_id");
  const std::size_t study = need_column(table, path, "study_id");
  const auto view = find_column(table.header, {"ViewPosition"});
  std::int64_t without_labels = 0, without_split = 0;
  std::vector<std::string>& notes = reading.listing.notes;
  PlacedRows rows(reading.options, reading.listing);
  for_each_row(table, path.filename().string(), "data.mimic", [&](const auto& row, const std::string& where) {
    const std::string dicom = field(row, image), patient = field(row, subject), examination = field(row, study);
    if (dicom.empty() || patient.size() < 2 || examination.empty()) {
      refuse_row("data.mimic", where, "values for dicom_id, subject_id and study_id", "an empty or short one");
    }
    Sample sample{.id = fmt::format("p{}/p{}/s{}/{}.jpg", patient.substr(0, 2), patient, examination, dicom),
                  .patient = patient,
                  .view = field(row, view)};
    const auto found = reading.labels.find(study_key(patient, examination));
    if (found == reading.labels.end()) {
      ++without_labels;
      rows.pass_over(places_of(reading.options.root, sample.id));
      return;
    }
    if (reading.splits) {
      const auto split = reading.splits->find(dicom);
      if (split == reading.splits->end()) ++without_split;
      if (split != reading.splits->end()) sample.split = split->second;
    }
    const std::vector<fs::path> places = places_of(reading.options.root, sample.id);
    rows.add(std::move(sample), places, where, [&found] { return found->second; });
  });
  if (without_labels > 0) {
    notes.push_back(fmt::format("images of studies without labels, left out: {}", without_labels));
  }
  if (without_split > 0)
    notes.push_back(fmt::format("images that the split table does not name, in no split: {}", without_split));
  rows.settle();
}

}  // namespace

bool probe_mimic(const SourceOptions& options, TableFiles& tables) {
  const Tables found = find_tables(options);
  return !found.metadata.empty() && !found.labels.empty() &&
         find_column(tables.header(found.metadata), {"dicom_id"}).has_value();
}

Listing list_mimic(const SourceOptions& options, TableFiles& tables) {
  const Tables found = find_tables(options);
  if (found.metadata.empty() || found.labels.empty()) {
    throw DataError(error_text("data.mimic", options.root.string(),
                               "tables called ...-metadata.csv and ...-chexpert.csv (or .csv.gz)",
                               found.metadata.empty() ? "no ...-metadata.csv" : "no table of labels",
                               "moving the tables next to the folder \"files\", or --set data.csv=FILE"));
  }
  Listing listing{.label_names = chexpert_label_names(options)};
  check_label_policies(options, listing.label_names);
  listing.csv = {found.labels};
  if (!found.split.empty()) listing.csv.push_back(found.split);
  listing.csv.push_back(found.metadata);
  const TableRefs read = read_tables(listing, "data.mimic", tables);
  Reading reading{.options = options, .listing = listing};
  reading.labels = read_labels(read.front(), found.labels, options, listing.label_names);
  if (!found.split.empty()) {
    reading.splits = read_splits(read[1], found.split);
    listing.given_splits = "column split of " + found.split.filename().string();
  }
  read_images(read.back(), found.metadata, reading);
  return listing;
}

}  // namespace roentgen::data
