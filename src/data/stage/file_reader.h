// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reads whole files one after the other into memory that stays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "core/result.h"

namespace roentgen::data {

/// One per worker: thread-compatible.
class FileReader {
 public:
  /// The bytes of a regular file of at most `limit_bytes`, by pread; valid until the next call. `what` names it in
  /// messages. Failure: absent, a folder, empty, too large, shorter than it said, or what the system says.
  [[nodiscard]] Result<std::span<const std::byte>> read(const std::filesystem::path& path, std::string_view what,
                                                        std::uint64_t limit_bytes = std::uint64_t{1} << 30);

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t capacity_ = 0;
};

}  // namespace roentgen::data
