// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The source `dicom`: a folder of DICOM files without a table. Frontal chest radiographs by their headers
// (dicom_choice.h), all of them test images without labels; what is left out is counted by kind.
#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/error.h"
#include "data/source/dicom_choice.h"
#include "data/source/image_index.h"
#include "data/source/nih_fields.h"
#include "data/source/placed_rows.h"
#include "data/source/source.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;

/// DICOM files below a folder, by name, each real folder once; hidden names and companion folders are left out.
class DicomWalk {
 public:
  /// Stops after `most` files.
  explicit DicomWalk(std::size_t most) : most_(most) {}

  void folder(const fs::path& path) {
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    if (error || !visited_.insert(real.string()).second) return;
    std::vector<fs::directory_entry> entries;
    for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
      if (!it->path().filename().string().starts_with('.')) entries.push_back(*it);
    }
    std::ranges::sort(entries);
    for (const fs::directory_entry& entry : entries) {
      if (files_.size() >= most_) return;
      if (entry.is_directory(error)) {
        if (!is_companion_folder(entry.path().filename().string())) folder(entry.path());
      } else if (may_be_dicom(entry.path()) && starts_as_dicom(entry.path())) {
        files_.push_back(entry.path());
      }
    }
  }
  [[nodiscard]] const std::vector<fs::path>& files() const { return files_; }

 private:
  std::size_t most_;
  std::vector<fs::path> files_;
  std::set<std::string> visited_;
};

}  // namespace

bool probe_dicom(const SourceOptions& options) {
  if (!options.csv.empty()) return false;
  DicomWalk walk(1);
  walk.folder(options.root);
  return !walk.files().empty();
}

Listing list_dicom(const SourceOptions& options) {
  if (!options.labels.empty()) {
    throw ConfigError(error_text("data.dicom", "labels", "none, since DICOM headers hold no labels",
                                 first_names(options.labels),
                                 "a labels.csv that names the files in a column \"path\""));
  }
  DicomWalk walk(SIZE_MAX);
  walk.folder(options.root);
  Listing listing{.given_splits = "all of a folder without labels"};
  DicomTally tally;
  for (const fs::path& path : walk.files()) {
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
                               .age_years = parse_nih_age(study.value().age)});
  }
  if (const std::string text = tally.text(); !text.empty()) listing.notes.push_back("DICOM files " + text);
  if (listing.samples.empty()) {
    const std::string left_out = tally.text();
    throw DataError(error_text(
        "data.dicom", options.root.string(), "frontal chest radiographs (CR, DX or RG)",
        left_out.empty() ? "no DICOM files" : left_out,
        dicom_support().is_built ? "another --data, or a labels.csv that names the files" : dicom_support().text));
  }
  return listing;
}

}  // namespace roentgen::data
