// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/unpacked.h"

#include <fmt/core.h>

#include <system_error>

#include "core/error.h"
#include "core/log.h"
#include "io/file.h"
#include "io/gzip.h"
#include "io/sha256.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;

// Another file, another name.
std::string key_of(const fs::path& path, std::uint64_t size) {
  std::error_code ignored;
  const auto changed = fs::last_write_time(path, ignored).time_since_epoch().count();
  return io::sha256_hex(fmt::format("{}\n{}\n{}", fs::absolute(path).lexically_normal().string(), size, changed))
      .substr(0, 24);
}

}  // namespace

fs::path unpacked(const fs::path& path, const fs::path& cache_folder) {
  const io::MappedFile file = io::MappedFile::open(path).or_throw<DataError>();
  const std::string_view packed(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  if (!io::is_gzip(packed)) return path;
  const std::string name = path.filename().string();
  const fs::path folder = cache_folder / "unpacked";
  const fs::path result = folder / (key_of(path, packed.size()) + "-" + path.stem().string());
  std::error_code error;
  if (fs::is_regular_file(result, error)) return result;
  fs::create_directories(folder, error);
  if (error) {
    throw DataError(error_text("data.unpack", folder.string(), "a folder for unpacked files", error.message(),
                               "XDG_CACHE_HOME=DIR, or gunzip " + name));
  }
  fs::permissions(folder, fs::perms::owner_all, error);  // they are as private as the data
  io::remove_leftover_temporaries(folder);
  log::info(fmt::format("unpacking {} ({} MiB) into the cache folder", name, packed.size() >> 20));
  constexpr std::uint64_t kMostRatio = 100, kAlways_bytes = 64 << 20;
  io::AtomicFile out(result);
  static_cast<void>(
      io::gunzip_to(packed, kMostRatio * packed.size() + kAlways_bytes, name, [&out](std::string_view piece) {
        out.write(piece);
      }).or_throw<DataError>());
  out.commit();
  return result;
}

}  // namespace roentgen::data
