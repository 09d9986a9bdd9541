// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Dataset reader `padchest`: PADCHEST_chest_x_ray_images_labels_160K_01.02.19.csv, plain or gzipped (Bustos et al.
// 2020). One row per image, Labels as a Python list ("['pleural effusion', 'cardiomegaly']"), 16-bit PNG files at
// ImageDir/ImageID. Lists contain the narrowest labels of a tree (padchest_tree.h). A finding is absent if no label of
// the list means it or may include it. All labels of a row are unknown if its list is missing or uninformative.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <utility>

#include "core/error.h"
#include "data/source/finding_names.h"
#include "data/source/finding_text.h"
#include "data/source/findings.h"
#include "data/source/folder_walk.h"
#include "data/source/label_value.h"
#include "data/source/padchest_tree.h"
#include "data/source/patient.h"
#include "data/source/placed_rows.h"
#include "data/source/set_option.h"
#include "data/source/source.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;

bool is_padchest_table(const std::vector<std::string>& header) {
  return find_column(header, {"ImageID"}) && find_column(header, {"ImageDir"}) && find_column(header, {"Labels"});
}

std::vector<fs::path> table_paths(const SourceOptions& options, TableFiles& tables) {
  std::vector<fs::path> paths = named_tables(options);
  if (!paths.empty()) return paths;
  for (const fs::directory_entry& entry : sorted_entries(options.root)) {
    const fs::path& path = entry.path();
    const std::string name = path.filename().string();
    const bool is_packed = name.ends_with(".csv.gz");
    if (!name.starts_with("PADCHEST") || !(is_packed || name.ends_with(".csv"))) continue;
    // A plain table is preferred to the same one gzipped.
    if (is_packed && plain_or_gzipped(fs::path(path).replace_extension()) != path) continue;
    if (is_padchest_table(tables.header(path))) paths.push_back(path);
  }
  if (paths.size() > 1) {
    throw DataError(error_text("data.padchest", options.root.string(), "only one table PADCHEST...csv",
                               fmt::format("{}", paths.size()),
                               set_option("data.csv", paths.back().filename().string())));
  }
  return paths;
}

/// Items of a list as Python prints it: "['a', \"b's\", ' c']". Returns nullopt for anything else.
std::optional<std::vector<std::string>> parse_list(std::string_view text) {
  text = stripped(text);
  if (!text.starts_with('[') || !text.ends_with(']') || text.size() < 2) return std::nullopt;
  text = stripped(text.substr(1, text.size() - 2));
  std::vector<std::string> items;
  while (!text.empty()) {
    const char quote = text.front();
    const auto end = quote == '\'' || quote == '"' ? text.find(quote, 1) : std::string_view::npos;
    if (end == std::string_view::npos) return std::nullopt;
    items.emplace_back(stripped(text.substr(1, end - 1)));
    text = stripped(text.substr(end + 1));
    if (text.empty()) break;
    if (!text.starts_with(',')) return std::nullopt;
    text = stripped(text.substr(1));
    if (text.empty()) return std::nullopt;
  }
  return items;
}

struct Columns {
  std::optional<std::size_t> image, folder, patient, study, labels, projection, view, sex, birth, date;
};

Columns find_columns(const std::vector<std::string>& header) {
  return {.image = find_column(header, {"ImageID"}),
          .folder = find_column(header, {"ImageDir"}),
          .patient = patient_column(header),
          .study = find_column(header, {"StudyID"}),
          .labels = find_column(header, {"Labels"}),
          .projection = find_column(header, {"Projection"}),
          .view = find_column(header, {"ViewPosition_DICOM"}),
          .sex = find_column(header, {"PatientSex_DICOM"}),
          .birth = find_column(header, {"PatientBirth"}),
          .date = find_column(header, {"StudyDate_DICOM"})};
}

std::optional<int> leading_year(std::string_view text) {
  int year = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + std::min<std::size_t>(text.size(), 4), year);
  if (error != std::errc() || end != text.data() + 4) return std::nullopt;
  return year;
}

/// Years between year of birth ("1950", "1950.0") and study date ("20140915"), exact to a year.
float age_of(const std::vector<std::string>& row, const Columns& columns) {
  const auto birth = leading_year(field(row, columns.birth)), date = leading_year(field(row, columns.date));
  if (!birth || !date) return std::numeric_limits<float>::quiet_NaN();
  return parse_age(std::to_string(*date - *birth));
}

/// View from the column Projection, which radiologists and a network derived: PA, L, AP, AP_horizontal, COSTAL,
/// EXCLUDE.
std::string view_of(const std::vector<std::string>& row, const Columns& columns) {
  const std::string projection = field(row, columns.projection);
  return projection.empty() ? field(row, columns.view) : projection;
}

/// Labels that are not findings, by their spelling_key(). They mean that there is no report (exclude), that the picture
/// shows too little, or that nothing has changed. If a list contains one, findings that it does not name are unknown.
/// "Unchanged" together with "normal" makes nothing unknown.
constexpr std::string_view kExclude = "exclude", kSuboptimal = "suboptimalstudy", kUnchanged = "unchanged";
constexpr std::string_view kNormal = "normal";

bool is_status(std::string_view key) { return key == kExclude || key == kSuboptimal || key == kUnchanged; }

/// A label that occurs in PadChest's label lists, with its relation to each requested label.
struct ListedName {
  /// spelling_key() of the label.
  std::string key;
  /// (K) Relation to each requested label.
  std::vector<PadchestRelation> relations;
};

/// State that is kept while rows are read.
struct Reading {
  const SourceOptions& options;
  Listing& listing;
  PlacedRows rows;
  /// Labels that occur in the table, by name.
  std::map<std::string, ListedName, std::less<>> names{};
  /// Number of images whose list states nothing, and of images whose list names something but leaves other findings
  /// unknown.
  std::int64_t unlabelled = 0, open = 0;
  UnaskedNames unasked{};
};

const ListedName& listed_name(const std::string& named, Reading& reading) {
  const auto [position, is_new] = reading.names.try_emplace(named);
  ListedName& name = position->second;
  if (is_new) {
    name.key = spelling_key(named);
    for (const std::string& label : reading.listing.label_names) {
      name.relations.push_back(padchest_relation(label, named));
    }
  }
  const bool is_asked = std::ranges::any_of(name.relations, [](auto one) { return one != PadchestRelation::None; });
  if (!is_asked && !is_status(name.key) && name.key != kNormal) reading.unasked.add(named);
  return name;
}

/// Labels in a list; empty if there is no list.
std::vector<std::string> parse_labels(const std::string& text, const std::string& where) {
  if (parse_label_value(text) == LabelValue::Empty) return {};
  auto items = parse_list(text);
  if (!items) refuse_row("data.padchest", where, "Labels written as ['a', 'b']", "\"" + text + "\"");
  std::erase(*items, "");
  return std::move(*items);
}

std::vector<float> read_labels(const std::string& text, const std::string& where, Reading& reading) {
  std::vector<std::string_view> keys;
  std::vector<PadchestRelation> said(reading.listing.label_names.size(), PadchestRelation::None);
  for (const std::string& item : parse_labels(text, where)) {
    const ListedName& name = listed_name(item, reading);
    keys.push_back(name.key);
    for (std::size_t k = 0; k < said.size(); ++k) said[k] = std::max(said[k], name.relations[k]);
  }
  const auto names = [&keys](std::string_view key) { return std::ranges::find(keys, key) != keys.end(); };
  const bool is_open = keys.empty() || names(kExclude) || names(kSuboptimal) || (names(kUnchanged) && !names(kNormal));
  const bool says_nothing = std::ranges::all_of(keys, is_status);
  if (is_open) ++(says_nothing ? reading.unlabelled : reading.open);
  const bool has_finding =
      std::ranges::any_of(keys, [](std::string_view key) { return !is_status(key) && key != kNormal; });
  std::vector<float> labels;
  for (std::size_t k = 0; k < said.size(); ++k) {
    const std::string& label = reading.listing.label_names[k];
    const LabelPolicy policy = policy_of(reading.options, label);
    const bool is_known = !is_open || (is_status(spelling_key(label)) && !keys.empty()) ||
                          (has_finding && finding_key(label) == finding_key(kNoFinding));
    const LabelValue value = said[k] == PadchestRelation::Means  ? LabelValue::Positive
                             : said[k] == PadchestRelation::Open ? LabelValue::Uncertain
                             : is_known                          ? LabelValue::Negative
                                                                 : LabelValue::Empty;
    labels.push_back(label_number(value, policy));
  }
  return labels;
}

void read_table(const io::Csv& table, const fs::path& path, Reading& reading) {
  const std::string what = path.filename().string();
  if (!is_padchest_table(table.header)) {
    throw DataError(error_text("data.padchest", what, "columns ImageID, ImageDir and Labels",
                               "only the columns " + first_names(table.header, table.header.size()),
                               "naming another table in data.csv"));
  }
  const Columns columns = find_columns(table.header);
  for_each_row(table, what, "data.padchest", [&](const std::vector<std::string>& row, const std::string& where) {
    Sample sample{.id = field(row, columns.image),
                  .patient = field(row, columns.patient),
                  .study = field(row, columns.study),
                  .view = view_of(row, columns),
                  .sex = parse_sex(field(row, columns.sex)),
                  .age_years = age_of(row, columns)};
    if (sample.id.empty()) refuse_row("data.padchest", where, "an ImageID", "an empty field");
    const fs::path& root = reading.options.root;
    const fs::path folder = field(row, columns.folder);
    // Candidate paths of the image in three layouts: as published, all images in one folder, and as the zip files
    // unpack.
    const std::vector<fs::path> places{root / sample.id, root / "images" / sample.id, root / folder / sample.id};
    reading.rows.add(std::move(sample), places, where,
                     [&] { return read_labels(field(row, columns.labels), where, reading); });
  });
}

/// Throws ConfigError for requested labels that occur in no row and in no known data set, because they are probably
/// typos.
void check_labels(const Reading& reading) {
  std::vector<std::string> met;
  for (const auto& entry : reading.names) met.push_back(entry.first);
  for (std::size_t k = 0; k < reading.listing.label_names.size(); ++k) {
    const std::string& label = reading.listing.label_names[k];
    const std::string key = finding_key(label);
    const auto is_it = [&key](std::string_view finding) { return finding_key(finding) == key; };
    const bool is_met = std::ranges::any_of(
        reading.names, [k](const auto& entry) { return entry.second.relations[k] != PadchestRelation::None; });
    if (is_met || std::ranges::any_of(kNihFindings, is_it) || is_it(kNoFinding)) continue;
    if (reading.options.unknown_labels == UnknownLabels::Mask) {
      mask_label(reading.listing, k);
      continue;
    }
    throw ConfigError(error_text("data.labels", label, "a label that occurs in the table",
                                 "a name other than " + first_names(met, 20), "one of these names in data.labels"));
  }
}

/// Counts unknown labels without printing them.
void note_unknown(const Reading& reading) {
  if (reading.unlabelled > 0) {
    reading.listing.notes.push_back(
        fmt::format("images without labels, unknown or labelled by data.blank: {}", reading.unlabelled));
  }
  if (reading.open > 0) {
    reading.listing.notes.push_back(fmt::format(
        "images with a label (unchanged, suboptimal study, exclude) that leaves the others unknown: {}", reading.open));
  }
  std::string unasked = reading.unasked.note("findings that no label uses", reading.listing.label_names);
  if (!unasked.empty()) reading.listing.notes.push_back(std::move(unasked));
}

}  // namespace

bool probe_padchest(const SourceOptions& options, TableFiles& tables) {
  const auto paths = table_paths(options, tables);
  return !paths.empty() &&
         std::ranges::all_of(paths, [&](const fs::path& path) { return is_padchest_table(tables.header(path)); });
}

Listing list_padchest(const SourceOptions& options, TableFiles& tables) {
  Listing listing{.label_names = options.labels, .csv = table_paths(options, tables)};
  if (listing.csv.empty()) {
    throw DataError(error_text("data.padchest", options.root.string(), "a table PADCHEST...csv", "no such table",
                               "--data with the folder that contains it, or --set data.csv=FILE"));
  }
  if (listing.label_names.empty()) listing.label_names.assign(kNihFindings.begin(), kNihFindings.end());
  check_label_policies(options, listing.label_names);
  check_distinct_findings(listing.label_names);
  const TableRefs read = read_tables(listing, "data.padchest", tables);
  Reading reading{.options = options, .listing = listing, .rows = PlacedRows(options, listing)};
  for (std::size_t i = 0; i < read.size(); ++i) read_table(read[i], listing.csv[i], reading);
  reading.rows.settle();
  check_labels(reading);
  note_unknown(reading);
  return listing;
}

}  // namespace roentgen::data
