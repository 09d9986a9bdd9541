// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// zip archives whose files are stored without compression, as PyTorch writes them; with zip64's sizes. Reading only.
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
  std::string name;         ///< as stored: "archive/data.pkl"
  std::uint64_t begin = 0;  ///< first byte of its data in the archive
  std::uint64_t length = 0;
  std::uint32_t crc32 = 0;  ///< checksum stated by the archive; read_zip_member() checks it
  bool is_stored = true;    ///< neither compressed nor encrypted
};

/// Lists the files of an archive, in the order of its directory. Failure, with the offset: no directory at the end (a
/// truncated archive), a directory or file that leaves the archive, an archive in several parts.
/// @param what names the archive in errors
[[nodiscard]] Result<std::vector<ZipMember>> scan_zip(std::span<const std::byte> archive, std::string_view what);

/// Returns the bytes of a file of scan_zip(). Failure: compressed or encrypted data, or a wrong CRC-32.
[[nodiscard]] Result<std::span<const std::byte>> read_zip_member(std::span<const std::byte> archive,
                                                                 const ZipMember& member, std::string_view what);

}  // namespace roentgen::io
