// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/record_folder.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/log.h"

namespace roentgen::bench {
namespace {

namespace fs = std::filesystem;

fs::path make_folder(const fs::path& work) {
  std::string name = (work / "roentgen-bench-XXXXXX").string();
  if (::mkdtemp(name.data()) != nullptr) return name;
  throw ConfigError(error_text("bench.records", work.string(), "a folder that can be written to", std::strerror(errno),
                               "--work DIR"));
}

// Adds one label to a data set without labels, because record files need at least one.
data::Dataset with_label(data::Dataset dataset) {
  if (!dataset.label_names.empty()) return dataset;
  dataset.label_names = {"none"};
  for (data::Sample& sample : dataset.samples) sample.labels = {0.0F};
  return dataset;
}

}  // namespace

FolderRemover::FolderRemover(const fs::path& folder) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
  // The pipe ends with this process. The remover has a process group of its own, so that Ctrl-C does not end it.
  std::string path = folder.string();
  std::array<std::string, 4> words{"sh", "-c", "cat > /dev/null; rm -rf -- \"$1\"", "sh"};
  const std::array<char*, 6> arguments{words[0].data(), words[1].data(), words[2].data(),
                                       words[3].data(), path.data(),     nullptr};
  posix_spawn_file_actions_t actions{};
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
  posix_spawnattr_t attributes{};
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  if (::posix_spawnp(&process_, "sh", &actions, &attributes, arguments.data(), environ) != 0) process_ = -1;
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[0]);
  pipe_ = ends[1];
}

FolderRemover::~FolderRemover() {
  if (pipe_ >= 0) ::close(pipe_);
  if (process_ > 0) ::waitpid(process_, nullptr, 0);
}

RecordFolder::RecordFolder(const data::Dataset& dataset, data::ConvertOptions options, const fs::path& work)
    : folder_(fs::absolute(make_folder(work))), remover_(folder_) {
  try {
    options.folder = folder_ / "records";
    const data::Dataset labelled = with_label(dataset);
    const auto begin = std::chrono::steady_clock::now();
    const data::Converted converted = data::convert(labelled, options);
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    bytes_ = converted.bytes;
    data::SourceOptions source{.root = options.folder};
    source.labels = labelled.label_names;
    source.split.mode = data::SplitMode::Whole;
    dataset_ = data::load_dataset(source);
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
    throw;
  }
}

RecordFolder::~RecordFolder() {
  std::error_code error;
  fs::remove_all(folder_, error);
  if (error) log::warning("cannot remove " + folder_.string() + ": " + error.message());
}

std::int64_t record_files_for(std::int64_t images) {
  constexpr std::int64_t kImagesInAFile = 32, kMostFiles = 64;
  return std::clamp<std::int64_t>(images / kImagesInAFile, 1, kMostFiles);
}

}  // namespace roentgen::bench
