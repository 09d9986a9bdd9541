// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reads the file of an LMDB database (data.mdb), format 1 of LMDB 0.9 on 64-bit machines. Finds the offset of each
// value, so that any value can be read without the library. liblmdb does not report offsets, and trusts every page of a
// file, even damaged ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace roentgen::io {

/// A key and the position of its value in the file.
struct LmdbEntry {
  std::string key;
  std::uint64_t begin = 0;
  std::uint64_t length = 0;
  friend bool operator==(const LmdbEntry&, const LmdbEntry&) = default;
};

/// Lists all entries of the unnamed database after its last transaction, in the order of the keys. `what` names the
/// file in messages. Fails for another file format, invalid pages, a truncated file, several values per key, or named
/// databases.
[[nodiscard]] Result<std::vector<LmdbEntry>> scan_lmdb(std::span<const std::byte> file, std::string_view what);

}  // namespace roentgen::io
