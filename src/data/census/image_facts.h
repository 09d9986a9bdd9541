// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Facts that a census reads of one image. For src/data/census only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "data/census/census.h"
#include "data/image.h"
#include "data/stage/file_reader.h"
#include "data/stage/sample_reader.h"

namespace roentgen::data {

/// Equal for equal images: XXH3-128 of bytes, or data::pixel_hash.
using ImageKey = std::pair<std::uint64_t, std::uint64_t>;

/// Facts about one image.
struct ImageFacts {
  /// Reason why it cannot be read; empty: it can.
  std::string broken{};
  /// "png gray 8 bit".
  std::string form{};
  std::uint64_t bytes = 0;
  std::int64_t width_px = 0;
  std::int64_t height_px = 0;
  /// Key of its bytes; nullopt: blank, or not readable.
  std::optional<ImageKey> key{};
  /// Whether the key is a hash of the whole image, not only of its beginning.
  bool is_whole = false;
  /// Samples that occur, and white; white 0: not decoded.
  std::uint32_t lowest = 0;
  std::uint32_t highest = 0;
  std::uint32_t white = 0;
};

/// Keeps its buffers from image to image. One per worker: thread-compatible.
class FactsReader {
 public:
  /// Reads the header of an image, or its pixels. Errors are stored in the facts. Throws DataError only where no more
  /// files may be opened.
  [[nodiscard]] ImageFacts read(const Sample& sample, CensusDepth depth);
  /// Hash of all its bytes; nullopt where they can no longer be read.
  [[nodiscard]] std::optional<ImageKey> whole_key(const Sample& sample);

 private:
  /// First `length` bytes of the image at that position; the whole image if is_apart().
  [[nodiscard]] Result<std::span<const std::byte>> head_of(const Sample& sample, std::uint64_t begin,
                                                           std::uint64_t length);
  void read_head(const Sample& sample, ImageFacts& facts);
  void read_pixels(const Sample& sample, ImageFacts& facts);

  FileReader files_;
  SampleReader samples_;
  Image image_;
};

}  // namespace roentgen::data
