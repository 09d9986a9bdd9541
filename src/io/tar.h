// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reads tar archives and appends files. Formats: POSIX.1-2001 "ustar" and "pax", GNU's long names, and the older format
// without a magic number; regular files only. Finds the offset of each file's bytes, so that any file can be read
// directly. libarchive reads archives sequentially and does not report offsets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace roentgen::io {

/// A regular file in an archive, or a link with the position of its target.
struct TarMember {
  /// Name as stored, such as "dir/000017.png".
  std::string name;
  /// Offset of the file's bytes in the archive.
  std::uint64_t begin = 0;
  std::uint64_t length = 0;
  /// Target of a link that leads to no file of the archive and therefore has no bytes; empty for all others.
  std::string lost_target{};
  friend bool operator==(const TarMember&, const TarMember&) = default;
};

/// Lists the files of an archive in order, including hard and symbolic links to them. GNU tar stores a file's second
/// name as a hard link. Folders and devices are skipped. `what` names the archive in messages.
/// Fails, with the offset, for a wrong header checksum, a truncated file or an archive without an end mark. Also fails
/// for data after the end mark, because archives joined by cat would lose all but the first. Also fails for more than
/// 10 KiB of zeros without a file, sparse files, and names of more than 64 KiB.
[[nodiscard]] Result<std::vector<TarMember>> scan_tar(std::span<const std::byte> archive, std::string_view what);

/// Encodes a regular file for an archive: header (ustar, mode 0644, time 0), data, zeros to a multiple of 512 bytes.
/// `name` has at most 100 bytes, `data` less than 8 GiB.
[[nodiscard]] std::string tar_member(std::string_view name, std::string_view data);

/// Number of zero bytes that end an archive.
inline constexpr std::size_t kTarEnd_bytes = 1024;

}  // namespace roentgen::io
