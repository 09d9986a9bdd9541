// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// DiskCache: decoded images kept between epochs and runs in one memory-mapped file of the node. All its processes fill
// and read it together; each image is decoded once.
//
// Content: by default each image as decoded, with 8 or 16 bits as the file has. The resize is fused with the
// augmentation's crop (transform.h), so batches are the same bytes as without a cache. A side in DiskCacheOptions
// shrinks images of the training split to it before they are stored. A quarter of the side needs a sixteenth of the
// space.
// Training then crops from the shrunk picture, in the first epoch too, whether or not the disk had space. Images of
// other splits are read as they are, so that no evaluation result depends on a cache.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "core/thread_annotations.h"
#include "data/stage/cache_file.h"
#include "data/stage/image_store.h"
#include "data/transform/preprocess.h"

namespace roentgen::data {

struct Dataset;

/// Options of a DiskCache.
struct DiskCacheOptions {
  /// Made where it is absent; on a disk of this node. Never the data folder.
  std::filesystem::path folder;
  /// Preprocessing of the network's input; all of it but mean, stddev and fit is part of the key.
  Preprocess preprocess;
  /// Short side of kept images of the training split; 0: as decoded.
  std::int64_t shrunk_px = 0;
  /// Bytes left free on the disk for other users.
  std::uint64_t reserve_bytes = std::uint64_t{1} << 30;
};

/// The key of a data set's file, 32 hex digits: of the samples' names and places and of what decoding depends on. Not
/// of the files' contents: size and time of each one's last change are kept with its image and looked at once a run.
[[nodiscard]] std::string cache_key(const Dataset& dataset, const DiskCacheOptions& options);

/// Thread-safe; several processes may have one on the same file.
class DiskCache final : public ImageStore {
 public:
  /// `dataset` must outlive it. Throws ConfigError when the folder cannot be created, or lies in the data folder.
  /// Throws it also for a network file system, whose nodes would not see each other's pages. Throws DataError as
  /// CacheFile.
  DiskCache(const Dataset& dataset, DiskCacheOptions options);

  [[nodiscard]] bool has(std::uint32_t sample, ImageUse use) override;
  /// Implements ImageStore. A full disk is reported once; images are then decoded every time.
  [[nodiscard]] Result<StoredPicture> get(std::uint32_t sample, ImageUse use, const Decode& decode,
                                          Image& memory) override;
  void require_intact() const override { file_.require_intact(); }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }  ///< the cache's file
  /// Images in the file.
  [[nodiscard]] std::int64_t kept() const { return file_.kept(); }
  /// One line for people: "cache: 12 of 100 images kept in /…".
  [[nodiscard]] std::string text() const;

 private:
  class ThreadClaim;

  [[nodiscard]] bool is_shrunk(std::uint32_t sample) const;
  [[nodiscard]] std::uint64_t identity_on_disk(std::uint32_t sample) const;
  [[nodiscard]] std::uint64_t identity(std::uint32_t sample);
  [[nodiscard]] std::optional<StoredPicture> find(std::uint32_t sample);
  void keep(std::uint32_t sample, std::uint64_t pixel_hash, const Image& image);

  const Dataset& dataset_;
  const DiskCacheOptions options_;
  const std::filesystem::path path_;
  CacheFile file_;
  std::atomic<bool> is_full_ = false;
  /// Identity of each sample's file when it was first looked at; 0: not yet.
  std::vector<std::atomic<std::uint64_t>> identities_;

  Mutex mutex_;
  std::condition_variable_any released_;
  /// Samples that a thread of this process decodes.
  std::set<std::uint32_t> claimed_ RG_GUARDED_BY(mutex_);
};

}  // namespace roentgen::data
