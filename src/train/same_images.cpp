// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/same_images.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/error.h"
#include "data/stage/file_reader.h"
#include "io/sha256.h"

namespace roentgen::train {
namespace {

constexpr dist::Phase kPhase{.name = "comparing data"};
// Separator between fields; a name may contain any other character.
constexpr char kEnd = '\0';

std::string value_text(float value) { return std::isnan(value) ? "unknown" : fmt::format("{:g}", value); }

// Describes all samples by the fields that ranks must agree on: name, split, labels, and a hash of the patient.
std::string facts_of(const data::Dataset& dataset) {
  std::string facts;
  for (const data::Sample& sample : dataset.samples) {
    (facts += sample.id) += kEnd;
    (facts += data::name_of(sample.split)) += kEnd;
    for (const float label : sample.labels) (facts += value_text(label)) += kEnd;
    const std::uint64_t patient = io::fast_hash(std::as_bytes(std::span(sample.patient)));
    (facts += fmt::to_string(patient)) += kEnd;
  }
  return facts;
}

// Hashes a file's size and its first, middle and last piece. Compressed images that differ anywhere nearly always
// differ there, since the size changes and files end in checksums.
std::uint64_t file_hash(data::FileReader& reader, const data::Sample& sample) {
  constexpr std::uint64_t kPiece = 4096, kUnreadable = 0;
  std::error_code error;
  const std::uint64_t begin = sample.stored ? sample.stored->begin : 0;
  const std::uint64_t length = sample.stored ? sample.stored->length : std::filesystem::file_size(sample.path, error);
  if (error || length == 0) return kUnreadable;
  const std::uint64_t piece = std::min(kPiece, length);
  std::vector<std::uint64_t> parts{length};
  for (const std::uint64_t at : {std::uint64_t{0}, (length - piece) / 2, length - piece}) {
    const auto bytes = reader.read_part(sample.path, sample.id, begin + at, piece);
    if (!bytes.ok()) return kUnreadable;
    parts.push_back(io::fast_hash(bytes.value()));
  }
  return io::fast_hash(std::as_bytes(std::span(parts)));
}

// Selects the samples whose files are compared.
std::vector<std::uint32_t> compared(std::span<const std::uint32_t> samples) {
  const std::int64_t count = std::min(kComparedFiles, std::ssize(samples));
  std::vector<std::uint32_t> chosen;
  for (std::int64_t i = 0; i < count; ++i) {
    chosen.push_back(samples[static_cast<std::size_t>(i * std::ssize(samples) / count)]);
  }
  return chosen;
}

// Descriptions of the samples on two ranks, and the first difference between them.
struct Comparison {
  explicit Comparison(const Difference& difference)
      : rank(difference.rank), first(split(difference.first)), other(split(difference.other)) {
    at = static_cast<std::size_t>(std::ranges::mismatch(first, other).in1 - first.begin());
  }

  [[noreturn]] void refuse(std::size_t row, std::string_view name, std::string_view expected,
                           std::string_view got) const {
    throw ConfigError(error_text("train.ranks",
                                 fmt::format("image {} on rank {}{}{}", row + 1, rank, name.empty() ? "" : ", ", name),
                                 fmt::format("{}, as on rank 0", expected), got, "the same --data on all hosts"));
  }

  static std::vector<std::string> split(const std::string& joined) {
    std::vector<std::string> parts;
    std::istringstream stream(joined);
    for (std::string part; std::getline(stream, part, kEnd);) parts.push_back(part);
    return parts;
  }

  int rank;
  std::vector<std::string> first, other;
  std::size_t at = 0;
};

[[noreturn]] void refuse_row(const data::Dataset& dataset, const Comparison& facts) {
  const std::size_t labels = dataset.label_names.size(), width = labels + 3;
  const std::size_t row = facts.at / width, column = facts.at % width;
  if (facts.at == facts.first.size()) facts.refuse(row, "", "no such image", facts.other[facts.at]);
  if (facts.at == facts.other.size()) facts.refuse(row, "", facts.first[facts.at], "no such image");
  const std::string& expected = facts.first[facts.at];
  const std::string& got = facts.other[facts.at];
  if (column == 0) facts.refuse(row, "", expected, got);
  const std::string& name = facts.first[row * width];
  if (column == width - 1) facts.refuse(row, name, "the same patient", "another patient");
  const std::string what = column == 1 ? "split" : dataset.label_names[column - 2];
  facts.refuse(row, name, what + " " + expected, what + " " + got);
}

}  // namespace

void require_same_images(const Ranks& ranks, const data::Dataset& dataset, std::span<const std::uint32_t> samples) {
  if (ranks.size() == 1) return;
  if (const auto rows = find_difference(ranks, facts_of(dataset), kPhase)) refuse_row(dataset, Comparison(*rows));
  const std::vector<std::uint32_t> chosen = compared(samples);
  data::FileReader reader;
  std::string hashes;
  for (const std::uint32_t sample : chosen) {
    (hashes += fmt::to_string(file_hash(reader, dataset.samples[sample]))) += kEnd;
  }
  const auto files = find_difference(ranks, hashes, kPhase);
  if (!files) return;
  const Comparison comparison(*files);
  const std::uint32_t row = chosen.at(std::min(comparison.at, chosen.size() - 1));
  comparison.refuse(row, dataset.samples[row].id, "the same file", "another file of this name");
}

}  // namespace roentgen::train
