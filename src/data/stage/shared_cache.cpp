// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/shared_cache.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <utility>

#include "core/error.h"
#include "core/log.h"
#include "core/plural.h"
#include "data/stage/pixel_hashes.h"
#include "io/descriptor.h"

namespace roentgen::data {
namespace {

constexpr std::string_view kThing = "data.shared_cache";

// Device and inode of an open file, which differ between all files of a machine. Empty if it cannot be read.
std::string identity_of(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return {};
  return fmt::format("{} {}", status.st_dev, status.st_ino);
}

}  // namespace

Result<std::unique_ptr<SharedCache>> SharedCache::create(const CacheFileForm& form) {
  io::Descriptor file(::memfd_create("roentgen images", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (file.get() < 0) return failure(kThing, "shared memory", "anonymous memory", io::system_message(errno));
  // Nobody can shorten the memory, so its pages never vanish while they are read.
  static_cast<void>(::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK));
  std::string address = fmt::format("{} {} {}", ::getpid(), file.get(), identity_of(file.get()));
  try {
    return std::unique_ptr<SharedCache>(new SharedCache(std::move(file), std::move(address), form));
  } catch (const DataError& error) {
    return Failure{error.what()};
  }
}

Result<std::unique_ptr<SharedCache>> SharedCache::attach(std::string_view address, const CacheFileForm& form) {
  const auto refuse = [&](std::string_view got) {
    return failure(kThing, address, "shared memory of another process of this machine", got);
  };
  int process = 0, descriptor = 0;
  const char* const end = address.data() + address.size();
  const auto first = std::from_chars(address.data(), end, process);
  if (first.ec != std::errc() || first.ptr == end) return refuse("another text");
  const auto second = std::from_chars(first.ptr + 1, end, descriptor);
  if (second.ec != std::errc() || second.ptr == end) return refuse("another text");
  const std::string path = fmt::format("/proc/{}/fd/{}", process, descriptor);
  io::Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return refuse(io::system_message(errno));
  // In a container with process numbers of its own, the same number may be another process.
  if (identity_of(file.get()) != std::string_view(second.ptr + 1, end)) return refuse("another file");
  try {
    return std::unique_ptr<SharedCache>(new SharedCache(std::move(file), std::string(address), form));
  } catch (const DataError& error) {
    return Failure{error.what()};
  }
}

Result<StoredPicture> SharedCache::get(std::uint32_t sample, ImageUse /*use*/, const Decode& decode, Image& memory) {
  if (const auto entry = file_.find(sample)) {
    return StoredPicture{
        .image = Image::borrow(entry->layout, entry->pixels), .pixel_hash = entry->pixel_hash, .is_kept = true};
  }
  if (const Status decoded = decode(memory); !decoded) return decoded.why();
  if (memory.is_for_one_use()) return StoredPicture{.image = memory.view()};
  const std::uint64_t hash = pixel_hash(memory);
  keep(sample, {.layout = memory.layout(), .pixel_hash = hash, .pixels = memory.bytes()});
  return StoredPicture{.image = memory.view(), .pixel_hash = hash};
}

void SharedCache::keep(std::uint32_t sample, const CacheEntry& entry) {
  const std::uint64_t bytes = entry.pixels.size();
  if (bytes > file_.largest_bytes() || bytes >= refused_bytes_.load() || !file_.reserve(sample)) return;
  if (file_.put(sample, entry)) return;
  const bool is_first = refused_bytes_.exchange(bytes) == ~std::uint64_t{0};
  if (!is_first) return;
  log::info(
      fmt::format("cache in shared memory: no room for an image of {} bytes after {}; images of this size are "
                  "decoded in every epoch",
                  bytes, counted(kept(), "image")));
}

}  // namespace roentgen::data
