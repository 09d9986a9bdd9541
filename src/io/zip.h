// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reads zip archives whose files are stored without compression, as PyTorch writes them, including zip64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace roentgen::io {

/// A file in an archive.
struct ZipMember {
  std::string name;         ///< name as stored, such as "archive/data.pkl"
  std::uint64_t begin = 0;  ///< first byte of its data in the archive
  std::uint64_t length = 0;
  std::uint32_t crc32 = 0;  ///< checksum stated by the archive; read_zip_member() checks it
  bool is_stored = true;    ///< true if neither compressed nor encrypted
};

/// Lists the files of an archive in the order of its directory. Fails, with the offset, if the archive has no directory
/// at its end (it is truncated) or has several parts. Also fails if the directory or a file lies outside the archive.
/// @param what names the archive in errors
[[nodiscard]] Result<std::vector<ZipMember>> scan_zip(std::span<const std::byte> archive, std::string_view what);

/// Returns the bytes of a file that scan_zip() listed. Fails if it is compressed or encrypted, or its CRC-32 is wrong.
[[nodiscard]] Result<std::span<const std::byte>> read_zip_member(std::span<const std::byte> archive,
                                                                 const ZipMember& member, std::string_view what);

}  // namespace roentgen::io
