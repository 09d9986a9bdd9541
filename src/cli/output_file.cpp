// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/output_file.h"

#include <algorithm>
#include <string>
#include <system_error>

#include "core/error.h"
#include "io/file.h"

namespace roentgen::cli {
namespace {

namespace fs = std::filesystem;

/// Links resolved as far as the path exists, without a slash at the end.
fs::path resolved(const fs::path& path) {
  std::error_code error;
  fs::path result = fs::weakly_canonical(fs::absolute(path, error), error);
  if (error) result = fs::absolute(path, error).lexically_normal();
  return result.has_filename() ? result : result.parent_path();
}

std::string named(std::string_view option, const fs::path& path) { return std::string(option) + " " + path.string(); }

}  // namespace

void refuse_inside_data(std::string_view option, const fs::path& path, const fs::path& data) {
  if (data.empty()) return;
  const fs::path folder = resolved(data);
  const fs::path inner = resolved(path);
  if (std::mismatch(folder.begin(), folder.end(), inner.begin(), inner.end()).first != folder.end()) return;
  throw ConfigError(error_text("cli.output", named(option, path), "a path outside the data folder",
                               "one inside " + data.string(), "a path elsewhere: data folders are never written to"));
}

void check_output_file(std::string_view option, const fs::path& path, const Folders& folders) {
  if (path.empty()) return;
  refuse_inside_data(option, path, folders.data);
  std::error_code ignored;
  const fs::file_status there = fs::status(path, ignored);
  if (fs::exists(there) && !fs::is_regular_file(there)) {
    throw ConfigError(error_text("cli.output", named(option, path), "a file that can be written",
                                 fs::is_directory(there) ? "a folder" : "a device, pipe or socket",
                                 "the name of a file"));
  }
  const bool is_in_made = !folders.made.empty() && resolved(path).parent_path() == resolved(folders.made);
  if (is_in_made && !fs::exists(folders.made, ignored)) return;
  const io::AtomicFile probe(path);  // refuses, or leaves nothing
}

}  // namespace roentgen::cli
