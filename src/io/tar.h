// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// tar archives (POSIX.1-2001 "ustar" and "pax", GNU's long names, and the form before them), as far as regular files
// go: where each one's bytes lie, so that any can be read alone, and files appended. libarchive reads archives from the
// front and does not tell places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace roentgen::io {

/// A file in an archive: a regular one, or a link, which has the place of the file that it leads to.
struct TarMember {
  /// As stored: "dir/000017.png".
  std::string name;
  /// Where its bytes are.
  std::uint64_t begin = 0;
  std::uint64_t length = 0;
  /// Target of a link that leads to no file of the archive, which has no bytes; else empty.
  std::string lost_target{};
  friend bool operator==(const TarMember&, const TarMember&) = default;
};

/// The files of an archive, in their order, and hard and symbolic links to them (GNU tar stores the second name of a
/// file as a hard link); folders and devices are passed over. `what` names the archive in messages. Failure, with the
/// place: a header whose sum does not hold, a file that is cut short, an archive without its end (as a copy that was
/// cut), anything behind the end (archives joined by cat lose all but the first), more than 10 KiB of zeros and no
/// file, sparse files, names of more than 64 KiB.
[[nodiscard]] Result<std::vector<TarMember>> scan_tar(std::span<const std::byte> archive, std::string_view what);

/// A regular file as it stands in an archive: header (ustar, mode 0644, time 0), data, zeros to a multiple of 512
/// bytes. `name` has at most 100 bytes, `data` less than 8 GiB.
[[nodiscard]] std::string tar_member(std::string_view name, std::string_view data);

/// What ends an archive.
inline constexpr std::size_t kTarEnd_bytes = 1024;

}  // namespace roentgen::io
