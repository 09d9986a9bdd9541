// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Output formats of convert. To add one, write a file x_form.cpp with `RecordForm x_form()` and add a line to the list
// in this file.
//   X(name, as in --to)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "data/image.h"
#include "data/source/dataset.h"

#define RG_RECORD_FORMS(X) X(tfrecord) X(tar) X(png)

namespace roentgen::data {

/// An encoded image, ready to be stored.
struct StoredForm {
  std::vector<std::byte> image{};  ///< encoded bytes of the image
  /// Format name such as "png" or "jpeg", or "raw" for rows of interleaved little-endian samples.
  std::string_view format{};
  ImageLayout layout{};  ///< size, channels and bits
  /// True if the pixels were decoded from a colour JPEG file. Gray is exact in the file's channel Y; gray computed from
  /// decoded RGB pixels is rounded once more.
  bool has_other_gray = false;
};

/// Image bytes in a written record, and their layout if they are raw pixels.
struct WrittenImage {
  std::span<const std::byte> bytes{};  ///< view into the record
  std::optional<ImageLayout> raw{};    ///< layout of raw pixels; nullopt if a codec decodes the bytes
};

/// One output format.
struct RecordForm {
  std::string_view name{};  ///< name in RG_RECORD_FORMS
  /// Extension of the files, such as ".tfrecord".
  std::string_view ending{};
  /// True for one file per image plus a table, instead of many images in a record file.
  bool is_folder = false;
  /// Serialises one sample; `index` is its index in dataset.samples.
  std::string (*write)(const Dataset& dataset, std::size_t index, const StoredForm& image) = nullptr;
  /// Number of zero bytes after the last record.
  std::size_t end_bytes = 0;
  /// Extracts the image from bytes that write() returned; `what` names it in messages. Fails if there is no readable
  /// image.
  Result<WrittenImage> (*read)(std::string_view written, const std::string& what) = nullptr;
  /// Counts the samples in a whole file. Fails if one cannot be read.
  Result<std::int64_t> (*count)(std::span<const std::byte> file, const std::string& what) = nullptr;
};

#define RG_DECLARE_FORM(name) /** The form of that name. */ [[nodiscard]] RecordForm name##_form();
RG_RECORD_FORMS(RG_DECLARE_FORM)
#undef RG_DECLARE_FORM

/// Returns the format with this name. Throws ConfigError that lists the choices.
[[nodiscard]] RecordForm record_form(std::string_view name);
/// All formats, in the order of RG_RECORD_FORMS.
[[nodiscard]] std::vector<RecordForm> record_forms();
/// Names of all formats: "tfrecord, tar, png".
[[nodiscard]] std::string record_form_names();

/// Labels as integers: 1, 0, and -1 for unknown.
[[nodiscard]] std::vector<std::int64_t> stored_labels(const Sample& sample);

}  // namespace roentgen::data
