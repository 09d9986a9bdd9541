// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The files that convert can write. A new form is one file x_form.cpp with `RecordForm x_form()` plus one line in the
// list here.
//   X(name, as --to has it)
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

/// An image as it is stored.
struct StoredForm {
  std::vector<std::byte> image{};  ///< bytes for the record
  /// "png", "jpeg", ..., or "raw": rows of interleaved samples, little endian.
  std::string_view format{};
  ImageLayout layout{};  ///< size, channels and bits
  /// True for pixels of a colour JPEG file. The file's gray is its Y; the gray of RGB pixels is rounded once more.
  bool has_other_gray = false;
};

/// Bytes of the image in a written record, and its layout where it has no codec.
struct WrittenImage {
  std::span<const std::byte> bytes{};  ///< a view into the record
  std::optional<ImageLayout> raw{};    ///< nothing: the bytes have a codec
};

/// One kind of file.
struct RecordForm {
  std::string_view name{};  ///< name in RG_RECORD_FORMS
  /// Ending of the files: ".tfrecord".
  std::string_view ending{};
  /// A file for every image, and a table of them, instead of many images in a file.
  bool is_folder = false;
  /// Serialises a sample; `index` into dataset.samples.
  std::string (*write)(const Dataset& dataset, std::size_t index, const StoredForm& image) = nullptr;
  /// Zero bytes after the last record.
  std::size_t end_bytes = 0;
  /// The image in the bytes that write() gave; `what` names it in messages. Failure: no readable image.
  Result<WrittenImage> (*read)(std::string_view written, const std::string& what) = nullptr;
  /// Samples of a whole file. Failure: one that cannot be read.
  Result<std::int64_t> (*count)(std::span<const std::byte> file, const std::string& what) = nullptr;
};

#define RG_DECLARE_FORM(name) /** The form of that name. */ [[nodiscard]] RecordForm name##_form();
RG_RECORD_FORMS(RG_DECLARE_FORM)
#undef RG_DECLARE_FORM

/// The form of that name; ConfigError naming the choices.
[[nodiscard]] RecordForm record_form(std::string_view name);
/// All forms, in the order of the list.
[[nodiscard]] std::vector<RecordForm> record_forms();
/// "tfrecord, tar, png".
[[nodiscard]] std::string record_form_names();

/// Labels as whole numbers: 1, 0, and -1 for unknown.
[[nodiscard]] std::vector<std::int64_t> stored_labels(const Sample& sample);

}  // namespace roentgen::data
