// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Dataset reader `nih`: ChestX-ray14 and data sets of the same form. Image files lie anywhere below the folder and are
// found by base name. A csv has "Image Index" and "Finding Labels": Data_Entry_2017.csv, with a trailing comma and ages
// like 058Y, or Data_Entry_2017_v2020.csv. Without a csv, lists with labels are read ("name 0 1 0 ...", 14 values in
// CheXNet's order). Labels: the findings of the csv, "No Finding", "View:AP", "View:PA", "Sex:M", "Sex:F"; other
// columns of the csv by name, and "Column:value". The full set has 112,120 images of 30,805 patients.
// docs/reference/data.md lists the positives in both csv versions.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "core/error.h"
#include "data/source/finding_names.h"
#include "data/source/finding_text.h"
#include "data/source/findings.h"
#include "data/source/folder_walk.h"
#include "data/source/image_index.h"
#include "data/source/label_value.h"
#include "data/source/nih_fields.h"
#include "data/source/patient.h"
#include "data/source/placed_rows.h"
#include "data/source/set_option.h"
#include "data/source/source.h"
#include "data/source/split_lists.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kImageColumn = "Image Index";
constexpr std::string_view kFindingsColumn = "Finding Labels";

/// Column of a label "NAME", which contains 1, 0 and -1, or of a label "NAME:VALUE", which contains texts. Not the
/// column of findings.
struct OwnColumn {
  std::size_t column = 0;
  std::optional<FindingText> value{};
};

struct Columns {
  std::optional<std::size_t> image{}, findings{};
  FactColumns facts{};
  /// (K) Column of each label; nullopt if the label is read from the findings, the view or the sex.
  std::vector<std::optional<OwnColumn>> own{};
};

/// State that is passed from table to table while rows are read.
struct Reading {
  const SourceOptions& options;
  Listing& listing;
  ImageIndex index;
  FindingText text;
  /// Indices into listing.samples by image name; nullopt for absent images.
  std::unordered_map<std::string, std::optional<std::size_t>> seen{};
  std::vector<std::string> absent{}, ambiguous{};
  Repeats repeats{};
  std::int64_t rows = 0;
  std::int64_t odd_ages = 0;
  /// True for labels that have a column in some table.
  std::vector<bool> has_own{};
  /// Number of rows without any statement about findings.
  std::int64_t unlabelled = 0;
};

std::optional<std::size_t> name_column(const std::vector<std::string>& header, ImageFiles files) {
  const auto own = find_column(header, {kImageColumn});
  return own || files == ImageFiles::Needed ? own : image_column(header, files);
}

bool is_nih_table(const std::vector<std::string>& header, ImageFiles files) {
  return name_column(header, files) && find_column(header, {kFindingsColumn});
}

/// File name without ".gz".
std::string_view plain_name(std::string_view name) {
  return name.ends_with(".gz") ? name.substr(0, name.size() - 3) : name;
}

/// The csv files to read: those in data.csv, else the csv with NIH's name, else labels.csv, else the only csv with
/// NIH's columns.
std::vector<fs::path> table_paths(const SourceOptions& options, TableFiles& tables) {
  std::vector<fs::path> paths = named_tables(options);
  if (!paths.empty()) return paths;
  std::vector<std::string> official, others;
  for (const fs::directory_entry& entry : sorted_entries(options.root)) {
    const std::string name = entry.path().filename().string();
    // A plain table is preferred to the same one gzipped.
    const bool is_table =
        plain_name(name).ends_with(".csv") && plain_or_gzipped(options.root / plain_name(name)) == options.root / name;
    if (!is_table || !is_nih_table(tables.header(entry.path()), options.files)) continue;
    (name.starts_with("Data_Entry") ? official : others).push_back(name);
  }
  const auto usual = std::ranges::find(others, "labels.csv", [](const auto& name) { return plain_name(name); });
  if (official.empty() && usual != others.end()) return {options.root / *usual};
  auto& found = official.empty() ? others : official;
  if (found.size() > 1) {
    throw DataError(error_text("data.nih", options.root.string(), "only one csv with a column \"Finding Labels\"",
                               first_names(found), set_option("data.csv", found.back())));
  }
  for (const auto& name : found) paths.push_back(options.root / name);
  return paths;
}

/// True for labels that a row's findings name; nullopt if the row states no findings.
using RowFindings = std::optional<std::vector<bool>>;

/// Value of label number `k` in one row.
float read_label(std::size_t k, const RowFindings& named, const Sample& sample, const Reading& reading) {
  const std::string& label = reading.listing.label_names[k];
  const LabelPolicy policy = policy_of(reading.options, label);
  const bool is_view = label.starts_with("View:");
  if (is_view || label.starts_with("Sex:")) {
    const std::string& value = is_view ? sample.view : sample.sex;
    if (parse_label_value(is_view ? value : parse_sex(value)) == LabelValue::Empty) {
      return label_number(LabelValue::Empty, policy);
    }
    const std::string wanted = label.substr(label.find(':') + 1);
    const bool is_it =
        spelling_key(value) == spelling_key(wanted) || (!is_view && parse_sex(value) == parse_sex(wanted));
    return is_it ? 1.0F : 0.0F;
  }
  if (!named) return label_number(LabelValue::Empty, policy);
  return named->at(k) ? 1.0F : 0.0F;
}

/// Value of label `k` from its own column.
float read_own(OwnColumn& own, std::size_t k, const std::vector<std::string>& row, const std::string& where,
               const Reading& reading) {
  const std::string& label = reading.options.labels[k];  // spelling in the request
  const LabelPolicy policy = policy_of(reading.options, reading.listing.label_names[k]);
  const std::string text = field(row, own.column);
  if (own.value) {
    if (text.empty()) return label_number(LabelValue::Empty, policy);
    return own.value->read(text).front() ? 1.0F : 0.0F;
  }
  if (const auto value = parse_label_value(text)) return label_number(*value, policy);
  throw DataError(error_text("data.labels", where, "1, 0, -1, yes, no or an empty field for " + label,
                             "\"" + text + "\"", "correcting that line"));
}

/// Finds the image file of a row, if it is needed. Returns false if it is absent.
bool find_image(Sample& sample, Reading& reading) {
  if (reading.options.files == ImageFiles::Unneeded) return true;
  const fs::path* path = reading.index.find(sample.id);
  if (path == nullptr) {
    if (const fs::path* folder = reading.index.folder(sample.id)) {
      throw DataError(
          error_text("data.nih", folder->string(), "an image file", "a folder", "moving the image to this path"));
    }
    reading.absent.push_back(sample.id);
    return false;
  }
  if (const fs::path* other = reading.index.second(sample.id)) {
    reading.ambiguous.push_back(sample.id + " in " + path->parent_path().filename().string() + " and " +
                                other->parent_path().filename().string());
  }
  sample.path = *path;
  return true;
}

/// Labels of a row. Its view and sex are already in the sample.
std::vector<float> read_labels(const std::vector<std::string>& row, const Sample& sample, Columns& columns,
                               const std::string& where, Reading& reading) {
  const std::string findings = field(row, columns.findings);
  RowFindings named;
  if (parse_label_value(findings) != LabelValue::Empty) named = reading.text.read(findings);
  std::vector<float> labels;
  for (std::size_t k = 0; k < reading.listing.label_names.size(); ++k) {
    const bool is_own = !columns.own.empty() && columns.own[k];
    labels.push_back(is_own ? read_own(*columns.own[k], k, row, where, reading)
                            : read_label(k, named, sample, reading));
  }
  return labels;
}

void read_row(const std::vector<std::string>& row, Columns& columns, const std::string& where, Reading& reading) {
  Sample sample{.id = fs::path(field(row, columns.image)).filename().string(),
                .path = {},
                .patient = canonical_patient(field(row, columns.facts.patient))};
  read_facts(row, columns.facts, sample);
  ++reading.rows;
  const auto [position, is_new] = reading.seen.try_emplace(sample.id);
  if (!is_new) {
    const std::vector<Sample>& samples = reading.listing.samples;
    reading.repeats.add(reading.options.files == ImageFiles::Needed ? sample.id : where,
                        position->second && are_contradictory(samples[*position->second].labels,
                                                              read_labels(row, sample, columns, where, reading)));
    return;
  }
  if (!find_image(sample, reading)) return;
  position->second = reading.listing.samples.size();
  if (normal_patient(sample.patient).empty()) sample.patient = canonical_patient(sample.id);
  if (!field(row, columns.facts.age).empty() && std::isnan(sample.age_years)) ++reading.odd_ages;
  if (parse_label_value(field(row, columns.findings)) == LabelValue::Empty) ++reading.unlabelled;
  sample.labels = read_labels(row, sample, columns, where, reading);
  reading.listing.samples.push_back(std::move(sample));
}

bool names_finding(const TableRefs& tables, const std::string& finding) {
  return std::ranges::any_of(tables, [&finding](const io::Csv& table) {
    const auto column = find_column(table.header, {kFindingsColumn});
    return column && std::ranges::any_of(table.rows, [&](const auto& row) {
             return std::ranges::count(split_findings(field(row, column)), finding) > 0;
           });
  });
}

/// Finds the column "NAME", or NAME for a label "NAME:VALUE". Returns nullopt for findings, views and sexes.
std::optional<OwnColumn> find_own(const TableRefs& tables, const std::vector<std::string>& header,
                                  const std::string& label) {
  const bool is_nihs = std::ranges::find(kNihFindings, label) != kNihFindings.end() || label == kNoFinding;
  if (is_nihs || label.starts_with("View:") || label.starts_with("Sex:") || names_finding(tables, label)) return {};
  if (const auto column = finding_column(header, label)) return OwnColumn{.column = *column};
  const auto colon = label.find(':');
  if (colon == std::string::npos) return {};
  const auto column = finding_column(header, label.substr(0, colon));
  if (!column) return {};
  return OwnColumn{.column = *column, .value = FindingText({label.substr(colon + 1)})};
}

void read_table(const TableRefs& tables, std::size_t which, Reading& reading) {
  const io::Csv& table = tables[which];
  const std::string what = reading.listing.csv[which].filename().string();
  Columns columns{.image = name_column(table.header, reading.options.files),
                  .findings = find_column(table.header, {kFindingsColumn}),
                  .facts = find_facts(table.header)};
  FactColumns& facts = columns.facts;
  const auto prefer = [&table](std::optional<std::size_t>& fact, const std::vector<std::string_view>& names) {
    if (const auto own = find_column(table.header, names)) fact = own;
  };
  prefer(facts.patient, {"Patient ID"});
  prefer(facts.view, {"View Position"});
  prefer(facts.sex, {"Patient Gender", "Patient Sex"});
  prefer(facts.age, {"Patient Age"});
  if (!columns.image || !columns.findings) {
    throw DataError(error_text("data.nih", what, "columns \"Image Index\" and \"Finding Labels\"",
                               "only " + first_names(table.header, table.header.size()),
                               "naming another table in data.csv"));
  }
  const std::string_view source =
      facts.patient ? "patients are read from another column" : "patients are read from the image names";
  reading.listing.add_notes(notes_on_unread_patients(table.header, {facts.patient}, what, source));
  for (std::size_t k = 0; k < reading.listing.label_names.size(); ++k) {
    columns.own.push_back(find_own(tables, table.header, reading.listing.label_names[k]));
    if (columns.own.back()) reading.has_own[k] = true;
  }
  const std::size_t needed = 1 + std::max({*columns.image, *columns.findings, facts.patient.value_or(0),
                                           facts.age.value_or(0), facts.sex.value_or(0), facts.view.value_or(0)});
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (table.rows[i].size() < needed || field(table.rows[i], columns.image).empty()) {
      throw DataError(error_text("data.nih", fmt::format("{} line {}", what, table.lines[i]),
                                 fmt::format("an image name and at least {} fields", needed),
                                 fmt::format("{} fields", table.rows[i].size()), "correcting that line"));
    }
    read_row(table.rows[i], columns, fmt::format("line {}", table.lines[i]), reading);
  }
}

/// Reads rows from split lists with labels, if there is no csv.
void read_lists(Reading& reading) {
  const SplitLists lists = find_split_lists(reading.options);
  for (const auto* list : {&lists.train_val, &lists.train, &lists.val, &lists.test}) {
    if (!*list) continue;
    for (std::size_t i = 0; i < (*list)->names.size(); ++i) {
      const auto& marks = (*list)->labels[i];
      if (marks.size() != kNihFindings.size()) {
        throw DataError(error_text("data.nih", (*list)->path.string(),
                                   "14 labels (0 or 1) after each image name, because there is no csv",
                                   fmt::format("{}", marks.size()), "--set data.csv=Data_Entry_2017_v2020.csv"));
      }
      std::string findings;
      for (std::size_t k = 0; k < marks.size(); ++k) {
        if (marks[k] > 0.0F) findings += (findings.empty() ? "" : "|") + std::string(kNihFindings[k]);
      }
      const std::string name = fs::path((*list)->names[i]).filename().string();
      Columns columns{.image = 0, .findings = 1};
      read_row({name, findings.empty() ? std::string(kNoFinding) : findings}, columns, (*list)->path.string(), reading);
    }
  }
  reading.listing.notes.emplace_back(
      "no csv: labels are read from the lists, patients from the image names; view and sex are unknown");
}

/// Throws ConfigError for labels that cannot occur in any row, or makes them unknown in all rows, depending on the
/// options.
void check_labels(const Reading& reading) {
  Listing& listing = reading.listing;
  for (std::size_t k = 0; k < listing.label_names.size(); ++k) {
    const std::string& label = listing.label_names[k];
    const bool known = label == kNoFinding || reading.text.has_met(k) || label.starts_with("View:") ||
                       label.starts_with("Sex:") || reading.has_own[k] ||
                       std::find(kNihFindings.begin(), kNihFindings.end(), label) != kNihFindings.end();
    if (known) continue;
    if (reading.options.unknown_labels == UnknownLabels::Refuse) {
      throw ConfigError(error_text("data.labels", label,
                                   "a finding of the csv, or a label such as \"No Finding\", View:AP or Sex:M",
                                   "a name other than " + first_names({kNihFindings.begin(), kNihFindings.end()}, 14),
                                   "one of these names in data.labels"));
    }
    mask_label(listing, k);
  }
}

void settle_ambiguous(const Reading& reading) {
  if (reading.ambiguous.empty()) return;
  const std::string got = fmt::format("{} in two folders", reading.ambiguous.size());
  if (reading.options.duplicates == Duplicates::Refuse) {
    throw DataError(error_text("data.nih", reading.options.root.string(), "each image in one folder only",
                               fmt::format("{} ({})", got, first_names(reading.ambiguous, 2)),
                               "--set data.images=FOLDER to search one folder, or --set data.duplicates=first"));
  }
  reading.listing.notes.push_back("repeated files, the first is kept: " + got);
}

/// Name of a label in the tables: NIH's name of the finding, unless the tables have exactly the requested name.
std::string name_in(const TableRefs& tables, const std::string& label) {
  if (label.find(':') != std::string::npos) return label;
  const std::string name = canonical_finding(label);
  const std::string key = finding_key(label);
  const auto nih = std::ranges::find_if(kNihFindings, [&key](auto finding) { return finding_key(finding) == key; });
  if (nih == kNihFindings.end() || *nih == name || names_finding(tables, name)) return name;
  return std::string(*nih);
}

}  // namespace

bool probe_nih(const SourceOptions& options, TableFiles& tables) {
  const auto paths = table_paths(options, tables);
  if (!paths.empty()) {
    return std::all_of(paths.begin(), paths.end(),
                       [&](const fs::path& path) { return is_nih_table(tables.header(path), options.files); });
  }
  const SplitLists lists = find_split_lists(options);
  const auto has_marks = [](const std::optional<NameList>& list) {
    return list && list->labels.front().size() == kNihFindings.size();
  };
  return has_marks(lists.train_val) || has_marks(lists.train) || has_marks(lists.test);
}

Listing list_nih(const SourceOptions& options, TableFiles& tables) {
  Listing listing;
  listing.csv = table_paths(options, tables);
  const TableRefs read = read_tables(listing, "data.nih", tables);
  for (const auto& label : options.labels) listing.label_names.push_back(name_in(read, label));
  if (listing.label_names.empty()) listing.label_names.assign(kNihFindings.begin(), kNihFindings.end());
  check_label_policies(options, listing.label_names);

  std::vector<fs::path> folders;
  for (const auto& folder : options.images) folders.push_back(below_root(options, folder));
  if (folders.empty()) folders.push_back(options.root);
  if (options.files == ImageFiles::Unneeded) folders.clear();
  Reading reading{.options = options,
                  .listing = listing,
                  .index = ImageIndex(folders),
                  .text = FindingText(listing.label_names),
                  .has_own = std::vector<bool>(listing.label_names.size())};
  for (std::size_t i = 0; i < read.size(); ++i) read_table(read, i, reading);
  if (read.empty()) read_lists(reading);
  check_labels(reading);
  settle_repeated(reading.repeats, options, listing);
  settle_absent(reading.absent, reading.rows, options, listing);
  settle_ambiguous(reading);
  if (const auto listed = static_cast<std::int64_t>(listing.samples.size()); reading.index.images() > listed) {
    listing.left_out_images = reading.index.images() - listed;
    listing.notes.push_back(fmt::format("image files that are not in the table: {}", reading.index.images() - listed));
  }
  if (reading.unlabelled > 0) {
    listing.notes.push_back(
        fmt::format("images without findings, unknown or labelled by data.blank: {}", reading.unlabelled));
  }
  if (std::string note = reading.text.note("findings that no label uses"); !note.empty()) {
    listing.notes.push_back(std::move(note));
  }
  if (reading.odd_ages > 0) listing.notes.push_back(fmt::format("invalid ages, read as unknown: {}", reading.odd_ages));
  return listing;
}

}  // namespace roentgen::data
