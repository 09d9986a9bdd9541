// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "score/image_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "core/error.h"
#include "core/foreign_text.h"
#include "core/plural.h"
#include "data/source/name_index.h"
#include "data/source/split_lists.h"
#include "eval/split_list.h"
#include "io/sha256.h"

namespace roentgen::score {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOfficial = "nih-official-test";

/// Returns the known list with this id; "official" is NIH's test list.
const eval::KnownList* known_list(const std::string& list) {
  const std::string_view id = list == "official" ? kOfficial : std::string_view(list);
  const auto lists = eval::known_lists();
  const auto found = std::ranges::find(lists, id, &eval::KnownList::id);
  return found == lists.end() ? nullptr : &*found;
}

std::string known_text(const eval::KnownList& list) {
  return fmt::format("the {} images of the {} (list {})", list.images, list.name, list.sha256);
}

[[noreturn]] void refuse_list(const std::string& list, std::string_view expected, std::string_view got,
                              std::string_view remedy) {
  throw DataError(error_text("cli.list", "--list " + list, expected, got, remedy));
}

/// Returns the rows of the images on the list, ascending.
std::vector<std::size_t> rows_of(const data::NameIndex& index, const NamedImages& list, std::string_view where) {
  std::vector<std::size_t> rows;
  const std::string* first_absent = nullptr;
  for (const std::string& name : list.names) {
    if (const auto row = index.find(name)) {
      rows.push_back(*row);
    } else if (first_absent == nullptr) {
      first_absent = &name;
    }
  }
  const std::size_t absent = list.names.size() - rows.size();
  if (absent > 0) {
    throw DataError(error_text("cli.list", list.title,
                               fmt::format("each of its {} in {}", counted(std::ssize(list.names), "image"), where),
                               fmt::format("{} missing, or with a name that fits two images (the first is {})",
                                           counted(static_cast<std::int64_t>(absent), "image"), *first_absent),
                               "the list of these images, because all images of a list must be evaluated"));
  }
  std::ranges::sort(rows);
  rows.erase(std::ranges::unique(rows).begin(), rows.end());
  if (rows.size() < list.names.size()) {
    throw DataError(
        error_text("cli.list", list.title, fmt::format("{} different images in {}", list.names.size(), where),
                   fmt::format("only {}, because several names fit the same image", counted(std::ssize(rows), "image")),
                   "full image paths in the list, as in the data"));
  }
  return rows;
}

}  // namespace

NamedImages find_list(const std::string& list, const data::SourceOptions& source) {
  const eval::KnownList* known = known_list(list);
  if (known == nullptr) {
    std::error_code ignored;
    if (!fs::exists(list, ignored)) {
      std::string ids;
      for (const eval::KnownList& one : eval::known_lists()) ids += fmt::format(", {}", one.id);
      refuse_list(list, "official" + ids + ", or a file", "no such file", "a text file with one image name per line");
    }
    return read_list(list);
  }
  const data::SplitLists lists = data::find_split_lists(source);
  if (!lists.test)
    refuse_list(list, known_text(*known), "no test_list.txt in the data folder",
                "copying test_list.txt into the data folder");
  NamedImages images{.title = std::string(known->name), .names = lists.test->names, .list_sha256 = {}};
  images.list_sha256 = io::name_list_sha256(images.names);
  if (images.list_sha256 != known->sha256) {
    refuse_list(list, known_text(*known),
                fmt::format("{} in {} (list {})", counted(std::ssize(images.names), "image"),
                            lists.test->path.filename().string(), images.list_sha256),
                "the published list, or --list FILE to evaluate other images");
  }
  return images;
}

NamedImages read_list(const fs::path& path) {
  data::NameList list = data::read_name_list(path);
  NamedImages images{.title = "list " + path.filename().string(), .names = std::move(list.names), .list_sha256 = {}};
  images.list_sha256 = io::name_list_sha256(images.names);
  return images;
}

std::string list_text(const std::string& list_sha256) {
  const eval::KnownList* known = eval::find_known_list(list_sha256);
  constexpr std::size_t kShownDigits = 12;
  return fmt::format("list {} ({})", list_sha256.substr(0, kShownDigits),
                     known == nullptr ? "not a published list" : std::string(known->name));
}

std::string part_text(const Part& part) {
  return fmt::format("{}: {} of {}, {}\n", terminal_text(part.title), counted(std::ssize(part.samples), "image"),
                     counted(part.patients, "patient"), list_text(part.list_sha256));
}

Part split_part(const data::Dataset& dataset, data::Split split) {
  const data::SplitSummary& summary = dataset.summary(split);
  if (summary.images == 0) {
    throw DataError(
        error_text("cli.eval", dataset.root.string(), fmt::format("images in split {}", data::name_of(split)),
                   "no images (" + dataset.split_origin + ")", "another --split, or --set data.split=whole"));
  }
  return {.title = fmt::format("split {}", data::name_of(split)),
          .name = std::string(data::name_of(split)),
          .samples = data::samples_of(dataset, split),
          .patients = summary.patients,
          .list_sha256 = summary.list_sha256};
}

Part list_part(const data::Dataset& dataset, const NamedImages& list, std::string_view where) {
  const data::NameIndex index(dataset);
  Part part{.title = list.title, .name = "list", .samples = {}, .patients = 0, .list_sha256 = {}};
  std::unordered_set<std::string_view> patients;
  std::vector<std::string> names;
  for (const std::size_t row : rows_of(index, list, where)) {
    const data::Sample& sample = dataset.samples[row];
    part.samples.push_back(static_cast<std::uint32_t>(row));
    names.push_back(sample.id);
    if (!sample.patient.empty()) patients.insert(sample.patient);
  }
  part.patients = std::ssize(patients);
  part.list_sha256 = io::name_list_sha256(std::move(names));
  return part;
}

void keep_listed(data::Dataset& images, const fs::path& list) {
  std::vector<data::Sample> kept;
  for (const std::uint32_t row : list_part(images, read_list(list), "the images named").samples) {
    kept.push_back(std::move(images.samples[row]));
  }
  images.samples = std::move(kept);
}

PredictionFile rows_on_list(PredictionFile file, const std::string& list, std::string_view what) {
  if (const eval::KnownList* known = known_list(list)) {
    const std::string found = io::name_list_sha256(file.images);
    if (found == known->sha256) return file;
    refuse_list(list, known_text(*known),
                fmt::format("{} in {} (list {})", counted(std::ssize(file.images), "image"), what, found),
                "predictions for exactly this list, or --list FILE with image names");
  }
  const NamedImages wanted = read_list(list);
  const data::NameIndex index(file.images);
  PredictionFile kept{.labels = file.labels, .images = {}, .probabilities = {}};
  const std::size_t K = file.labels.size();
  for (const std::size_t row : rows_of(index, wanted, what)) {
    kept.images.push_back(std::move(file.images[row]));
    const auto first = file.probabilities.begin() + static_cast<std::ptrdiff_t>(row * K);
    kept.probabilities.insert(kept.probabilities.end(), first, first + static_cast<std::ptrdiff_t>(K));
  }
  return kept;
}

}  // namespace roentgen::score
