// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// DiskCache: decoded images in one memory-mapped file per node, kept between epochs and runs. All processes of the node
// share the file, and each image is decoded once.
//
// By default, each image is stored as decoded, with 8 or 16 bits. The resize is fused with the augmentation's crop
// (transform.h), so batches have the same bytes as without a cache. If DiskCacheOptions sets a side, training images
// are shrunk to it before they are stored. A quarter of the side needs a sixteenth of the space. Training then crops
// from the shrunk picture, also in the first epoch and if the disk is full. Images of other splits keep their size, so
// that no evaluation result depends on a cache.
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
  /// Folder of the cache file, created if absent. It must be on a local disk of this node, and never in the data
  /// folder.
  std::filesystem::path folder;
  /// Preprocessing of the network's input. All fields except mean, stddev and fit are part of the key.
  Preprocess preprocess;
  /// Short side of stored training images in px; 0: as decoded.
  std::int64_t shrunk_px = 0;
  /// Free space in bytes that is left on the disk for other users.
  std::uint64_t reserve_bytes = std::uint64_t{1} << 30;
};

/// Key of a data set's cache file, 32 hex digits. It covers the samples' names and positions and all settings that
/// decoding depends on, but not the contents of files. Size and modification time of each file are stored with its
/// image and checked once per run.
[[nodiscard]] std::string cache_key(const Dataset& dataset, const DiskCacheOptions& options);

/// Image store on disk. Thread-safe; several processes may use the same file.
class DiskCache final : public ImageStore {
 public:
  /// `dataset` must outlive the object. Throws ConfigError if the folder cannot be created or lies in the data folder.
  /// Also throws it for a network file system, where nodes do not share memory pages. Throws DataError as CacheFile
  /// does.
  DiskCache(const Dataset& dataset, DiskCacheOptions options);

  [[nodiscard]] bool has(std::uint32_t sample, ImageUse use) override;
  /// Implements ImageStore. If the disk is full, it warns once; images are then decoded every time.
  [[nodiscard]] Result<StoredPicture> get(std::uint32_t sample, ImageUse use, const Decode& decode,
                                          Image& memory) override;
  void require_intact() const override { file_.require_intact(); }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }  ///< path of the cache file
  /// Number of images in the file.
  [[nodiscard]] std::int64_t kept() const { return file_.kept(); }
  /// Status line such as "cache: 12 of 100 images kept in /…".
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
  /// Identity of each sample's file when it was first checked; 0: not checked yet.
  std::vector<std::atomic<std::uint64_t>> identities_;

  Mutex mutex_;
  std::condition_variable_any released_;
  /// Samples that a thread of this process is decoding.
  std::set<std::uint32_t> claimed_ RG_GUARDED_BY(mutex_);
};

}  // namespace roentgen::data
