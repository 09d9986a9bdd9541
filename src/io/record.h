// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Frames of TFRecord files and TensorBoard's event files: u64le length, masked CRC32C of these eight bytes, data,
// masked CRC32C of the data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace roentgen::io {

/// CRC32C (Castagnoli), rotated by 15 bits and raised by 0xA282EAD8 as TensorFlow stores it.
[[nodiscard]] std::uint32_t masked_crc32c(std::span<const std::byte> data);

/// One record: u64le length, masked CRC32C of it, data, masked CRC32C of that.
[[nodiscard]] std::string record_frame(std::string_view data);

/// Bytes of a frame besides its data: before and after the data.
inline constexpr std::size_t kFrameHead_bytes = 12;
inline constexpr std::size_t kFrameTail_bytes = 4;

/// Offset and length of a record's data in its file.
struct RecordPlace {
  std::uint64_t begin = 0;
  std::uint64_t length = 0;
  friend bool operator==(const RecordPlace&, const RecordPlace&) = default;
};

/// Depth of the check: the checksums of the lengths only, or also of the data of every record.
enum class RecordCheck : std::uint8_t { Lengths, Data };

/// Walks the frames of a whole file. `what` names it in messages. Failure: a sum that does not hold, or a record that
/// is cut short; with the number of the record, from 1, and its place.
[[nodiscard]] Result<std::vector<RecordPlace>> scan_records(std::span<const std::byte> file, std::string_view what,
                                                            RecordCheck check);

/// Whether the checksum after a record's data is right. `framed`: the data and the 4 bytes after them.
[[nodiscard]] bool is_sound_record(std::span<const std::byte> framed);

}  // namespace roentgen::io
