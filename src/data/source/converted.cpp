// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/converted.h"

#include <cstdint>
#include <system_error>

#include "core/value.h"
#include "io/file.h"
#include "io/json.h"

namespace roentgen::data {

namespace fs = std::filesystem;

std::optional<std::vector<std::string>> converted_labels(const fs::path& folder) {
  constexpr std::uintmax_t kMost_bytes = 1 << 20;
  const fs::path path = folder / "convert.json";
  std::error_code error;
  if (fs::file_size(path, error) > kMost_bytes || error) return std::nullopt;
  const auto text = io::read_text(path);
  if (!text) return std::nullopt;
  const auto manifest = io::parse_json(text.value(), path.string());
  if (!manifest || !manifest.value().is_table()) return std::nullopt;
  const Value* format = manifest.value().find("format");
  const Value* labels = manifest.value().find("labels");
  if (format == nullptr || !format->is_string() || format->as_string() != "png") return std::nullopt;
  if (labels == nullptr || !labels->is_array()) return std::nullopt;
  std::vector<std::string> names;
  for (const Value& label : labels->as_array()) {
    if (!label.is_string()) return std::nullopt;
    names.push_back(label.as_string());
  }
  return names;
}

}  // namespace roentgen::data
