// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Facts that a census reads from one image. Used in src/data/census only.
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

/// Key that is equal for equal images: XXH3-128 of the bytes, or data::pixel_hash of the pixels.
using ImageKey = std::pair<std::uint64_t, std::uint64_t>;

/// Facts about one image.
struct ImageFacts {
  /// Reason why the image cannot be read; empty if it can be read.
  std::string broken{};
  /// Format, colour type and bits, such as "png gray 8 bit".
  std::string form{};
  std::uint64_t bytes = 0;
  std::int64_t width_px = 0;
  std::int64_t height_px = 0;
  /// Key of the image; nullopt if the image is blank or cannot be read.
  std::optional<ImageKey> key{};
  /// True if the key is a hash of the whole image, not only of its beginning.
  bool is_whole = false;
  /// Smallest and largest sample value, and the value of white. `white` is 0 if the image was not decoded.
  std::uint32_t lowest = 0;
  std::uint32_t highest = 0;
  std::uint32_t white = 0;
};

/// Reads the facts of one image after another and reuses its buffers. Thread-compatible: each worker has its own.
class FactsReader {
 public:
  /// Reads the header of an image, or also its pixels. Errors are stored in the result. Throws DataError only if the
  /// process may open no more files.
  [[nodiscard]] ImageFacts read(const Sample& sample, CensusDepth depth);
  /// Returns the hash of all bytes of the image; nullopt if they can no longer be read.
  [[nodiscard]] std::optional<ImageKey> whole_key(const Sample& sample);

 private:
  /// Returns the first `length` bytes of the image that begins at `begin`, or the whole image if is_apart().
  [[nodiscard]] Result<std::span<const std::byte>> head_of(const Sample& sample, std::uint64_t begin,
                                                           std::uint64_t length);
  void read_head(const Sample& sample, ImageFacts& facts);
  void read_pixels(const Sample& sample, ImageFacts& facts);

  FileReader files_;
  SampleReader samples_;
  Image image_;
};

}  // namespace roentgen::data
