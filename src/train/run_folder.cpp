// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "train/run_folder.h"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <system_error>

#include "core/error.h"
#include "core/foreign_text.h"
#include "core/plural.h"
#include "io/file.h"
#include "train/observer.h"
#include "train/run_lock.h"
#include "train/trace_parts.h"

namespace roentgen::train {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOldResume = "resume-";
constexpr std::string_view kEpoch = "epoch-";
constexpr std::string_view kEvents = "events.out.tfevents.";
constexpr std::string_view kSuffix = ".safetensors";

bool is_numbered(const std::string& name, std::string_view prefix) {
  return name.starts_with(prefix) && name.ends_with(kSuffix) && name.size() > prefix.size() + kSuffix.size();
}

// Returns the paths in a folder whose names `is_wanted` accepts, sorted; empty if the folder does not exist.
template <typename Wanted>
std::vector<fs::path> files_in(const fs::path& folder, const Wanted& is_wanted) {
  std::vector<fs::path> files;
  if (!fs::is_directory(folder)) return files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (is_wanted(entry.path().filename().string())) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

bool is_old_resume(const std::string& name) { return is_numbered(name, kOldResume); }

}  // namespace

std::string RunFolder::epoch_file(std::int64_t epoch) { return fmt::format("{}{:03}{}", kEpoch, epoch, kSuffix); }

std::vector<fs::path> RunFolder::own() const {
  return {recipe(),      log(),    environment(), plan(),        data(), data_folders(), quarantine(),
          predictions(), aurocs(), trace(),       trace_parts(), lock(), checkpoints()};
}

void check_place_of(const fs::path& folder, const fs::path& named, std::string_view option) {
  std::error_code error;
  fs::path place = fs::absolute(folder, error).lexically_normal();
  while (!fs::exists(fs::status(place, error)) && place.has_relative_path()) place = place.parent_path();
  if (!fs::is_directory(place, error)) {
    throw DataError(error_text("train.run", named.string(), "a folder that can be created", "a file: " + place.string(),
                               fmt::format("another {}, or removing the file", option)));
  }
  // Creates a folder, because permissions do not reveal file systems such as /proc.
  std::string name = (place / ".roentgen_XXXXXX").string();
  if (::mkdtemp(name.data()) != nullptr) {
    ::rmdir(name.c_str());
    return;
  }
  const std::string cause = std::generic_category().message(errno);
  throw DataError(error_text("train.run", named.string(), "a folder that can be written", place.string() + ": " + cause,
                             fmt::format("another {}, or changing the permissions", option)));
}

void RunFolder::check_place() const { check_place_of(checkpoints(), root_, "--out"); }

void RunFolder::check_new() const {
  for (const fs::path& path : {recipe(), log(), best(), resume()}) {
    if (!fs::exists(path)) continue;
    throw ConfigError(error_text("train.run", root_.string(), "a new or empty folder",
                                 path.filename().string() + " of an earlier run",
                                 "--resume to continue, --overwrite to start again, or another --out"));
  }
}

void RunFolder::check_own() const {
  if (fs::exists(recipe()) || fs::exists(log()) || fs::exists(best()) || fs::exists(resume())) return;
  const std::vector<fs::path> known = own();
  const auto is_foreign = [&known](const std::string& name) {
    return !name.starts_with('.') &&
           std::ranges::none_of(known, [&name](const fs::path& path) { return path.filename() == name; });
  };
  const std::vector<fs::path> foreign = files_in(root_, is_foreign);
  if (foreign.empty()) return;
  throw ConfigError(error_text("train.run", root_.string(), "a new or empty folder, or a run",
                               counted(std::ssize(foreign), "other file or folder", "other files or folders"),
                               "another --out"));
}

void RunFolder::check_resumable() const {
  if (fs::exists(resume()) || !fs::exists(best())) return;
  throw ConfigError(
      error_text("train.run", resume().string(), "a resume file", "only best.safetensors",
                 "--init " + shell_word(best().string()) + " and another --out, or --overwrite to start again"));
}

void RunFolder::create_new() const {
  check_new();
  std::error_code error;
  fs::create_directories(checkpoints(), error);
  if (error || !fs::is_directory(checkpoints())) {
    throw DataError(error_text("train.run", checkpoints().string(), "a folder that can be created",
                               error ? error.message() : "a file of this name", "another --out, or removing the file"));
  }
}

void RunFolder::remove_leftovers() const {
  for (const fs::path& folder : {root_, checkpoints()}) io::remove_leftover_temporaries(folder);
  if (!fs::exists(trace_parts())) return;
  merge_trace_parts(trace_parts(), trace());
  fs::remove_all(trace_parts());
}

void RunFolder::tidy_up() const {
  if (!fs::exists(trace_parts())) return;
  std::optional<RunLock> lock;
  try {
    lock.emplace(root_);
  } catch (const ConfigError&) {
    return;  // the lock belongs to another process
  }
  remove_leftovers();
}

void RunFolder::remove_run() const {
  for (const fs::path& path : {recipe(), log(), environment(), plan(), data(), data_folders(), quarantine(),
                               predictions(), aurocs(), trace()}) {
    fs::remove(path);
  }
  fs::remove_all(trace_parts());
  const auto is_event = [](const std::string& name) {
    return name.starts_with(kEvents) && name.ends_with(kEventSuffix);
  };
  const auto is_kept = [](const std::string& name) { return is_old_resume(name) || is_numbered(name, kEpoch); };
  for (const fs::path& path : files_in(root_, is_event)) fs::remove(path);
  if (!fs::is_directory(checkpoints())) return;
  for (const fs::path& path : {best(), resume()}) fs::remove(path);
  for (const fs::path& path : files_in(checkpoints(), is_kept)) fs::remove(path);
}

std::vector<std::string> keep_best(KeptBest& kept, const std::string& file, double score, std::int64_t limit) {
  const auto place = std::find_if(kept.begin(), kept.end(), [&](const auto& entry) { return entry.second < score; });
  kept.emplace(place, file, score);
  std::vector<std::string> dropped;
  while (static_cast<std::int64_t>(kept.size()) > limit) {
    dropped.push_back(kept.back().first);
    kept.pop_back();
  }
  return dropped;
}

void rotate_resume(const RunFolder& folder, std::int64_t step, std::int64_t limit) {
  if (limit <= 1 || !fs::exists(folder.resume())) return;
  std::error_code error;
  const fs::path old = folder.checkpoints() / fmt::format("{}{:09}{}", kOldResume, step, kSuffix);
  fs::create_hard_link(folder.resume(), old, error);
  if (error && !fs::exists(old)) fs::copy_file(folder.resume(), old);  // file systems without hard links
  std::vector<fs::path> files = files_in(folder.checkpoints(), is_old_resume);
  while (static_cast<std::int64_t>(files.size()) > limit - 1) {
    fs::remove(files.front());
    files.erase(files.begin());
  }
}

}  // namespace roentgen::train
