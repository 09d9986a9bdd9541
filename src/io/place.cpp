// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/place.h"

#include <algorithm>
#include <string>
#include <system_error>

#include "core/error.h"

namespace roentgen::io {

namespace fs = std::filesystem;

fs::path resolved(const fs::path& path) {
  std::error_code error;
  fs::path result = fs::weakly_canonical(fs::absolute(path, error), error);
  if (error) result = fs::absolute(path, error).lexically_normal();
  return result.has_filename() ? result : result.parent_path();
}

bool is_inside(const fs::path& path, const fs::path& folder) {
  const fs::path outer = resolved(folder);
  const fs::path inner = resolved(path);
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

void refuse_inside_data(std::string_view option, const fs::path& path, const fs::path& data) {
  if (data.empty() || !is_inside(path, data)) return;
  throw ConfigError(error_text("io.place", std::string(option) + " " + path.string(), "a path outside the data folder",
                               "one inside " + data.string(), "a path elsewhere: data folders are never written to"));
}

}  // namespace roentgen::io
