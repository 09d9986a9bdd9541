// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// RecordFolder: a data set converted to record files for the duration of a measurement.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>

#include "data/convert/convert.h"
#include "data/source/dataset.h"

namespace roentgen::bench {

/// Process that removes a folder when this process ends, however it ends, or when the object is destroyed. It needs the
/// programs sh, cat and rm; without them, only the destructor's caller removes the folder.
class FolderRemover {
 public:
  explicit FolderRemover(const std::filesystem::path& folder);
  /// Waits until the process has ended.
  ~FolderRemover();
  FolderRemover(const FolderRemover&) = delete;
  FolderRemover& operator=(const FolderRemover&) = delete;

 private:
  int pipe_ = -1;
  pid_t process_ = -1;
};

/// Record files in a new folder, which is removed at the end, also if a signal ends this process. For use by one
/// thread.
class RecordFolder {
 public:
  /// Converts the data set. `options.folder` is ignored: the folder is created below `work`, which must exist. Throws
  /// ConfigError and DataError as convert() does, and if no folder can be created.
  RecordFolder(const data::Dataset& dataset, data::ConvertOptions options, const std::filesystem::path& work);
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
  FolderRemover remover_;  // after folder_
  data::Dataset dataset_;
  double seconds_ = 0.0;
  std::uint64_t bytes_ = 0;
};

/// Returns the number of record files for `images` images, large enough that several files are read at the same time.
[[nodiscard]] std::int64_t record_files_for(std::int64_t images);

}  // namespace roentgen::bench
