// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// SampleReader: reads and decodes the image of a sample, from an image file or from a record.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/result.h"
#include "data/codec/codec.h"
#include "data/image.h"
#include "data/source/dataset.h"
#include "data/stage/file_reader.h"

namespace roentgen::data {

/// Reads samples and reuses its buffers. Thread-compatible: each worker has its own.
class SampleReader {
 public:
  /// @param intensity how DICOM files become gray levels
  explicit SampleReader(FileReader::PageCache page_cache = FileReader::PageCache::Use,
                        Intensity intensity = Intensity::Stored)
      : reader_(page_cache), intensity_(intensity) {}

  /// Returns the bytes of the sample's file or record; valid until the next call. Fails as FileReader does.
  [[nodiscard]] Result<std::span<const std::byte>> read(const Sample& sample);
  /// Returns the bytes of the image within the result of read(); valid as long as that. Fails if a record has a wrong
  /// checksum or other framing than when it was listed.
  [[nodiscard]] Result<std::span<const std::byte>> unpack(const Sample& sample, std::span<const std::byte> bytes);
  /// Decodes the bytes that read() returned. Fails as unpack() and Decoder do; `out` is then undefined. Pixels stored
  /// without a codec become gray on request, by the rules in codec.h; otherwise they keep their channels.
  [[nodiscard]] Status decode(const Sample& sample, std::span<const std::byte> bytes, DecodeOptions options,
                              Image& out);
  /// Reads and decodes the image of a sample.
  [[nodiscard]] Status load(const Sample& sample, Channels channels, Image& out);
  /// True if the last read() opened a file.
  [[nodiscard]] bool has_opened() const { return reader_.has_opened(); }

 private:
  void take_pixels(const StoredImage& stored, std::span<const std::byte> pixels, const DecodeOptions& options,
                   Image& out);

  FileReader reader_;
  Intensity intensity_;
  Decoder decoder_;
  /// Parts of a record after they were joined.
  std::vector<std::byte> joined_;
  /// RGB pixels before they are converted to gray.
  Image colour_;
};

}  // namespace roentgen::data
