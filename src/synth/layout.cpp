// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "synth/layout.h"

#include <fmt/format.h>

#include <iterator>

namespace roentgen::synth {
namespace {
constexpr std::uint64_t kPatientsPerTestPatient = 5;
constexpr std::uint64_t kMostStudies = 3;
constexpr double kBoxGrid = 1024.0;
// Channels of the random streams, different from the channels in truth.cpp.
constexpr std::uint32_t kCountChannel = 1;
constexpr std::uint32_t kSplitChannel = 2;

std::string labels_of(const Entry& entry) {
  std::string text;
  for (std::size_t i = 0; i < kFindingNames.size(); ++i) {
    if (!entry.study.truth.label[i]) continue;
    if (!text.empty()) text += '|';
    text += kFindingNames[i];
  }
  return text.empty() ? "No Finding" : text;
}

bool is_test_patient(std::uint64_t seed, std::int64_t patient) {
  const auto number = static_cast<std::uint64_t>(patient - 1);
  // Draws one test patient per block of patients; the number of the block's first patient selects the random stream.
  const auto first = static_cast<std::int64_t>(number - number % kPatientsPerTestPatient);
  Random random = patient_stream({.seed = seed, .patient = first + 1}, kSplitChannel);
  return number % kPatientsPerTestPatient == random.below(kPatientsPerTestPatient);
}
}  // namespace

std::vector<Entry> list_studies(std::uint64_t seed, std::int64_t images) {
  std::vector<Entry> entries;
  entries.reserve(static_cast<std::size_t>(images));
  for (std::int64_t patient = 1; static_cast<std::int64_t>(entries.size()) < images; ++patient) {
    const Split split = is_test_patient(seed, patient) ? Split::Test : Split::TrainVal;
    Random random = patient_stream({.seed = seed, .patient = patient}, kCountChannel);
    const auto studies = static_cast<std::int64_t>(1 + random.below(kMostStudies));
    for (std::int64_t i = 0; i < studies && static_cast<std::int64_t>(entries.size()) < images; ++i) {
      entries.push_back({.key = {.seed = seed, .patient = patient, .follow_up = i}, .split = split, .study = {}});
    }
  }
  return entries;
}

std::string image_name(const StudyKey& key, Form form) {
  return fmt::format("{:08}_{:03}{}", key.patient, key.follow_up, extension_of(form));
}

std::string data_entry_csv(std::span<const Entry> entries) {
  std::string text =
      "Image Index,Finding Labels,Follow-up #,Patient ID,Patient Age,Patient Gender,View Position,"
      "OriginalImage[Width,Height],OriginalImagePixelSpacing[x,y]\n";
  for (const Entry& entry : entries) {
    const Study& study = entry.study;
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{},{},{},{:.6f},{:.6f}\n",
                   image_name(entry.key, entry.form), labels_of(entry), entry.key.follow_up, entry.key.patient,
                   study.age_years, study.sex == Sex::Male ? 'M' : 'F', study.view == View::Ap ? "AP" : "PA",
                   study.size_px, study.size_px, study.pixel_mm, study.pixel_mm);
  }
  return text;
}

std::string labels_csv(std::span<const Entry> entries, std::string_view image_folder) {
  std::string text = "path,patient,split,view,sex,age";
  for (const std::string_view name : kFindingNames) fmt::format_to(std::back_inserter(text), ",{}", name);
  text += '\n';
  for (const Entry& entry : entries) {
    const Study& study = entry.study;
    fmt::format_to(std::back_inserter(text), "{}/{},{},{},{},{},{}", image_folder, image_name(entry.key, entry.form),
                   entry.key.patient, entry.split == Split::Test ? "test" : "train",
                   study.view == View::Ap ? "AP" : "PA", study.sex == Sex::Male ? 'M' : 'F', study.age_years);
    for (const Mark mark : study.truth.mark) {
      text += ',';
      if (mark != Mark::Blank) text += std::to_string(static_cast<int>(mark));
    }
    text += '\n';
  }
  return text;
}

std::string name_list(std::span<const Entry> entries, Split split) {
  std::string text;
  for (const Entry& entry : entries) {
    if (entry.split == split) text += image_name(entry.key, entry.form) + "\n";
  }
  return text;
}

std::string box_csv(std::span<const Entry> entries) {
  std::string text = "Image Index,Finding Label,Bbox [x,y,w,h],,,\n";
  for (const Entry& entry : entries) {
    const Study& study = entry.study;
    const double scale = kBoxGrid / static_cast<double>(study.size_px);
    for (std::size_t i = 0; i < kFindingNames.size(); ++i) {
      const PixelRect& box = study.boxes[i];
      if (!study.truth.label[i] || box.empty()) continue;
      fmt::format_to(std::back_inserter(text), "{},{},{:.3f},{:.3f},{:.3f},{:.3f},,,\n",
                     image_name(entry.key, entry.form), kFindingNames[i], scale * static_cast<double>(box.left),
                     scale * static_cast<double>(box.top), scale * static_cast<double>(box.right - box.left),
                     scale * static_cast<double>(box.bottom - box.top));
    }
  }
  return text;
}

std::string truth_csv(std::span<const Entry> entries, TubeColumn tubes) {
  std::string text = "Image Index,Split";
  for (const std::string_view name : kFindingNames) fmt::format_to(std::back_inserter(text), ",{}", name);
  if (tubes == TubeColumn::Present) text += ",Tubes";
  text += '\n';
  for (const Entry& entry : entries) {
    fmt::format_to(std::back_inserter(text), "{},{}", image_name(entry.key, entry.form),
                   entry.split == Split::Test ? "test" : "train_val");
    for (const double severity : entry.study.truth.severity) {
      fmt::format_to(std::back_inserter(text), ",{:.6f}", severity);
    }
    if (tubes == TubeColumn::Present) text += entry.study.truth.has_tubes ? ",1" : ",0";
    text += '\n';
  }
  return text;
}

std::string film_csv(std::span<const Entry> entries) {
  std::string text = "Image Index,inverted,marker,left,top,right,bottom\n";
  for (const Entry& entry : entries) {
    const Study& study = entry.study;
    const FilmMarks& marks = study.marks;
    const PixelRect open = open_pixels(marks, study.size_px, study.pixel_mm * static_cast<double>(study.size_px));
    const double scale = kBoxGrid / static_cast<double>(study.size_px);
    fmt::format_to(std::back_inserter(text), "{},{},{},{:.3f},{:.3f},{:.3f},{:.3f}\n",
                   image_name(entry.key, entry.form), marks.is_inverted ? 1 : 0,
                   marks.marker ? std::string(1, marks.marker->letter) : "", scale * static_cast<double>(open.left),
                   scale * static_cast<double>(open.top), scale * static_cast<double>(open.right),
                   scale * static_cast<double>(open.bottom));
  }
  return text;
}

std::string pairs_csv(std::span<const Entry> entries, const PerFinding<bool>& pairs, std::string_view image_folder) {
  std::string text = "Image Index,finding,with,without,severity\n";
  for (const Entry& entry : entries) {
    const std::string name = image_name(entry.key, entry.form);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const double severity = entry.study.truth.severity[i];
      if (!pairs[i] || severity <= 0.0) continue;
      fmt::format_to(std::back_inserter(text), "{},{},{}/{},{}/{}/{},{:.6f}\n", name, kFindingNames[i], image_folder,
                     name, kPairFolder, kFindingNames[i], name, severity);
    }
  }
  return text;
}

}  // namespace roentgen::synth
