// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/checkpoint_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/log.h"
#include "io/file.h"
#include "io/place.h"
#include "io/sha256.h"
#include "runtime/cache_folder.h"
#include "train/resume.h"
#include "train/run_id.h"

namespace roentgen::train {
namespace {

namespace fs = std::filesystem;

/// Position in a run: number of updates, then number of epochs.
using Position = std::pair<std::int64_t, std::int64_t>;

// Returns the position of a checkpoint; nullopt if the file does not exist or cannot be read.
std::optional<Position> position_of(const fs::path& path) {
  if (!fs::exists(path)) return std::nullopt;
  try {
    const CheckpointInfo info = read_checkpoint_info(path);
    return Position{info.step, info.epoch};
  } catch (const ConfigError& error) {
    log::warning(error.what());
    return std::nullopt;
  }
}

void copy_whole(const fs::path& from, const fs::path& to) {
  const std::atomic<bool> is_stopped = false;
  copy_checkpoint(from, to, is_stopped);
}

// Returns the common beginning of the names of local_checkpoints() for all runs at one path. Older versions used it as
// the whole name.
std::string common_name(const RunFolder& run) {
  constexpr std::size_t kDigits = 16;
  const std::string place = io::resolved(fs::absolute(run.root())).string();
  return "roentgen-checkpoints-" + io::sha256_hex(place).substr(0, kDigits);
}

// Returns the folders in `dir` of all runs at this path, also of earlier ones.
std::vector<fs::path> all_local_checkpoints(const RunFolder& run, const fs::path& dir) {
  std::vector<fs::path> folders;
  const std::string name = common_name(run);
  std::error_code error;
  for (fs::directory_iterator entry(dir, error); !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (entry->path().filename().string().starts_with(name)) folders.push_back(entry->path());
  }
  return folders;
}

}  // namespace

fs::path local_checkpoints(const RunFolder& run, const fs::path& dir) {
  const std::string id = run_id(run);
  return dir / (common_name(run) + (id.empty() ? "" : "-" + id));
}

void check_checkpoint_dir(const RunFolder& run, const fs::path& dir) {
  if (!dir.empty()) check_place_of(local_checkpoints(run, dir), dir, "--checkpoint-dir");
}

std::int64_t newest_step(const RunFolder& run, const fs::path& dir) {
  std::int64_t step = position_of(run.resume()).value_or(Position{-1, 0}).first;
  if (dir.empty() || run_id(run).empty()) return step;
  const fs::path local = local_checkpoints(run, dir) / run.resume().filename();
  return std::max(step, position_of(local).value_or(Position{-1, 0}).first);
}

void take_local_checkpoints(const RunFolder& run, const fs::path& dir) {
  if (dir.empty() || !fs::exists(run.recipe())) return;
  const fs::path folder = local_checkpoints(run, dir);
  const bool has_id = !run_id(run).empty();
  for (const fs::path& other : all_local_checkpoints(run, dir)) {
    if (has_id && other == folder) continue;
    log::warning("checkpoints of another run, or of a version without run ids, are ignored: " + other.string());
  }
  if (!has_id) return;
  const fs::path local = folder / run.resume().filename();
  const auto newest = position_of(local);
  if (!newest || newest <= position_of(run.resume())) return;
  fs::create_directories(run.checkpoints());
  for (const auto& [name, score] : read_run_state(local).kept_best) {
    const fs::path kept = run.checkpoints() / name;
    if (fs::exists(folder / name) && !fs::exists(kept)) copy_whole(folder / name, kept);
  }
  const fs::path best = folder / run.best().filename();
  const auto best_position = position_of(best);
  if (best_position && best_position > position_of(run.best())) copy_whole(best, run.best());
  copy_whole(local, run.resume());
  log::info(fmt::format("checkpoint of update {} taken from {}", newest->first, folder.string()));
}

void remove_local_checkpoints(const RunFolder& run, const fs::path& dir) {
  std::error_code ignored;
  for (const fs::path& folder : all_local_checkpoints(run, dir)) fs::remove_all(folder, ignored);
}

void copy_checkpoint(const fs::path& from, const fs::path& to, const std::atomic<bool>& is_stopped) {
  constexpr std::size_t kChunkBytes = 8U << 20U;
  const auto file = io::MappedFile::open(from).or_throw<DataError>();
  io::AtomicFile copy(to);
  for (std::span<const std::byte> rest = file.bytes(); !rest.empty();) {
    if (is_stopped) return;
    const auto chunk = rest.first(std::min(rest.size(), kChunkBytes));
    copy.write(chunk);
    rest = rest.subspan(chunk.size());
  }
  copy.commit();
}

CheckpointPlace::CheckpointPlace(RunFolder run, const fs::path& dir, Copy copy)
    : run_(std::move(run)), id_(run_id(run_)), dir_(dir), copy_(std::move(copy)) {
  if (dir.empty()) return;
  folder_ = local_checkpoints(run_, dir);
  const std::string reason = runtime::make_private_folder(folder_);
  if (reason.empty()) return;
  throw DataError(
      error_text("train.checkpoint", dir.string(), "a folder that can be written", reason, "another --checkpoint-dir"));
}

CheckpointPlace::~CheckpointPlace() {
  constexpr std::chrono::seconds kGrace{5};
  if (!copies_.valid()) return;
  copies_.wait_for(kGrace);
  is_stopped_ = true;  // makes the copy stop; the future's destructor waits for its thread
}

fs::path CheckpointPlace::local(const fs::path& path) const { return folder_ / path.filename(); }

fs::path CheckpointPlace::file(const fs::path& path) {
  const std::string found = run_id(run_);
  std::error_code error;
  const bool is_gone = !fs::exists(run_.environment(), error) && !error;
  // A file that cannot be read at the moment, as on a network file system, says nothing about the run.
  if ((is_gone && !id_.empty()) || (!found.empty() && found != id_)) {
    throw DataError(error_text("train.checkpoint", run_.root().string(), "the run that this process trains",
                               "a folder without environment.json, or with the run_id of another run in it",
                               "one --out per run"));
  }
  if (folder_.empty()) return path;
  if (copies_.valid()) copies_.get();
  return local(path);
}

void CheckpointPlace::publish(const std::vector<fs::path>& paths) {
  if (folder_.empty()) return;
  if (copies_.valid()) copies_.get();
  copies_ = std::async(std::launch::async, [this, paths] {
    for (const fs::path& path : paths) {
      if (!is_stopped_) copy_(local(path), path, is_stopped_);
    }
  });
}

void CheckpointPlace::remove(const fs::path& path) {
  if (copies_.valid()) copies_.get();
  fs::remove(path);
  if (!folder_.empty()) fs::remove(local(path));
}

void CheckpointPlace::finish(std::chrono::milliseconds limit) {
  if (folder_.empty()) return;
  if (copies_.valid() && copies_.wait_for(limit) != std::future_status::ready) {
    is_stopped_ = true;
    throw DataError(error_text("train.checkpoint", run_.checkpoints().string(),
                               fmt::format("a copy of the last checkpoint within {} ms", limit.count()),
                               "an incomplete copy",
                               "roentgen train --resume with --checkpoint-dir " + dir_.string() + " on this host"));
  }
  if (copies_.valid()) copies_.get();
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

}  // namespace roentgen::train
