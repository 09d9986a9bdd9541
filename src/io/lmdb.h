// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reads the file of an LMDB database (data.mdb), format 1 of LMDB 0.9 on 64-bit machines. It finds the offset of each
// value, so that any value can be read alone without the library. liblmdb does not report offsets, and trusts every
// page of a file, damaged ones too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace roentgen::io {

/// A key and the position of its value.
struct LmdbEntry {
  std::string key;
  std::uint64_t begin = 0;
  std::uint64_t length = 0;
  friend bool operator==(const LmdbEntry&, const LmdbEntry&) = default;
};

/// All entries of the unnamed database as its last transaction left it, in the order of the keys. `what` names the file
/// in messages. Failure: another file format, invalid pages, a truncated file, several values of a key, databases
/// within the database.
[[nodiscard]] Result<std::vector<LmdbEntry>> scan_lmdb(std::span<const std::byte> file, std::string_view what);

}  // namespace roentgen::io
