// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Dataset reader `dicom`: a folder of DICOM files without a table. It selects frontal chest radiographs by their
// headers (dicom_choice.h). All selected radiographs are test images without labels. Excluded files are counted by
// reason.
#include <fmt/core.h>

#include <utility>
#include <vector>

#include "core/error.h"
#include "data/source/dicom_choice.h"
#include "data/source/folder_walk.h"
#include "data/source/image_index.h"
#include "data/source/nih_fields.h"
#include "data/source/placed_rows.h"
#include "data/source/source.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;

bool is_dicom(const fs::path& path) { return may_be_dicom(path) && starts_as_dicom(path); }

/// Notes tables next to the files, because users may think that they are read.
void note_tables(const SourceOptions& options, Listing& listing) {
  std::vector<std::string> tables;
  for (const fs::directory_entry& entry : sorted_entries(options.root)) {
    const std::string ending = ending_of(entry.path());
    if (ending == ".csv" || ending == ".tsv") tables.push_back(entry.path().filename().string());
  }
  if (tables.empty()) return;
  listing.notes.push_back(fmt::format(
      "tables that are not read: {}; a table next to DICOM files needs a column path or file", first_names(tables)));
}

}  // namespace

bool probe_dicom(const SourceOptions& options, TableFiles& /*tables*/) {
  if (!options.csv.empty()) return false;
  bool has_one = false;
  FolderWalk walk(WalkOrder::Mixed, [&has_one](const fs::path& path) {
    has_one = has_one || is_dicom(path);
    return true;
  });
  walk.stop_when([&has_one] { return has_one; });
  walk.walk(options.root);
  return has_one;
}

Listing list_dicom(const SourceOptions& options, TableFiles& /*tables*/) {
  if (!options.labels.empty()) {
    throw ConfigError(error_text("data.dicom", "labels", "no data.labels, because DICOM headers contain no labels",
                                 first_names(options.labels),
                                 "adding a labels.csv with the file names in a column \"path\""));
  }
  std::vector<fs::path> files;
  FolderWalk walk(WalkOrder::Mixed, [&files](const fs::path& path) {
    if (!is_dicom(path)) return false;
    files.push_back(path);
    return true;
  });
  walk.walk(options.root);
  Listing listing{.given_splits = "the whole folder, which has no labels"};
  Tally tally;
  for (const fs::path& path : files) {
    const auto study = read_dicom_header(path);
    const std::string exclusion = study ? exclusion_of(study.value()) : "unreadable";
    if (!exclusion.empty()) {
      tally.add(exclusion);
      continue;
    }
    listing.samples.push_back({.id = path.lexically_relative(options.root).string(),
                               .path = path,
                               .patient = study.value().patient,
                               .split = Split::Test,
                               .view = view_of(study.value()),
                               .sex = parse_sex(study.value().sex),
                               .age_years = parse_age(study.value().age)});
  }
  if (const std::string text = exclusions_text(tally); !text.empty()) listing.notes.push_back("DICOM files " + text);
  listing.add_notes(walk.left_out().notes("not DICOM"));
  for (const auto& [ending, count] : walk.left_out().files.counts()) {
    if (has_image_extension("image" + ending)) listing.left_out_images += count;
  }
  note_tables(options, listing);
  if (listing.samples.empty()) {
    const std::string left_out = exclusions_text(tally);
    throw DataError(error_text(
        "data.dicom", options.root.string(), "frontal chest radiographs (CR, DX or RG)",
        left_out.empty() ? "no DICOM files" : "only DICOM files " + left_out,
        dicom_support().is_built ? "another --data, or a labels.csv with the file names" : dicom_support().text));
  }
  return listing;
}

}  // namespace roentgen::data
