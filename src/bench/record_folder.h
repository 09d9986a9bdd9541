// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// RecordFolder: a data set converted to record files for the duration of a measurement.
#pragma once

#include <cstdint>
#include <filesystem>

#include "data/convert/convert.h"
#include "data/source/dataset.h"

namespace roentgen::bench {

/// Record files in a new folder, which the destructor removes. For use by one thread.
class RecordFolder {
 public:
  /// Converts the data set into options.folder, which must not exist. Throws ConfigError and DataError as convert()
  /// does.
  RecordFolder(const data::Dataset& dataset, const data::ConvertOptions& options);
  ~RecordFolder();
  RecordFolder(const RecordFolder&) = delete;
  RecordFolder& operator=(const RecordFolder&) = delete;

  /// Returns the data set of the record files, with images in the order of the files.
  [[nodiscard]] const data::Dataset& dataset() const { return dataset_; }
  /// Time of the conversion, seconds.
  [[nodiscard]] double seconds() const { return seconds_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  std::filesystem::path folder_;
  data::Dataset dataset_;
  double seconds_ = 0.0;
  std::uint64_t bytes_ = 0;
};

/// Returns the number of record files for `images` images, large enough that several files are read at the same time.
[[nodiscard]] std::int64_t record_files_for(std::int64_t images);

}  // namespace roentgen::bench
