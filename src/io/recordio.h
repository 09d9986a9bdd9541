// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// MXNet's RecordIO (dmlc-core/recordio.h): records that consist of parts, without checksums. A part is u32le magic,
// u32le (3 bits: whole, first, middle, last; 29 bits: length), data, zeros up to a multiple of 4. If the data contain
// the magic number at a multiple of 4, the record is split there and that word is omitted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace roentgen::io {

/// Offset and length of a record in its file.
struct RecordIoPlace {
  /// Offset of the data if the record is a single part. Otherwise the range from the first part's header to the last
  /// part's data.
  std::uint64_t begin = 0;
  std::uint64_t length = 0;
  bool is_in_parts = false;
  friend bool operator==(const RecordIoPlace&, const RecordIoPlace&) = default;
};

/// Scans the part headers of a whole file. `what` names it in messages. Fails, with the record's number (from 1) and
/// offset, for a wrong magic number (2015's is named), parts out of order, or a truncated part.
[[nodiscard]] Result<std::vector<RecordIoPlace>> scan_recordio(std::span<const std::byte> file, std::string_view what);

/// Joins the parts of a record, beginning with its first header, into `out`. Returns false if they do not form a
/// record.
[[nodiscard]] bool join_recordio(std::span<const std::byte> parts, std::vector<std::byte>& out);

/// Largest size of a part's data in bytes.
inline constexpr std::size_t kRecordIoMost_bytes = (std::size_t{1} << 29) - 1;

/// Encodes a record of at most kRecordIoMost_bytes, as dmlc-core's RecordIOWriter does.
[[nodiscard]] std::string encode_recordio(std::string_view data);

/// Header that MXNet writes before an image (python/mxnet/recordio.py: IRHeader).
struct RecordIoHeader {
  /// Labels: one, or as many as the header's flag states.
  std::vector<float> labels;
  /// Number of the image in the list that the file was made from.
  std::uint64_t id = 0;
  /// Size of the header in bytes; the image follows.
  std::size_t length = 0;
};

/// Encodes the header of image `id`. A single label is stored in the header, several follow it.
[[nodiscard]] std::string encode_recordio_header(std::span<const float> labels, std::uint64_t id);

/// Parses the header of a record. Fails if the record is too short.
[[nodiscard]] Result<RecordIoHeader> parse_recordio_header(std::span<const std::byte> record, std::string_view what);

}  // namespace roentgen::io
