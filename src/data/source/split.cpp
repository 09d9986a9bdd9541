// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/split.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

#include "core/error.h"
#include "core/error_parts.h"
#include "core/lower_case.h"
#include "core/plural.h"
#include "data/source/class_layout.h"
#include "data/source/finding_names.h"
#include "data/source/finding_text.h"
#include "data/source/split_lists.h"
#include "io/sha256.h"

namespace roentgen::data {
namespace {

std::string base_name(const std::string& id) { return std::filesystem::path(id).filename().string(); }

/// Index of each sample by id, and by base name if that is unique (-1 if not).
std::unordered_map<std::string, std::int64_t> samples_by_name(const std::vector<Sample>& samples) {
  std::unordered_map<std::string, std::int64_t> by_name;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto [position, is_new] = by_name.try_emplace(base_name(samples[i].id), static_cast<std::int64_t>(i));
    if (!is_new) position->second = -1;
  }
  for (std::size_t i = 0; i < samples.size(); ++i) by_name[samples[i].id] = static_cast<std::int64_t>(i);
  return by_name;
}

/// Applies split lists one after another.
class ListSplitter {
 public:
  explicit ListSplitter(Listing& listing) : listing_(listing), by_name_(samples_by_name(listing.samples)) {}

  void apply(const std::optional<NameList>& list, Split split) {
    if (!list) return;
    std::int64_t unknown = 0;
    const std::string file = list->path.filename().string();
    for (const auto& name : list->names) {
      auto found = by_name_.find(name);
      if (found == by_name_.end()) found = by_name_.find(base_name(name));
      if (found == by_name_.end() || found->second < 0) {
        ++unknown;
        continue;
      }
      Split& current = listing_.samples[static_cast<std::size_t>(found->second)].split;
      if (current != Split::None && current != split) {
        throw DataError(error_text("data.split", file, "each image in only one split list",
                                   name + " in the " + std::string(name_of(current)) + " list too",
                                   "removing it from one of the lists"));
      }
      current = split;
    }
    if (unknown == static_cast<std::int64_t>(list->names.size())) {
      throw DataError(error_text("data.split", file, "names of images of this data set",
                                 fmt::format("only unknown names (the first is {})", list->names.front()),
                                 "the lists of this data set, or --set data.split=random"));
    }
    if (unknown > 0) {
      listing_.notes.push_back(fmt::format("{}: {} of {} not in this data set", file, unknown,
                                           counted(std::ssize(list->names), "name is", "names are")));
    }
    origin_ += fmt::format("{}{}: {}", origin_.empty() ? "" : "; ", name_of(split), file);
  }
  [[nodiscard]] const std::string& origin() const { return origin_; }

 private:
  Listing& listing_;
  std::unordered_map<std::string, std::int64_t> by_name_;
  std::string origin_;
};

std::string split_by_lists(const SplitLists& lists, Listing& listing) {
  for (auto& sample : listing.samples) sample.split = Split::None;
  ListSplitter splitter(listing);
  splitter.apply(lists.test, Split::Test);
  splitter.apply(lists.val, Split::Val);
  splitter.apply(lists.train, Split::Train);
  if (lists.train) return splitter.origin();
  if (!lists.train_val) {  // only a test or validation list: all other images train
    for (auto& sample : listing.samples) {
      if (sample.split == Split::None) sample.split = Split::Train;
    }
    return splitter.origin() + "; train: all other images";
  }
  NameList rest = *lists.train_val;
  if (lists.val) {  // train_val list without val list
    const std::unordered_map<std::string, std::int64_t> by_name = samples_by_name(listing.samples);
    std::erase_if(rest.names, [&](const std::string& name) {
      const auto found = by_name.find(base_name(name));
      return found != by_name.end() && found->second >= 0 &&
             listing.samples[static_cast<std::size_t>(found->second)].split == Split::Val;
    });
  }
  splitter.apply(rest, Split::Train);
  return splitter.origin();
}

/// Spelling of the patient id that determines the random split.
const std::string& drawn_patient(const Sample& sample, const SplitOptions& options) {
  const bool is_written = options.rule == SplitRule::Written && !sample.written_patient.empty();
  return is_written ? sample.written_patient : sample.patient;
}

/// Name that determines the random split: the patient id, or the image's name if options allow it.
const std::string& drawing_unit(const Sample& sample, const SplitOptions& options) {
  const std::string& patient = drawn_patient(sample, options);
  return patient.empty() && options.unit == SplitUnit::Image ? sample.id : patient;
}

void need_patients(const Listing& listing, const SplitOptions& options) {
  if (options.unit == SplitUnit::Image) return;
  const auto unknown = std::ranges::count_if(
      listing.samples, [&options](const Sample& sample) { return drawn_patient(sample, options).empty(); });
  if (unknown == 0) return;
  throw DataError(
      error_text("data.split", "random split by patient", "a patient id for every image",
                 fmt::format("{} of {} without one", unknown, counted(std::ssize(listing.samples), "image")),
                 "a column \"patient\", --set data.patient=COLUMN, split lists, or --set data.split_unit=image if no "
                 "patient has two images"));
}

/// Moves patients (or single images) from Train to `side`: those whose random number is below `fraction`, and at least
/// one.
void draw_side(Listing& listing, Split side, double fraction, const SourceOptions& options) {
  std::map<std::string, double> draws;
  for (const auto& sample : listing.samples) {
    if (sample.split != Split::Train) continue;
    const auto [position, is_new] = draws.try_emplace(drawing_unit(sample, options.split), 0.0);
    if (is_new) {
      position->second = split_draw(name_of(side), options.split.seed, options.patient_namespace, position->first);
    }
  }
  if (draws.size() < 2) {
    throw DataError(error_text("data.split", std::string(name_of(side)), "at least 2 patients for a random split",
                               fmt::format("{}", draws.size()), "more images, or your own split lists"));
  }
  double lowest = 1.0, highest = 0.0;
  for (const auto& [unit, draw] : draws) {
    lowest = std::min(lowest, draw);
    highest = std::max(highest, draw);
  }
  // Keeps both sides non-empty: if one side would be empty, the patient nearest to the threshold moves.
  const double border = std::min(std::max(fraction, std::nextafter(lowest, 1.0)), highest);
  for (auto& sample : listing.samples) {
    if (sample.split == Split::Train && draws.at(drawing_unit(sample, options.split)) < border) sample.split = side;
  }
}

/// Calls `draw` and returns true if it succeeds. With UnnamedLabels::Propose, its DataError becomes a note.
template <typename Draw>
bool is_drawn(const Draw& draw, const SourceOptions& options, Listing& listing) {
  try {
    draw();
    return true;
  } catch (const DataError& error) {
    if (options.unnamed_labels != UnnamedLabels::Propose) throw;
    const ErrorParts parts = error_parts(error.what());
    listing.notes.push_back(
        fmt::format("no split is drawn here, and train will refuse this data: {} needs {}, got {}; train will need {}",
                    parts.what, parts.expected, parts.got, parts.remedy));
    return false;
  }
}

void check_fraction(std::string_view name, double fraction) {
  if (fraction >= 0.0 && fraction < 1.0) return;
  throw ConfigError(
      error_text("data.split", name, "a fraction of at least 0 and below 1", fmt::format("{}", fraction), "0.1"));
}

/// Chooses val at random from train, or merges it into train, depending on the options.
void settle_validation(Listing& listing, const SourceOptions& options, std::string& origin) {
  const SplitOptions& split = options.split;
  const auto has = [&listing](Split wanted) {
    return std::ranges::find(listing.samples, wanted, &Sample::split) != listing.samples.end();
  };
  if (split.validation == ValidationFrom::Auto && has(Split::Val)) return;
  for (auto& sample : listing.samples) {
    if (sample.split == Split::Val) sample.split = Split::Train;
  }
  if (split.validation == ValidationFrom::None || split.val_fraction == 0.0 || !has(Split::Train)) {
    origin += "; val: none";
    return;
  }
  const auto draw = [&] {
    need_patients(listing, split);
    draw_side(listing, Split::Val, split.val_fraction, options);
  };
  if (!is_drawn(draw, options, listing)) {
    origin += "; val: none";
    return;
  }
  origin += fmt::format("; val: {:g}% of the other patients, seed {}", 100.0 * split.val_fraction, split.seed);
}

/// Notes images in folders with names like val or test if splits are random by default.
void note_split_folders(Listing& listing) {
  const auto is_in_one = [](const Sample& sample) {
    return std::ranges::any_of(std::filesystem::path(sample.id).parent_path(), [](const std::filesystem::path& folder) {
      return split_of_folder(folder.string()).value_or(Split::Train) != Split::Train;
    });
  };
  const auto images = std::ranges::count_if(listing.samples, is_in_one);
  if (images == 0) return;
  listing.notes.push_back(
      fmt::format("images in folders called val, test or similar, which are not read as splits: {}", images));
}

}  // namespace

std::optional<Split> find_split(std::string_view text) {
  const std::string word = lower_case(stripped(text));
  for (const Split split : kSplits) {
    if (name_of(split) == word) return split;
  }
  if (word == "valid" || word == "validate" || word == "validation") return Split::Val;
  if (word == "training") return Split::Train;
  if (word == "testing") return Split::Test;
  return std::nullopt;
}

bool looks_like_split(std::string_view name) {
  constexpr std::array<std::string_view, 5> kParts{"split", "set", "fold", "partition", "phase"};
  const std::string path = spelling_key(name);
  const std::string key = path.substr(path.find_last_of("./") + 1);
  return std::ranges::any_of(kParts, [&key](std::string_view part) { return key.find(part) != std::string::npos; });
}

std::vector<std::string> notes_on_unread_splits(const io::Csv& table,
                                                const std::vector<std::optional<std::size_t>>& read,
                                                std::string_view what) {
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < table.header.size(); ++i) {
    if (!looks_like_split(table.header[i]) || std::ranges::find(read, std::optional(i)) != read.end()) continue;
    std::int64_t said = 0;
    const bool has_others = std::ranges::any_of(table.rows, [&](const std::vector<std::string>& row) {
      const std::string word = field(row, i);
      const auto split = find_split(word);
      said += split && *split != Split::None ? 1 : 0;
      return !word.empty() && !split;
    });
    if (has_others || said == 0) continue;
    notes.push_back(fmt::format("{}: column {} contains train, val or test in {} and is not read; rename it \"split\"",
                                what, stripped(table.header[i]), counted(said, "row")));
  }
  return notes;
}

void check_splits(const io::Csv& table, const std::string& what, std::size_t column) {
  UnaskedNames others;
  std::optional<std::size_t> first;
  std::int64_t rows = 0;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const std::string word = field(table.rows[i], column);
    if (word.empty() || find_split(word)) continue;
    if (!first) first = i;
    others.add(word);
    ++rows;
  }
  if (!first) return;
  throw DataError(error_text(
      "data.csv", fmt::format("{} line {}", what, table.lines[*first]), "train, val, test or an empty field as split",
      others.note(fmt::format("other text in {} of {} rows", rows, table.rows.size()), {"train", "test"}),
      "correcting these rows, or --set data.split=random"));
}

bool uses_given_splits(const SplitOptions& options) {
  return options.mode != SplitMode::Random && options.mode != SplitMode::Whole;
}

void refuse_shared_patients(const std::vector<Sample>& samples, SplitRule rule) {
  std::unordered_map<std::string, Split> side;
  std::map<std::string, bool> shared;
  for (const auto& sample : samples) {
    if (sample.split == Split::None || sample.patient.empty()) continue;
    const auto [position, is_new] = side.try_emplace(sample.patient, sample.split);
    if (!is_new && position->second != sample.split) shared[sample.patient] = true;
  }
  if (shared.empty()) return;
  throw DataError(error_text(
      "data.split", "train, val and test", "each patient in only one split",
      fmt::format("{} of {} in two or more", shared.size(), counted(std::ssize(side), "patient")),
      rule == SplitRule::Normal ? "--set data.split=random to split by patient"
                                : "training a new model: the split of this model treats 12 and 12.0 as two patients"));
}

double split_draw(std::string_view purpose, std::uint64_t seed, std::string_view patient_namespace,
                  std::string_view patient) {
  const std::string hash =
      io::sha256_hex(fmt::format("roentgen {}\n{}\n{}\n{}", purpose, seed, patient_namespace, patient));
  return std::ldexp(static_cast<double>(std::strtoull(hash.substr(0, 13).c_str(), nullptr, 16)), -52);
}

std::string assign_splits(Listing& listing, const SourceOptions& options) {
  const SplitOptions& split = options.split;
  check_fraction("val_fraction", split.val_fraction);
  check_fraction("test_fraction", split.test_fraction);
  const bool names_lists =
      !split.train_val_list.empty() || !split.train_list.empty() || !split.val_list.empty() || !split.test_list.empty();
  if (split.mode == SplitMode::Whole) {
    for (auto& sample : listing.samples) sample.split = Split::Test;
    return "test: every image";
  }
  std::string origin;
  const SplitLists lists = split.mode == SplitMode::Random || (!listing.given_splits.empty() && !names_lists)
                               ? SplitLists{}
                               : find_split_lists(options);
  if (lists.any()) {
    origin = split_by_lists(lists, listing);
  } else if (split.mode != SplitMode::Random && !listing.given_splits.empty()) {
    origin = listing.given_splits;
  } else if (split.mode == SplitMode::Given) {
    throw DataError(error_text("data.split", options.root.string(), "split lists or a column \"split\"", "neither",
                               "--set data.split=auto"));
  } else {
    if (split.mode != SplitMode::Random) note_split_folders(listing);
    for (auto& sample : listing.samples) sample.split = Split::Train;
    const auto draw = [&] {
      need_patients(listing, split);
      if (split.test_fraction > 0.0) draw_side(listing, Split::Test, split.test_fraction, options);
    };
    if (!is_drawn(draw, options, listing)) return "train: every image";
    origin = fmt::format("test: {:g}% of the patients, seed {}", 100.0 * split.test_fraction, split.seed);
  }
  settle_validation(listing, options, origin);
  refuse_shared_patients(listing.samples, split.rule);
  return origin;
}

}  // namespace roentgen::data
