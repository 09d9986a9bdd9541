// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// SampleReader: the decoded image of a sample, whether it is a file of its own or a part of a record.
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

/// Keeps its buffers from sample to sample. One per worker: thread-compatible.
class SampleReader {
 public:
  /// `intensity`: of DICOM files.
  explicit SampleReader(FileReader::PageCache page_cache = FileReader::PageCache::Use,
                        Intensity intensity = Intensity::Stored)
      : reader_(page_cache), intensity_(intensity) {}

  /// The bytes of the sample's file, or of its record; valid until the next call. Failure: as FileReader.
  [[nodiscard]] Result<std::span<const std::byte>> read(const Sample& sample);
  /// Bytes of the image within the result of read(); valid as long as that. Failure: a record with a wrong checksum or
  /// other framing than when it was listed.
  [[nodiscard]] Result<std::span<const std::byte>> unpack(const Sample& sample, std::span<const std::byte> bytes);
  /// Decodes the bytes that read() returned. Failure: as unpack() or Decoder; `out` is then undefined. Pixels stored
  /// without a codec become gray on request, as codecs convert colour (codec.h); else they keep their channels.
  [[nodiscard]] Status decode(const Sample& sample, std::span<const std::byte> bytes, DecodeOptions options,
                              Image& out);
  /// Reads and decodes.
  [[nodiscard]] Status load(const Sample& sample, Channels channels, Image& out);
  /// Was a file opened by the last read()?
  [[nodiscard]] bool has_opened() const { return reader_.has_opened(); }

 private:
  void take_pixels(const StoredImage& stored, std::span<const std::byte> pixels, const DecodeOptions& options,
                   Image& out);

  FileReader reader_;
  Intensity intensity_;
  Decoder decoder_;
  /// Joined parts of a record.
  std::vector<std::byte> joined_;
  /// RGB pixels before their conversion to gray.
  Image colour_;
};

}  // namespace roentgen::data
