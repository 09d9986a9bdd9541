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

/// CRC32C (Castagnoli) as TensorFlow stores it: rotated right by 15 bits, plus 0xA282EAD8.
[[nodiscard]] std::uint32_t masked_crc32c(std::span<const std::byte> data);

/// Frame of one record: u64le length, masked CRC32C of the length, data, masked CRC32C of the data.
[[nodiscard]] std::string record_frame(std::string_view data);

/// Number of bytes of a frame before and after the data.
inline constexpr std::size_t kFrameHead_bytes = 12;
inline constexpr std::size_t kFrameTail_bytes = 4;

/// Offset and length of a record's data in its file.
struct RecordPlace {
  std::uint64_t begin = 0;
  std::uint64_t length = 0;
  friend bool operator==(const RecordPlace&, const RecordPlace&) = default;
};

/// Extent of the check by scan_records(): checksums of the lengths only, or also of the data.
enum class RecordCheck : std::uint8_t { Lengths, Data };

/// Walks the frames of a whole file. `what` names it in messages. Fails if a checksum is wrong or a record is
/// truncated; the error states the record's number, from 1, and its offset.
[[nodiscard]] Result<std::vector<RecordPlace>> scan_records(std::span<const std::byte> file, std::string_view what,
                                                            RecordCheck check);

/// True if the checksum after a record's data is right. `framed`: the data and the 4 bytes after them.
[[nodiscard]] bool is_sound_record(std::span<const std::byte> framed);

}  // namespace roentgen::io
