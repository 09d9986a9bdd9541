// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/dicom_choice.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>

#include "core/lower_case.h"
#include "io/file.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHead_bytes = 132;
constexpr std::array<std::string_view, 3> kModalities{"CR", "DX", "RG"};

template <std::size_t Count>
bool is_one_of(std::string_view text, const std::array<std::string_view, Count>& names) {
  return std::ranges::find(names, text) != names.end();
}

bool holds(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// Makes a code in a header printable: short, with only letters, digits and blanks.
std::string printable(std::string_view text) {
  constexpr std::size_t kLongest = 16;  // longest value of a DICOM code string (CS)
  std::string out;
  for (const char c : text.substr(0, kLongest)) {
    out += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == ' ' ? c : '_';
  }
  return out;
}

// True for lateral and oblique views. PS3.3 C.8.1.2.1.1 defines LL and RL as laterals, RLO and LLO as obliques.
// Decubitus views (RLD, LLD) are frontal.
bool is_lateral(const DicomStudy& study) {
  constexpr std::array<std::string_view, 6> kLaterals{"LL", "RL", "LAT", "LATERAL", "L", "R"};
  if (!study.view.empty()) return is_one_of(study.view, kLaterals) || study.view.starts_with("LATERAL");
  return holds(study.view_code, "LATERAL") && !holds(study.view_code, "DECUBITUS") &&
         !holds(study.view_code, "OBLIQUE");
}

bool is_oblique(const DicomStudy& study) {
  constexpr std::array<std::string_view, 2> kObliques{"RLO", "LLO"};
  return is_one_of(study.view, kObliques) || (study.view.empty() && holds(study.view_code, "OBLIQUE"));
}

bool is_of_chest(const DicomStudy& study) {
  return study.body_part.empty() || holds(study.body_part, "CHEST") || holds(study.body_part, "THORAX") ||
         holds(study.body_part, "LUNG");
}

}  // namespace

bool may_be_dicom(const fs::path& path) {
  constexpr std::array<std::string_view, 4> kEndings{".dcm", ".dicom", ".dic", ".ima"};
  const std::string ending = lower_case(path.extension().string());
  const bool has_letters = std::ranges::any_of(ending, [](unsigned char c) { return std::isalpha(c) != 0; });
  return !has_letters || is_one_of(ending, kEndings);
}

bool starts_as_dicom(const fs::path& path) {
  std::array<char, kHead_bytes> head{};
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), head.size());
  return file.gcount() == static_cast<std::streamsize>(head.size()) && is_dicom_file(std::as_bytes(std::span(head)));
}

Result<DicomStudy> read_dicom_header(const fs::path& path) {
  const auto file = io::MappedFile::open(path);
  if (!file) return file.why();
  return read_dicom_study(file.value().bytes(), path.filename().string());
}

std::string exclusion_of(const DicomStudy& study) {
  if (!study.has_size) return "no image";
  if (study.modality.empty()) return "no modality";
  if (!is_one_of(study.modality, kModalities)) return "modality " + printable(study.modality);
  if (study.intent == "FOR PROCESSING") return "for processing";
  if (!is_of_chest(study)) return "body part " + printable(study.body_part);
  if (is_lateral(study)) return "laterals";
  return is_oblique(study) ? "obliques" : "";
}

std::string view_of(const DicomStudy& study) {
  if (!study.view.empty()) return printable(study.view);
  constexpr std::array<std::string_view, 2> kPa{"POSTERO-ANTERIOR", "POSTEROANTERIOR"};
  constexpr std::array<std::string_view, 2> kAp{"ANTERO-POSTERIOR", "ANTEROPOSTERIOR"};
  if (is_one_of(study.view_code, kPa)) return "PA";
  return is_one_of(study.view_code, kAp) ? "AP" : "";
}

std::string exclusions_text(const Tally& kinds) {
  std::string text;
  for (const auto& [kind, count] : kinds.counts()) {
    text += fmt::format("{}{}: {}", text.empty() ? "left out, " : ", ", kind, count);
  }
  return text;
}

}  // namespace roentgen::data
