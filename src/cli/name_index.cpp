// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/name_index.h"

#include <filesystem>

namespace roentgen::cli {
namespace {

std::string base_name(const std::string& image) { return std::filesystem::path(image).filename().string(); }

}  // namespace

void NameIndex::add(const std::string& image, std::size_t row) {
  whole_.try_emplace(image, row);
  const auto [entry, is_new] = base_.try_emplace(base_name(image), row);
  if (!is_new) entry->second = kTwice;
}

std::optional<std::size_t> NameIndex::find(const std::string& image) const {
  if (const auto found = whole_.find(image); found != whole_.end()) return found->second;
  const auto found = base_.find(base_name(image));
  if (found == base_.end() || found->second == kTwice) return std::nullopt;
  return found->second;
}

}  // namespace roentgen::cli
