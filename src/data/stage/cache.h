// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// cache: keeps the elements of the first pass in memory and repeats them in later passes. With where=disk it selects a
// cache of decoded images on disk (disk_cache.h).
#pragma once

#include <cstdint>
#include <string_view>

#include "data/stage/stage_options.h"

namespace roentgen::data {

/// Storage of a cache. Disk: samples pass this stage unchanged, and decoders use the Loader's image store.
enum class CachePlace : std::uint8_t { Memory, Disk };

/// Cache stage. In memory it refuses data of more than `limit_mb` MiB.
struct CacheStage {
  static constexpr std::string_view kName = "cache";  ///< name in pipeline texts
  std::int64_t limit_mb = kLimit_mb;                  ///< largest size in memory, MiB
  CachePlace where = CachePlace::Memory;              ///< where elements are stored

  static constexpr std::int64_t kLimit_mb = 1024;  ///< default of limit_mb

  void describe(StageVisitor& visitor);               ///< lists the settings
  [[nodiscard]] Carries gives(Carries before) const;  ///< output kind; ConfigError if the stage cannot take `before`
  friend bool operator==(const CacheStage&, const CacheStage&) = default;
};

}  // namespace roentgen::data
