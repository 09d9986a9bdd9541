// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/unpacked.h"

#include <fmt/core.h>

#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/log.h"
#include "data/source/record_index.h"
#include "io/file.h"
#include "io/gzip.h"
#include "io/map_guard.h"
#include "io/sha256.h"
#include "runtime/cache_folder.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;

// Name of the unpacked copy, different for each file.
std::string key_of(const fs::path& path) {
  return io::sha256_hex(fmt::format("{}\n{}", fs::absolute(path).lexically_normal().string(), file_state(path)))
      .substr(0, 24);
}

// Path of a file that stores file_state() of the unpacked copy after it was written.
fs::path state_path(const fs::path& result) { return result.string() + ".state"; }

bool is_as_written(const fs::path& result) {
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(result, error))) return false;
  const auto state = io::read_text(state_path(result));
  return state.ok() && state.value() == file_state(result);
}

}  // namespace

fs::path unpacked(const fs::path& path, const fs::path& cache_folder) {
  const io::MappedFile file = io::MappedFile::open(path).or_throw<DataError>();
  const std::string_view packed(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  if (!io::is_gzip(packed)) return path;
  const std::string name = path.filename().string();
  const fs::path folder = cache_folder / "unpacked";
  // Unpacked copies must be as private as the data.
  const std::string problem = cache_folder.empty() ? "no cache folder" : runtime::make_private_folder(folder);
  if (!problem.empty()) {
    throw DataError(error_text("data.unpack", name, "a private cache folder for unpacked files", problem,
                               "setting XDG_CACHE_HOME=DIR, or gunzip " + name));
  }
  const fs::path result = folder / (key_of(path) + "-" + path.stem().string());
  if (is_as_written(result)) return result;
  io::remove_leftover_temporaries(folder);
  log::info(fmt::format("unpacking {} ({} MiB) into the cache folder", name, packed.size() >> 20));
  constexpr std::uint64_t kMostRatio = 100, kAlways_bytes = 64 << 20;
  io::AtomicFile out(result);
  auto unpacked_bytes = io::gunzip_to(packed, kMostRatio * packed.size() + kAlways_bytes, name,
                                      [&out](std::string_view piece) { out.write(piece); });
  static_cast<void>(io::check_map(file.bytes(), path).or_throw<DataError>());
  static_cast<void>(std::move(unpacked_bytes).or_throw<DataError>());
  out.commit();
  io::write_file_atomically(state_path(result), file_state(result));
  return result;
}

}  // namespace roentgen::data
