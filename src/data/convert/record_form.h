// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Output formats of convert. To add one, write a file x_form.cpp with `RecordForm x_form()` and add a line to the list
// in this file.
//   X(name, as in --to)
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "data/image.h"
#include "data/source/dataset.h"

#define RG_RECORD_FORMS(X) X(tfrecord) X(tar) X(recordio) X(lmdb) X(png)

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

/// A sample to be written.
struct RecordInput {
  const Dataset& dataset;    ///< data set of the sample
  std::size_t index = 0;     ///< index of the sample in dataset.samples
  bool has_classes = false;  ///< value of has_classes(dataset)
  const StoredForm& image;   ///< image of the sample
  /// The sample.
  [[nodiscard]] const Sample& sample() const { return dataset.samples[index]; }
};

/// Image bytes in a written record, and their layout if they are raw pixels. Move-only.
struct WrittenImage {
  WrittenImage() = default;
  WrittenImage(const WrittenImage&) = delete;
  WrittenImage(WrittenImage&&) = default;  ///< `bytes` stay valid
  WrittenImage& operator=(const WrittenImage&) = delete;
  WrittenImage& operator=(WrittenImage&&) = default;  ///< `bytes` stay valid
  ~WrittenImage() = default;
  std::span<const std::byte> bytes{};  ///< view into the record, or into `joined`
  std::optional<ImageLayout> raw{};    ///< layout of raw pixels; nullopt if a codec decodes the bytes
  std::vector<std::byte> joined{};     ///< the record, if its parts had to be joined
};

/// A small file that is written beside a record file, such as its index.
struct SideFile {
  std::string_view ending{};  ///< replaces the record file's extension
  std::string text{};         ///< content
};

/// Lays out one record file from its records. One thread.
class RecordStream {
 public:
  RecordStream() = default;
  RecordStream(const RecordStream&) = delete;
  RecordStream& operator=(const RecordStream&) = delete;
  virtual ~RecordStream() = default;
  /// Number of bytes before the first record, which are written last.
  [[nodiscard]] virtual std::size_t head_bytes() const { return 0; }
  /// Returns the bytes to append for the next record. `record` was returned by RecordForm::write for `input`.
  [[nodiscard]] virtual std::string add(const RecordInput& /*input*/, std::string record) { return record; }
  /// Returns the bytes to append after the last record.
  [[nodiscard]] virtual std::string finish() { return {}; }
  /// Returns the first head_bytes() bytes. Called after finish().
  [[nodiscard]] virtual std::string head() const { return {}; }
  /// Returns the files to write beside the record file. Called after finish().
  [[nodiscard]] virtual std::vector<SideFile> side_files() const { return {}; }
};

/// One output format.
struct RecordForm {
  std::string_view name{};  ///< name in RG_RECORD_FORMS
  /// Extension of the files, such as ".tfrecord".
  std::string_view ending{};
  /// True for one file per image plus a table, instead of many images in a record file.
  bool is_folder = false;
  /// Name of the file in a folder SPLIT_NAME, if each split is one such folder; empty otherwise.
  std::string_view file_of_split{};
  /// True if records can contain raw pixels.
  bool has_raw = true;
  /// True if a record has a single label: the number of a class.
  bool has_one_label = false;
  /// Largest length of an image name in bytes; 0: any.
  std::size_t most_name_bytes = 0;
  /// Largest number of images of a data set; 0: any.
  std::int64_t most_images = 0;
  /// True if the programs that read the format decode only PNG and JPEG files.
  bool has_common_files = false;
  /// Fields of a sample that records do not contain, for a warning; empty: none.
  std::string_view lost{};
  /// Serialises one sample. Throws DataError if the format cannot hold it.
  std::string (*write)(const RecordInput& input) = nullptr;
  /// Begins a file; null: the file is the sequence of its records.
  std::unique_ptr<RecordStream> (*open)() = nullptr;
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
/// Names of all formats: "tfrecord, tar, recordio, lmdb, png".
[[nodiscard]] std::string record_form_names();

/// Returns a new stream of the format.
[[nodiscard]] std::unique_ptr<RecordStream> open_stream(const RecordForm& form);

/// True if every sample has one class: with one label, this label is known; with several, exactly one is 1 and all
/// others are 0. Reads all labels.
[[nodiscard]] bool has_classes(const Dataset& dataset);
/// A property that a format requires of a data set, and what the data set has instead.
struct Misfit {
  std::string what;      ///< what has the property, such as "image names"
  std::string expected;  ///< property that the format requires
  std::string got;       ///< property of the data set
  std::string remedy;    ///< formats that can hold the data set
};
/// Returns why records of this format cannot hold the names, labels or number of images; nullopt if they can.
[[nodiscard]] std::optional<Misfit> misfit(const Dataset& dataset, const RecordForm& form);
/// Number of a sample's class, if has_classes(): the index of the label that is 1; with one label, its value.
[[nodiscard]] std::int64_t class_of(const Sample& sample);

/// Labels as integers: 1, 0, and -1 for unknown.
[[nodiscard]] std::vector<std::int64_t> stored_labels(const Sample& sample);

}  // namespace roentgen::data
