// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// MXNet's RecordIO (dmlc-core/recordio.h): records of parts, without checksums. A part is u32le magic, u32le (3 bits:
// whole, first, middle, last; 29 bits: length), data, zeros to a multiple of 4. Where the data contain the magic at a
// multiple of 4, the record is split there and that word is left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace roentgen::io {

/// Offset and length of a record in its file.
struct RecordIoPlace {
  /// Whole: its data. In parts: from the first part's head to the last one's data.
  std::uint64_t begin = 0;
  std::uint64_t length = 0;
  bool is_in_parts = false;
  friend bool operator==(const RecordIoPlace&, const RecordIoPlace&) = default;
};

/// Scans the headers of a whole file. `what` names it in messages. Failure, with the record's number (from 1) and
/// offset: another magic (that of 2015 by name), parts out of order, a truncated part.
[[nodiscard]] Result<std::vector<RecordIoPlace>> scan_recordio(std::span<const std::byte> file, std::string_view what);

/// Joins the parts of a record, from its first header on, into `out`. False when they do not form a record.
[[nodiscard]] bool join_recordio(std::span<const std::byte> parts, std::vector<std::byte>& out);

/// Header that MXNet writes before an image (python/mxnet/recordio.py: IRHeader).
struct RecordIoHeader {
  /// Labels: one, or as many as the flag states.
  std::vector<float> labels;
  /// Number in the list that the file was made of.
  std::uint64_t id = 0;
  /// Size of the header in bytes; the image follows.
  std::size_t length = 0;
};

/// Reads the header. Failure: a record too short for it.
[[nodiscard]] Result<RecordIoHeader> parse_recordio_header(std::span<const std::byte> record, std::string_view what);

}  // namespace roentgen::io
