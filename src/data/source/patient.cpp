// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/patient.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/error.h"
#include "core/lower_case.h"
#include "core/plural.h"
#include "data/source/finding_names.h"
#include "data/source/source.h"

namespace roentgen::data {
namespace {

constexpr std::string_view kDigits = "0123456789";

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of(kDigits) == std::string_view::npos;
}

bool names_nobody(std::string_view text) {
  constexpr std::array<std::string_view, 7> kNobody{"nan", "na", "n/a", "<na>", "none", "null", "unknown"};
  return std::ranges::find(kNobody, lower_case(text)) != kNobody.end();
}

/// Removes blanks around a text, including no-break spaces, which occur in tables from web pages.
std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view kNoBreakSpace = "\xC2\xA0";
  for (std::size_t before = text.size() + 1; text.size() < before;) {
    before = text.size();
    text = stripped(text);
    if (text.starts_with(kNoBreakSpace)) text.remove_prefix(kNoBreakSpace.size());
    if (text.ends_with(kNoBreakSpace)) text.remove_suffix(kNoBreakSpace.size());
  }
  return text;
}

std::string without_leading_zeros(std::string_view number) {
  return std::string(number.substr(std::min(number.find_first_not_of('0'), number.size() - 1)));
}

/// Counts numbers that occur in several spellings that differ in leading zeros.
std::int64_t count_ambiguous(const std::vector<Sample>& samples) {
  std::unordered_map<std::string, std::string> first;
  std::unordered_set<std::string> ambiguous;
  for (const Sample& sample : samples) {
    if (!is_number(sample.patient)) continue;
    const std::string number = without_leading_zeros(sample.patient);
    const auto [position, is_new] = first.try_emplace(number, sample.patient);
    if (!is_new && position->second != sample.patient) ambiguous.insert(number);
  }
  return std::ssize(ambiguous);
}

/// True for a number as spreadsheets show long ones: "1.23457E+12" or "1,2345E+12".
bool is_rounded_number(std::string_view text) {
  const auto exponent = text.find_first_of("Ee");
  if (exponent == std::string_view::npos || !text.substr(exponent + 1).starts_with('+')) return false;
  const std::string_view mantissa = text.substr(0, exponent);
  const bool is_whole = mantissa.size() == 1;
  const bool has_fraction = mantissa.size() > 2 && (mantissa[1] == '.' || mantissa[1] == ',');
  return is_number(text.substr(exponent + 2)) && is_number(mantissa.substr(0, 1)) &&
         (is_whole || (has_fraction && is_number(mantissa.substr(2))));
}

/// Throws DataError if several images have patient numbers that a spreadsheet rounded, which merges patients.
void refuse_rounded_patients(const Listing& listing) {
  const auto rounded = std::ranges::count_if(
      listing.samples, [](const Sample& sample) { return is_rounded_number(without_blanks(sample.patient)); });
  if (rounded < 2) return;
  throw DataError(error_text(
      "data.patient", listing.csv.empty() ? std::string("the data") : listing.csv.front().filename().string(),
      "whole patient numbers",
      fmt::format("numbers like 1.23E+12 for {}: a spreadsheet rounded them, so different patients look like one",
                  counted(rounded, "image")),
      "formatting that column as text in the spreadsheet before saving it, or --set data.patient=COLUMN with another "
      "column"));
}

/// Folder of an image whose name is that of a study folder.
std::string study_folder(const std::string& image) {
  const std::filesystem::path folder = std::filesystem::path(image).parent_path();
  const std::string name = folder.filename().string();
  const bool is_study = name.starts_with("study") || (name.starts_with('s') && is_number(name.substr(1)));
  return is_study ? folder.generic_string() : std::string();
}

}  // namespace

bool looks_like_patient(std::string_view name) {
  constexpr std::array<std::string_view, 6> kNames{"mrn", "pid", "ptid", "person", "personid", "individualid"};
  constexpr std::array<std::string_view, 16> kFacts{"sex",   "gender", "birth", "position", "orient",  "weight",
                                                    "size",  "height", "race",  "ethnic",   "comment", "history",
                                                    "insur", "smok",   "count", "class"};
  const std::string path = spelling_key(name);
  const std::string key = path.substr(path.find_last_of("./") + 1);  // last name of the field in a nested table
  const auto has = [&key](std::string_view part) { return key.find(part) != std::string::npos; };
  if (std::ranges::find(kNames, key) != kNames.end()) return true;
  if (path.find("patient") == std::string::npos && path.find("subject") == std::string::npos) return false;
  return !key.ends_with("age") && !key.starts_with("age") && std::ranges::none_of(kFacts, has);
}

std::optional<std::size_t> patient_column(const std::vector<std::string>& header) {
  for (const std::string_view name : {"patient", "patientid", "subjectid", "subject"}) {
    const auto found =
        std::ranges::find_if(header, [name](const std::string& column) { return spelling_key(column) == name; });
    if (found != header.end()) return static_cast<std::size_t>(found - header.begin());
  }
  return std::nullopt;
}

std::vector<std::string> notes_on_unread_patients(const std::vector<std::string>& header,
                                                  const std::vector<std::optional<std::size_t>>& read,
                                                  std::string_view what, std::string_view source) {
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (!looks_like_patient(header[i]) || std::ranges::find(read, std::optional(i)) != read.end()) continue;
    notes.push_back(
        fmt::format("{}: column {} looks like patient ids and is not read; {}", what, stripped(header[i]), source));
  }
  return notes;
}

std::string normal_patient(std::string_view text) {
  text = without_blanks(text);
  if (names_nobody(text)) return {};
  const auto point = text.find_first_of(".,");
  if (point == std::string_view::npos || !is_number(text.substr(0, point))) return std::string(text);
  const bool is_whole = text.find_first_not_of('0', point + 1) == std::string_view::npos;
  return std::string(is_whole ? text.substr(0, point) : text);
}

std::vector<std::string> same_patient_spellings(const std::string& patient) {
  if (!is_number(patient)) return {};
  return {patient + ".0"};
}

std::vector<std::string> leading_zero_spellings(const std::string& patient) {
  constexpr std::size_t kMost_digits = 64, kMost_decimal_digits = 12;
  std::vector<std::string> spellings;
  if (!is_number(patient)) return spellings;
  for (std::string number = without_leading_zeros(patient);; number.insert(0, 1, '0')) {
    if (number != patient) {
      spellings.push_back(number);
      if (number.size() <= kMost_decimal_digits) spellings.push_back(number + ".0");
    }
    if (number.size() >= kMost_digits) return spellings;
  }
}

void settle_patients(Listing& listing) {
  refuse_rounded_patients(listing);
  std::int64_t nobody = 0, decimals = 0;
  bool is_word = false;  // true for nan, none and the like
  for (Sample& sample : listing.samples) {
    std::string normal = normal_patient(sample.patient);
    nobody += normal.empty() ? 1 : 0;
    if (normal == sample.patient) continue;
    if (normal.empty()) {
      is_word = true;
    } else if (without_blanks(sample.patient) != normal) {
      ++decimals;
    }
    sample.written_patient = std::exchange(sample.patient, std::move(normal));
  }
  // Adds no note if no image has a patient id, because the summary already reports that.
  if (nobody > 0 && (is_word || nobody < std::ssize(listing.samples))) {
    listing.notes.push_back(fmt::format("images with unknown patient (blank, nan, none or similar): {}", nobody));
  }
  if (decimals > 0) {
    listing.notes.push_back(fmt::format("images whose patient ends in .0, read without it: {}", decimals));
  }
  if (const std::int64_t ambiguous = count_ambiguous(listing.samples); ambiguous > 0) {
    listing.notes.push_back(fmt::format(
        "patients whose numbers differ only in leading zeros (12 and 0012), read as different people: {}", ambiguous));
  }
}

void settle_studies(Listing& listing) {
  const bool has_column =
      std::ranges::any_of(listing.samples, [](const Sample& sample) { return !sample.study.empty(); });
  for (Sample& sample : listing.samples) {
    if (!has_column) {
      sample.study = study_folder(sample.id);
    } else if (!sample.study.empty()) {
      sample.study = sample.patient + "/" + sample.study;
    }
  }
}

}  // namespace roentgen::data
