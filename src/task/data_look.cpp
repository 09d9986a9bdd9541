// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "task/data_look.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/plural.h"
#include "data/source/finding_names.h"
#include "data/source/image_list.h"
#include "data/source/table_fields.h"
#include "data/source/table_files.h"
#include "data/source/table_look.h"
#include "task/image_table.h"

namespace roentgen::task {
namespace {

namespace fs = std::filesystem;

/// Number of images whose headers are read. It is enough to find sizes and formats, and fast on a network file system.
constexpr std::size_t kCensusImages = 500;
/// Labels with fewer positives than this get a warning.
constexpr std::int64_t kFewPositives = 10;

// Joins names and shortens long lists: "a, b, c and 17 more".
std::string joined(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 8;
  return data::first_names(names, kShown);
}

/// Chooses the dataset reader (data.source) for the folder, and the tables to read.
void choose_source(DataLook& look, data::TableFiles& files) {
  data::SourceOptions& source = look.source;
  const bool is_told = source.source != "auto";
  if (std::string reason = choose_image_column(source, files); !reason.empty())
    look.doubts.push_back(std::move(reason));
  if (!is_told && source.csv.empty() && !data::fits_source(source, files) &&
      files.found_in(source.root, source.image).absent.empty()) {
    std::optional<std::int64_t> images;
    try {
      images = std::ssize(data::list_images({source.root.string()}).dataset.samples);
    } catch (const DataError&) {
      // throws an error that lists what each dataset reader expects
      static_cast<void>(data::detected_source(source, files));
    }
    refuse_unlabelled(source.root, images.value_or(0), files);
  }
  if (!is_told) source.source = data::detected_source(source, files);
  if (source.source != "csv" || !source.csv.empty()) return;
  const data::FoundTables& tables = files.found_in(source.root, source.image);
  const bool is_usual = tables.read.size() == 1 && tables.read.front().string().starts_with("labels.csv");
  if (!is_usual) source.csv = tables.read;
  std::ranges::move(data::notes_on(tables), std::back_inserter(look.doubts));
  if (is_told) return;
  if (data::fits_source({.root = source.root, .source = "class_folders"})) {
    look.doubts.emplace_back(
        "the folders may also be classes; data.source = \"class_folders\" reads them as labels instead");
  }
}

/// Throws the error for a table without a column that init can take as labels.
[[noreturn]] void refuse_columns(const std::string& table_name, const data::TableLook& table) {
  std::vector<std::string> candidates = table.unsure;
  std::ranges::copy(table.marked, std::back_inserter(candidates));
  std::string got = "columns " + joined(table.columns), remedy = "adding a column of 1 and 0 for each label";
  if (!table.nearly.empty()) {
    got += fmt::format("; other text in {}", joined(table.nearly));
    remedy = "correcting these lines";
  } else if (!candidates.empty()) {
    if (candidates.size() > 1) got += fmt::format("; class names may be in {}", joined(candidates));
    remedy = fmt::format("--set data.labels={}:VALUE with a value of that column", candidates.front());
    if (!table.marked.empty()) remedy += ", and --set data.blank=negative if an empty field means absent";
  }
  throw DataError(error_text("task.init", table_name, "a column of 1 and 0, or of class names", got, remedy));
}

/// Notes columns that might be labels but are not used.
void note_unused_columns(const data::TableLook& table, DataLook& look) {
  if (!table.unsure.empty()) {
    look.doubts.push_back(
        fmt::format("columns with few values that are not used as labels: {}; to use one, set data.labels = "
                    "[\"COLUMN:VALUE\"]",
                    joined(table.unsure)));
  }
  if (!table.marked.empty()) {
    look.doubts.push_back(
        fmt::format("columns with one text and empty fields are not used as labels: {}; to use one, set data.labels = "
                    "[\"COLUMN:TEXT\"], and data.blank = \"negative\" if an empty field means absent",
                    joined(table.marked)));
  }
  if (!table.nearly.empty()) {
    look.doubts.push_back(
        fmt::format("columns with a few fields other than 1, 0, -1, yes and no are not used as labels: {}; to use "
                    "them, correct these lines",
                    joined(table.nearly)));
  }
  if (!table.absent.empty()) {
    look.doubts.push_back("columns without a positive field are not used as labels: " + joined(table.absent));
  }
}

/// Notes labels that may be no findings: columns of 1 and 0 without the name of a finding, and one of two opposites.
void note_doubtful_labels(const data::TableLook& table, DataLook& look) {
  if (!table.opposite.empty()) {
    look.doubts.push_back(fmt::format(
        "every row of column {0} has one of two values, so only the rarer is a label: {1}; for the other one, set "
        "data.labels = [\"{0}:{2}\"]",
        table.class_column, table.labels.front(), table.opposite));
  }
  if (!table.class_column.empty()) return;
  std::vector<std::string> others;
  std::ranges::copy_if(table.labels, std::back_inserter(others),
                       [](const std::string& name) { return !data::is_known_finding(name); });
  if (others.empty()) return;
  look.doubts.push_back(
      fmt::format("columns of 1 and 0 are used as labels: {}; if one of them is no finding, remove it from data.labels",
                  joined(others)));
}

/// Chooses labels of a csv table, unless they are given or `roentgen convert` wrote the table.
void choose_csv_labels(DataLook& look, data::TableFiles& files) {
  data::SourceOptions& source = look.source;
  const std::vector<fs::path> tables = source.csv.empty() ? files.found_in(source.root, source.image).read : source.csv;
  if (tables.empty()) return;  // load_dataset() then reports the error
  std::vector<fs::path> paths;
  for (const fs::path& one : tables) paths.push_back(source.root / one);
  const fs::path& path = paths.front();
  const io::Csv& rows = files.joined(paths);
  if (rows.rows.size() == 1) {
    throw DataError(error_text("task.init", path.filename().string(),
                               "several rows, of images with and without a label", "one row",
                               "adding a row for each image"));
  }
  const data::TableLook table = data::look_at_table(rows, {.image = source.image, .patient = source.patient});
  if (!table.patient.empty()) look.patient_from = "column " + table.patient;
  if (!source.labels.empty()) return;
  if (fs::exists(source.root / "convert.json")) {
    look.labels_from = "written by roentgen convert";
    return;
  }
  source.labels = table.labels;
  if (source.labels.empty()) refuse_columns(path.filename().string(), table);
  look.labels_from = fmt::format("columns of {} with no values except 1, 0, -1, yes and no", path.filename().string());
  if (!table.class_column.empty()) {
    look.labels_from = fmt::format("values of column {} of {}", table.class_column, path.filename().string());
    if (!table.normals.empty())
      look.labels_from += fmt::format("; {} means that all labels are absent", joined(table.normals));
  }
  note_doubtful_labels(table, look);
  note_unused_columns(table, look);
}

/// Removes labels that have only one class, and warns of rare labels.
void drop_constant_labels(const data::Dataset& dataset, DataLook& look) {
  std::vector<std::string> kept, constant, rare, unknown;
  const std::int64_t images = std::ssize(dataset.samples);
  for (std::size_t k = 0; k < dataset.label_names.size(); ++k) {
    std::int64_t positives = 0, negatives = 0;
    for (const data::SplitSummary& summary : dataset.summaries) {
      positives += summary.labels[k].positives;
      negatives += summary.labels[k].negatives;
    }
    const std::int64_t unknowns = images - positives - negatives;
    if (unknowns > 0) unknown.push_back(fmt::format("{} {}", dataset.label_names[k], unknowns));
    const bool is_constant = positives == 0 || negatives == 0;
    (is_constant ? constant : kept).push_back(dataset.label_names[k]);
    if (!is_constant && std::min(positives, negatives) < kFewPositives) rare.push_back(dataset.label_names[k]);
  }
  if (!unknown.empty()) {
    look.doubts.push_back(
        fmt::format("images with an unknown label (an empty field, none, nan, unknown or -1), of {}: {}; data.blank = "
                    "\"negative\" makes empty fields negative",
                    counted(images, "image"), joined(unknown)));
  }
  if (!constant.empty()) {
    look.doubts.push_back(fmt::format("labels omitted, because all images have the same value: {}", joined(constant)));
  }
  if (!rare.empty()) {
    look.doubts.push_back(
        fmt::format("labels with fewer than {} positive or negative images: {}; their AUROC will be uncertain or "
                    "undefined",
                    kFewPositives, joined(rare)));
  }
  if (constant.empty()) return;
  if (kept.empty()) {
    throw DataError(error_text("task.init", look.source.root.string(), "a label with positive and negative images",
                               "only labels with a single value: " + joined(constant),
                               unknown.empty() ? "more images, or other labels by --set data.labels=NAME"
                                               : "--set data.blank=negative if an empty field means absent"));
  }
  look.source.labels = kept;
}

/// Warns of labels with only one class in the validation or test images.
void warn_of_single_classes(DataLook& look) {
  for (const auto split : {data::Split::Val, data::Split::Test}) {
    const data::SplitSummary& summary = look.dataset.summary(split);
    std::vector<std::string> single;
    for (std::size_t k = 0; k < summary.labels.size(); ++k) {
      const data::LabelCounts& counts = summary.labels[k];
      if (counts.positives == 0 || counts.negatives == 0) single.push_back(look.dataset.label_names[k]);
    }
    if (summary.images == 0 || single.empty()) continue;
    look.doubts.push_back(fmt::format("labels with only one class in the {} images: {}; their AUROC there is undefined",
                                      split == data::Split::Val ? "validation" : "test", joined(single)));
  }
}

/// Chooses labels from the folder names: all except names that mean "no finding".
void choose_folder_labels(const data::Dataset& dataset, DataLook& look) {
  std::vector<std::string> findings, normals;
  for (const std::string& name : dataset.label_names) {
    (data::means_no_finding(name) ? normals : findings).push_back(name);
  }
  look.labels_from = "one folder for each label";
  if (normals.empty() || findings.empty()) return;
  look.source.labels = findings;
  look.labels_from += fmt::format("; images of {} are negatives", joined(normals));
}

std::int64_t without_patient(const data::Dataset& dataset) {
  return std::ranges::count_if(dataset.samples, [](const data::Sample& sample) { return sample.patient.empty(); });
}

/// Selects a split by image if patients are unknown and no split is given.
void settle_patients(const data::Dataset& dataset, DataLook& look) {
  const std::int64_t unknown = without_patient(dataset), images = std::ssize(dataset.samples);
  if (unknown == 0) {
    if (look.patient_from.empty()) look.patient_from = "the data set's own numbers";
    return;
  }
  look.patient_from.clear();
  const bool is_drawn =
      dataset.summary(data::Split::Val).images == 0 && look.source.split.mode != data::SplitMode::Whole;
  if (is_drawn) look.source.split.unit = data::SplitUnit::Image;
  look.doubts.push_back(fmt::format(
      "{}, {}; to split by patient, add a column patient to the table, or set data.patient = \"COLUMN\"",
      unknown == images ? "no patient is known"
                        : fmt::format("the patient is unknown for {} of {}", unknown, counted(images, "image")),
      is_drawn ? "so the split is drawn by image: train and test may contain images of the same patient "
                 "(a leak), and the AUROC will be too high"
               : "so a patient may be in two splits without a warning"));
}

/// Lists the data set as training will. If there are frontal and other views, only the frontal views are kept.
void list_finally(DataLook& look, const data::Dataset& before, data::TableFiles& files) {
  std::set<std::string> views;
  for (const data::Sample& sample : before.samples) {
    if (!sample.view.empty()) views.insert(sample.view);
  }
  data::SourceOptions& source = look.source;
  source.unnamed_labels = data::UnnamedLabels::Refuse;
  if (source.views.empty() && views.size() > 1) {
    source.views = {"frontal"};
    try {
      look.dataset = data::load_dataset(source, files);
      const std::int64_t kept = std::ssize(look.dataset.samples), all = std::ssize(before.samples);
      if (kept < all) {
        look.views_from = fmt::format("{} of {} are frontal or of unknown view; lateral images are omitted", kept,
                                      counted(all, "image"));
        return;
      }
    } catch (const DataError&) {
      // If there are too few frontal images or patients for a data set, all views are kept.
    }
    source.views.clear();
  }
  look.dataset = data::load_dataset(source, files);
}

// Reads the headers of some images, evenly spread.
void take_census(DataLook& look) {
  const data::Dataset& dataset = look.dataset;
  data::Dataset some;
  some.root = dataset.root;
  some.label_names = dataset.label_names;
  const std::size_t stride = std::max<std::size_t>(dataset.samples.size() / kCensusImages, 1);
  for (std::size_t i = 0; i < dataset.samples.size(); i += stride) some.samples.push_back(dataset.samples[i]);
  look.census = data::take_census(some, {});
  for (const data::BrokenImage& image : look.census.broken) {
    look.unreadable.insert(image.sample * static_cast<std::uint32_t>(stride));
  }
}

}  // namespace

DataLook look_at_data(const data::SourceOptions& asked) {
  DataLook look{.source = asked};
  data::TableFiles files;
  if (!asked.labels.empty()) look.labels_from = "as --set says";
  // throws an error that the folder does not exist
  if (!fs::is_directory(asked.root)) static_cast<void>(data::detected_source(asked));
  choose_source(look, files);
  if (look.source.source == "csv") choose_csv_labels(look, files);
  look.source.unnamed_labels = data::UnnamedLabels::Propose;
  const data::Dataset first = data::load_dataset(look.source, files);
  if (first.label_names.empty()) refuse_unlabelled(asked.root, std::ssize(first.samples), files);
  if (look.source.source == "class_folders" && asked.labels.empty()) choose_folder_labels(first, look);
  if (look.source.source == "csv") drop_constant_labels(first, look);
  if (look.labels_from.empty()) look.labels_from = "the data set's own";
  settle_patients(first, look);
  list_finally(look, first, files);
  if (look.dataset.summary(data::Split::Test).images == 0) {
    look.doubts.emplace_back(
        "no test images: the validation images choose the best epoch, so their AUROC is slightly too "
        "high; for test images, set data.split = \"random\" or define a split");
  }
  if (look.dataset.left_out_images > 0) {
    look.doubts.push_back(fmt::format("{} in the folder, not read; roentgen inspect says why",
                                      counted(look.dataset.left_out_images, "image file")));
  }
  warn_of_single_classes(look);
  take_census(look);
  return look;
}

}  // namespace roentgen::task
