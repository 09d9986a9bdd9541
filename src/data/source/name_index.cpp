// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/name_index.h"

#include <algorithm>
#include <iterator>

#include "data/source/dataset.h"

namespace roentgen::data {
namespace {

// Reverses a path: "b/./a.png" becomes "a.png/b/".
std::string reversed(std::string_view image) {
  std::string key;
  while (!image.empty()) {
    const std::size_t slash = image.find_last_of('/');
    const std::string_view part = slash == std::string_view::npos ? image : image.substr(slash + 1);
    if (!part.empty() && part != ".") key.append(part).push_back('/');
    image = slash == std::string_view::npos ? std::string_view() : image.substr(0, slash);
  }
  return key;
}

// Number of leading path components that two reversed names share.
std::size_t shared_parts(std::string_view a, std::string_view b) {
  const auto stop = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first;
  return static_cast<std::size_t>(std::count(a.begin(), stop, '/'));
}

}  // namespace

NameIndex::NameIndex(const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < names.size(); ++i) add(names[i], i);
}

NameIndex::NameIndex(const Dataset& dataset) {
  for (std::size_t i = 0; i < dataset.samples.size(); ++i) add(dataset.samples[i].id, i);
}

bool NameIndex::add(std::string_view image, std::size_t row) {
  const auto [at, is_new] = rows_.try_emplace(reversed(image), row);
  if (!is_new) return false;
  if (at != rows_.begin()) most_shared_ = std::max(most_shared_, shared_parts(at->first, std::prev(at)->first));
  if (std::next(at) != rows_.end()) {
    most_shared_ = std::max(most_shared_, shared_parts(at->first, std::next(at)->first));
  }
  return true;
}

std::optional<std::size_t> NameIndex::find_ending(std::string_view image) const {
  const std::string key = reversed(image);
  if (key.empty()) return std::nullopt;
  const auto first = rows_.lower_bound(key);
  if (first != rows_.end() && first->first.starts_with(key)) {
    const auto second = std::next(first);
    const bool is_only = second == rows_.end() || !second->first.starts_with(key);
    return is_only || first->first == key ? std::optional(first->second) : std::nullopt;
  }
  for (std::size_t end = key.size() - 1; end > 0;) {
    const std::size_t slash = key.find_last_of('/', end - 1);
    if (slash == std::string::npos) break;
    end = slash;
    if (const auto found = rows_.find(std::string_view(key).substr(0, end + 1)); found != rows_.end()) {
      return found->second;
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> NameIndex::find(std::string_view image) const {
  if (const auto found = find_ending(image)) return found;
  const std::string key = reversed(image);
  const auto next = rows_.lower_bound(key);
  if (next != rows_.end() && shared_parts(next->first, key) > most_shared_) return next->second;
  if (next != rows_.begin() && shared_parts(std::prev(next)->first, key) > most_shared_) {
    return std::prev(next)->second;
  }
  return std::nullopt;
}

}  // namespace roentgen::data
