// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/output_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>
#include <variant>

#include "core/error.h"
#include "data/source/dataset.h"
#include "io/place.h"
#include "train/run_folder.h"
#include "train/run_origin.h"

namespace roentgen::cli {
namespace {

namespace fs = std::filesystem;

std::string named(std::string_view option, const fs::path& path) { return std::string(option) + " " + path.string(); }

/// Returns the existing files that the option's value names.
Paths files_of(const Option& option) {
  if (const auto* path = std::get_if<fs::path*>(&option.target)) return (*path)->empty() ? Paths{} : Paths{**path};
  Paths files;
  const auto add = [&](const std::string& text) {
    std::error_code ignored;  // the value of a text option such as --model need not be a file name
    if (!text.empty() && fs::exists(text, ignored)) files.emplace_back(text);
  };
  if (const auto* text = std::get_if<std::string*>(&option.target)) add(**text);
  if (const auto* texts = std::get_if<std::vector<std::string>*>(&option.target)) {
    for (const std::string& text : **texts) add(text);
  }
  return files;
}

[[noreturn]] void refuse_taken(const Option& output, const fs::path& path, std::string_view taken_by) {
  throw ConfigError(error_text("cli.output", named(output.name, path), "a file that nothing else uses", taken_by,
                               "another file name"));
}

// Refuses an output that would replace a file of the run or lie in its data folders.
void check_apart_from_run(const Option& output, const fs::path& path, const train::RunFolder& run) {
  for (const fs::path& own : run.own()) {
    if (io::is_inside(path, own)) refuse_taken(output, path, own.string() + ", which belongs to a run");
  }
  for (const std::string& folder : train::stored_data_folders(run)) {
    io::refuse_inside_data(output.name, path, data::folder_of(folder));
  }
}

}  // namespace

Folders data_folders(const std::vector<std::string>& data) {
  Folders folders;
  for (const std::string& text : data) {
    folders.read.push_back(data::folder_of(text));
    if (folders.data.empty()) folders.data = folders.read.front();
  }
  return folders;
}

Paths run_of(const fs::path& checkpoint) {
  const fs::path folder = checkpoint.parent_path();
  std::error_code ignored;
  if (folder.filename() != "checkpoints") return {};
  const train::RunFolder run(folder.parent_path());
  return fs::exists(run.recipe(), ignored) ? Paths{run.root()} : Paths{};
}

void check_apart(const std::vector<Option>& options, const Folders& folders) {
  for (const Option& output : options) {
    if (!output.is_output) continue;
    for (const fs::path& path : files_of(output)) {
      for (const Option& other : options) {
        if (other.name == output.name) continue;
        const Paths taken = files_of(other);
        const bool is_taken =
            std::ranges::any_of(taken, [&](const fs::path& file) { return io::resolved(file) == io::resolved(path); });
        if (is_taken) refuse_taken(output, path, "that of " + other.name);
      }
      for (const fs::path& own : folders.own) {
        if (io::is_inside(path, own)) refuse_taken(output, path, own.string() + ", which the command itself writes");
      }
      for (const fs::path& read : folders.read) {
        if (!read.empty()) io::refuse_inside_data(output.name, path, read);
      }
      for (const fs::path& run : folders.runs) check_apart_from_run(output, path, train::RunFolder(run));
    }
  }
}

void check_output_file(std::string_view option, const fs::path& path, const Folders& folders) {
  if (path.empty()) return;
  io::refuse_inside_data(option, path, folders.data);
  std::error_code ignored;
  const fs::file_status there = fs::status(path, ignored);
  if (fs::exists(there) && !fs::is_regular_file(there)) {
    throw ConfigError(error_text("cli.output", named(option, path), "a file that can be written",
                                 fs::is_directory(there) ? "a folder" : "a device, pipe or socket",
                                 "the name of a new file"));
  }
  const bool is_in_made = !folders.made.empty() && io::resolved(path).parent_path() == io::resolved(folders.made);
  if (is_in_made && !fs::exists(folders.made, ignored)) return;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  int code = ::access(folder.c_str(), W_OK | X_OK) == 0 ? 0 : errno;
  if (code == 0 && !fs::is_directory(folder, ignored)) code = ENOTDIR;
  if (code == 0) return;
  const std::string cause = std::generic_category().message(code);
  throw DataError(error_text("cli.output", named(option, path), "a folder that can be written to",
                             folder.string() + ": " + cause, "creating this folder, or a path in another folder"));
}

void check_output_files(const std::vector<Option>& options, const Folders& folders) {
  for (const Option& option : options) {
    if (!option.is_output) continue;
    for (const fs::path& path : files_of(option)) {
      if (path != folders.made) check_output_file(option.name, path, folders);
    }
  }
}

}  // namespace roentgen::cli
