// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/same_images.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <filesystem>
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
constexpr char kEnd = '\0';

std::uint64_t hash_of_text(std::string_view text) { return io::fast_hash(std::as_bytes(std::span(text))); }

std::string value_text(float value) { return std::isnan(value) ? "unknown" : fmt::format("{:g}", value); }

// Facts that ranks must agree on, an entry each: name, split, labels, and the patient by hash alone.
std::vector<std::string> facts_of(const data::Dataset& dataset, const data::Sample& sample) {
  std::vector<std::string> facts{sample.id, fmt::format("split {}", data::name_of(sample.split))};
  for (std::size_t i = 0; i < sample.labels.size(); ++i) {
    facts.push_back(fmt::format("{} {}", dataset.label_names[i], value_text(sample.labels[i])));
  }
  facts.push_back(fmt::to_string(hash_of_text(sample.patient)));
  return facts;
}

std::vector<std::uint64_t> row_hashes(const data::Dataset& dataset) {
  std::vector<std::uint64_t> hashes;
  hashes.reserve(dataset.samples.size());
  std::string row;
  for (const data::Sample& sample : dataset.samples) {
    row.assign(sample.id).push_back(kEnd);
    row.append(sample.patient).push_back(kEnd);
    row.append(data::name_of(sample.split)).push_back(kEnd);
    for (const float label : sample.labels) row.append(value_text(label)).push_back(kEnd);
    hashes.push_back(hash_of_text(row));
  }
  return hashes;
}

// Hash of a sample's size and of its first, middle and last piece. Compressed images that differ anywhere nearly always
// differ there: sizes change, and files end in checksums.
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

// Samples whose files are compared.
std::vector<std::uint32_t> compared(std::span<const std::uint32_t> samples) {
  const std::int64_t count = std::min(kComparedFiles, std::ssize(samples));
  std::vector<std::uint32_t> chosen;
  for (std::int64_t i = 0; i < count; ++i) {
    chosen.push_back(samples[static_cast<std::size_t>(i * std::ssize(samples) / count)]);
  }
  return chosen;
}

std::string bytes_of(const std::vector<std::uint64_t>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(std::uint64_t)};
}

std::vector<std::uint64_t> values_of(const std::string& bytes) {
  std::vector<std::uint64_t> values(bytes.size() / sizeof(std::uint64_t));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(std::uint64_t));
  return values;
}

/// First value of a rank that is not rank 0's.
struct Difference {
  std::size_t rank = 0;
  std::size_t index = 0;
};

// The first rank whose values are not rank 0's, which rank 0 gives to all. Nothing where all are the same.
std::optional<Difference> first_difference(const Ranks& ranks, const std::vector<std::uint64_t>& own) {
  const std::string bytes = bytes_of(own);
  const std::vector<std::string> sums = ranks.gather(fmt::to_string(hash_of_text(bytes)), kPhase);
  if (std::ranges::all_of(sums, [&](const std::string& sum) { return sum == sums.front(); })) return std::nullopt;
  const std::vector<std::uint64_t> first = values_of(ranks.broadcast(bytes, kPhase));
  const auto at = static_cast<std::size_t>(std::ranges::mismatch(own, first).in1 - own.begin());
  const bool is_other = at < own.size() || own.size() != first.size();
  const std::vector<std::string> places = ranks.gather(is_other ? fmt::to_string(at) : "", kPhase);
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    if (!places[rank].empty()) return Difference{.rank = rank, .index = std::stoull(places[rank])};
  }
  return std::nullopt;
}

std::vector<std::string> parts_of(const std::string& joined) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < joined.size();) {
    const std::size_t end = std::min(joined.find(kEnd, begin), joined.size());
    parts.push_back(joined.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

[[noreturn]] void refuse(const Difference& where, std::size_t row, std::string_view name, std::string_view expected,
                         std::string_view got) {
  throw ConfigError(error_text(
      "train.ranks", fmt::format("row {} of rank {}{}{}", row + 1, where.rank, name.empty() ? "" : ", ", name),
      fmt::format("{}, as rank 0", expected), got, "the same --data on all hosts"));
}

void refuse_row(const Ranks& ranks, const data::Dataset& dataset, const Difference& where) {
  const bool has_row = where.index < dataset.samples.size();
  const std::vector<std::string> facts =
      has_row ? facts_of(dataset, dataset.samples[where.index]) : std::vector<std::string>{};
  const std::vector<std::string> all =
      ranks.gather(fmt::format("{}", fmt::join(facts, std::string_view(&kEnd, 1))), kPhase);
  const std::vector<std::string> first = parts_of(all.front()), other = parts_of(all.at(where.rank));
  if (first.empty()) refuse(where, where.index, "", "no such row", other.front());
  if (other.empty()) refuse(where, where.index, "", first.front(), "no such row");
  const std::size_t both = std::min(first.size(), other.size());
  for (std::size_t i = 0; i + 1 < both; ++i) {
    if (first[i] != other[i]) refuse(where, where.index, i == 0 ? "" : first.front(), first[i], other[i]);
  }
  refuse(where, where.index, first.front(), "its patient", "another one");
}

}  // namespace

void require_same_images(const Ranks& ranks, const data::Dataset& dataset, std::span<const std::uint32_t> samples) {
  if (ranks.size() == 1) return;
  if (const auto where = first_difference(ranks, row_hashes(dataset))) refuse_row(ranks, dataset, *where);
  const std::vector<std::uint32_t> chosen = compared(samples);
  data::FileReader reader;
  std::vector<std::uint64_t> hashes;
  for (const std::uint32_t sample : chosen) hashes.push_back(file_hash(reader, dataset.samples[sample]));
  const auto where = first_difference(ranks, hashes);
  if (!where) return;
  const std::uint32_t row = chosen.at(std::min(where->index, chosen.size() - 1));
  refuse(*where, row, dataset.samples[row].id, "its file", "another file of that name");
}

}  // namespace roentgen::train
