// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/converted.h"

#include <fmt/core.h>

#include <cstdint>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/plural.h"
#include "core/value.h"
#include "io/json.h"

namespace roentgen::data {

namespace fs = std::filesystem;

namespace {

// Reads the convert.json of a conversion with --to `format`; null if there is no readable one.
Value manifest_of(const fs::path& folder, std::string_view format) {
  constexpr std::uintmax_t kMost_bytes = 1 << 20;
  const fs::path path = folder / "convert.json";
  std::error_code error;
  if (fs::file_size(path, error) > kMost_bytes || error) return {};
  auto manifest = io::read_json(path);
  if (!manifest || !manifest.value().is_table()) return {};
  const Value* written = manifest.value().find("format");
  if (written == nullptr || !written->is_string() || written->as_string() != format) return {};
  return std::move(manifest).value();
}

}  // namespace

std::optional<std::vector<std::string>> converted_labels(const fs::path& folder, std::string_view format) {
  const Value manifest = manifest_of(folder, format);
  const Value* labels = manifest.find("labels");
  if (labels == nullptr || !labels->is_array()) return std::nullopt;
  std::vector<std::string> names;
  for (const Value& label : labels->as_array()) {
    if (!label.is_string()) return std::nullopt;
    names.push_back(label.as_string());
  }
  return names;
}

void check_converted_count(const SourceOptions& options, std::string_view source, Listing& listing) {
  if (!options.csv.empty()) return;
  const Value manifest = manifest_of(options.root, source == "csv" ? "png" : source);
  const Value* images = manifest.find("images");
  if (images == nullptr || !images->is_integer()) return;
  const std::int64_t wanted = images->as_integer();
  const std::int64_t found = std::ssize(listing.samples);
  if (found == wanted) return;
  if (found < wanted && options.absent == Absent::Refuse) {
    throw DataError(error_text("data.source", options.root.string(),
                               counted(wanted, "image") + ", as stated in convert.json", fmt::format("{}", found),
                               "converting again, or --set data.absent=skip to ignore the missing images"));
  }
  listing.notes.push_back(fmt::format("images listed in convert.json: {}; found: {}", wanted, found));
}

}  // namespace roentgen::data
