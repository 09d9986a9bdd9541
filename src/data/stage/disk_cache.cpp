// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/disk_cache.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/log.h"
#include "core/plural.h"
#include "data/source/dataset.h"
#include "data/stage/pixel_hashes.h"
#include "data/transform/shrink.h"
#include "io/sha256.h"
#include "runtime/cache_folder.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;

/// Version of the cached pixels. Change it whenever a codec's output or the stored form changes.
constexpr int kDecoding = 2;
constexpr std::string_view kRemedy = "another --cache-dir, or train.cache=memory";

fs::path made_folder(const Dataset& dataset, const fs::path& folder) {
  const auto refuse = [&](std::string_view expected, const std::string& got) {
    throw ConfigError(error_text("data.cache", folder.string(), expected, got, kRemedy));
  };
  if (folder.empty()) refuse("a cache folder", "no private folder");
  std::error_code error;
  const fs::path place = fs::weakly_canonical(fs::absolute(folder), error);
  std::vector<fs::path> roots{dataset.root};
  for (const DatasetPart& part : dataset.parts) roots.push_back(part.root);
  for (const fs::path& data : roots) {
    if (data.empty()) continue;
    const fs::path root = fs::weakly_canonical(fs::absolute(data), error);
    if (std::mismatch(root.begin(), root.end(), place.begin(), place.end()).first == root.end()) {
      refuse("a folder outside the data folder", "a folder inside it");
    }
  }
  if (const char* const network = runtime::network_file_system(folder)) {
    refuse("a local disk, because the cache is mapped into memory", network);
  }
  fs::create_directories(folder, error);
  if (!fs::is_directory(folder)) refuse("a folder that can be created", error.message());
  return folder;
}

fs::path file_of(const Dataset& dataset, const DiskCacheOptions& options) {
  return made_folder(dataset, options.folder) / fmt::format("images-{}.cache", cache_key(dataset, options));
}

}  // namespace

std::string cache_key(const Dataset& dataset, const DiskCacheOptions& options) {
  const Preprocess& preprocess = options.preprocess;
  std::string text =
      fmt::format("{} {} {} {} {} {}\n", kDecoding, preprocess.channels, preprocess.intensity, name_of(preprocess.jpeg),
                  options.shrunk_px, options.shrunk_px > 0 ? name_of(preprocess.filter) : "");
  std::error_code ignored;
  for (const Sample& sample : dataset.samples) {
    text += sample.id;
    text += '\n';
    text += fs::absolute(sample.path, ignored).lexically_normal().native();
    if (sample.stored) text += fmt::format("\n{} {}", sample.stored->begin, sample.stored->length);
    // Older versions stored raw colour pixels in colour. The key differs, so that their caches are not used.
    const bool becomes_gray = sample.stored && sample.stored->raw && sample.stored->raw->channels > preprocess.channels;
    if (becomes_gray) text += " gray";
    text += options.shrunk_px > 0 && sample.split == Split::Train ? "\ns\n" : "\n\n";
  }
  return io::fast_hash_hex(std::as_bytes(std::span(text.data(), text.size())));
}

/// Right to decode a sample, held by one thread of this process at a time.
class DiskCache::ThreadClaim {
 public:
  ThreadClaim(DiskCache& cache, std::uint32_t sample) : cache_(cache), sample_(sample) {
    MutexLock lock(cache_.mutex_);
    while (!cache_.claimed_.insert(sample_).second) cache_.released_.wait(lock);
  }
  ThreadClaim(const ThreadClaim&) = delete;
  ThreadClaim& operator=(const ThreadClaim&) = delete;
  ~ThreadClaim() {
    {
      MutexLock lock(cache_.mutex_);
      cache_.claimed_.erase(sample_);
    }
    cache_.released_.notify_all();
  }

 private:
  DiskCache& cache_;
  const std::uint32_t sample_;
};

DiskCache::DiskCache(const Dataset& dataset, DiskCacheOptions options)
    : dataset_(dataset),
      options_(std::move(options)),
      path_(file_of(dataset, options_)),
      file_(path_, {.key = cache_key(dataset, options_), .samples = std::ssize(dataset.samples)}),
      identities_(dataset.samples.size()) {}

std::string DiskCache::text() const {
  return fmt::format("cache: {} of {} stored in {}", kept(), counted(std::ssize(dataset_.samples), "image"),
                     path_.string());
}

bool DiskCache::is_shrunk(std::uint32_t sample) const {
  return options_.shrunk_px > 0 && dataset_.samples.at(sample).split == Split::Train;
}

// Identity of a file, never 0. An absent file has an identity too; reading it reports the error.
std::uint64_t DiskCache::identity_on_disk(std::uint32_t sample) const {
  struct stat status {};
  if (::stat(dataset_.samples.at(sample).path.c_str(), &status) != 0) status = {};
  const std::array<std::int64_t, 3> parts{status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
  return std::max<std::uint64_t>(1, io::fast_hash(std::as_bytes(std::span(parts))));
}

std::uint64_t DiskCache::identity(std::uint32_t sample) {
  auto& known = identities_.at(sample);
  if (known.load() == 0) known.store(identity_on_disk(sample));
  return known.load();
}

std::optional<StoredPicture> DiskCache::find(std::uint32_t sample) {
  const std::uint64_t wanted = identity(sample);  // read first, in case the file changes
  const auto entry = file_.find(sample);
  if (!entry) return std::nullopt;
  if (entry->identity != wanted) {
    // The file may have changed, and another process may have stored it since this process last checked.
    identities_.at(sample).store(identity_on_disk(sample));
    if (entry->identity != identities_.at(sample).load()) return std::nullopt;
  }
  return StoredPicture{
      .image = Image::borrow(entry->layout, entry->pixels), .pixel_hash = entry->pixel_hash, .is_kept = true};
}

bool DiskCache::has(std::uint32_t sample, ImageUse use) {
  return (use == ImageUse::Training || !is_shrunk(sample)) && find(sample).has_value();
}

Result<StoredPicture> DiskCache::get(std::uint32_t sample, ImageUse use, const Decode& decode, Image& memory) {
  const auto given = [&](std::optional<std::uint64_t> hash) {
    return StoredPicture{.image = memory.view(), .pixel_hash = hash};
  };
  if (use == ImageUse::Exact && is_shrunk(sample)) {
    if (const Status decoded = decode(memory); !decoded) return decoded.why();
    return given(std::nullopt);
  }
  if (auto kept = find(sample)) return std::move(*kept);
  const ThreadClaim among_threads(*this, sample);
  const CacheFile::Claim among_processes = file_.claim(sample);
  if (auto kept = find(sample)) return std::move(*kept);
  if (const Status decoded = decode(memory); !decoded) return decoded.why();
  if (memory.is_for_one_use()) return given(std::nullopt);
  const std::uint64_t hash = pixel_hash(memory);
  if (is_shrunk(sample)) shrink(memory, options_.shrunk_px, options_.preprocess.filter);
  keep(sample, hash, memory);
  return given(hash);
}

void DiskCache::keep(std::uint32_t sample, std::uint64_t pixel_hash, const Image& image) {
  if (is_full_.load() || image.layout().bytes() > file_.largest_bytes()) return;
  const auto tell = [&](const std::string& why) {
    if (is_full_.exchange(true)) return;
    log::warning(fmt::format("cache: {}; {} of {} stored, the others are decoded in every epoch", why, kept(),
                             counted(std::ssize(dataset_.samples), "image is", "images are")));
  };
  const std::uint64_t free = file_.free_bytes();
  if (free < options_.reserve_bytes + image.layout().bytes()) {
    tell(fmt::format("only {} MiB are free in {}, and {} MiB must stay free", free >> 20U, options_.folder.string(),
                     options_.reserve_bytes >> 20U));
    return;
  }
  const Status put = file_.put(sample, {.layout = image.layout(),
                                        .identity = identities_.at(sample).load(),
                                        .pixel_hash = pixel_hash,
                                        .pixels = image.bytes()});
  if (!put) tell(put.error());
}

}  // namespace roentgen::data
