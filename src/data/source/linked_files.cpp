// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/linked_files.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/source/folder_walk.h"
#include "data/source/source.h"

namespace roentgen::data {
namespace {

bool have_equal_labels(const Sample& one, const Sample& other) {
  return std::ranges::equal(one.labels, other.labels,
                            [](float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); });
}

}  // namespace

std::optional<std::size_t> LinkedFiles::add(const std::filesystem::path& path, std::size_t number) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  const auto [position, is_new] = numbers_.try_emplace({status.st_dev, status.st_ino}, number);
  return is_new ? std::nullopt : std::optional(position->second);
}

void note_linked_files(Listing& listing) {
  if (listing.linked.empty()) return;
  std::unordered_map<std::string_view, const Sample*> samples;
  for (const Sample& sample : listing.samples) samples.emplace(sample.id, &sample);
  Tally splits;
  std::int64_t other_labels = 0;
  for (const auto& [id, first] : listing.linked) {
    const auto one = samples.find(id), other = samples.find(first);
    if (one == samples.end() || other == samples.end()) continue;  // image was dropped because of its view
    Split a = other->second->split, b = one->second->split;
    if (a != b && a != Split::None && b != Split::None) {
      if (b < a) std::swap(a, b);
      splits.add(fmt::format("{} and {}", name_of(a), name_of(b)));
    }
    other_labels += have_equal_labels(*one->second, *other->second) ? 0 : 1;
  }
  if (!splits.is_empty()) {
    listing.notes.push_back("files that links put into two splits, which leaks test data: " + splits.text());
  }
  if (other_labels > 0) {
    listing.notes.push_back(fmt::format("files that occur with different labels because of links: {}", other_labels));
  }
}

}  // namespace roentgen::data
