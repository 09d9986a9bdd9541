// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Conversion: writes the planned files of a conversion on several threads. Only for convert.cpp, which plans them.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "core/thread_annotations.h"
#include "data/convert/convert.h"
#include "data/convert/record_form.h"
#include "data/convert/record_image.h"

namespace roentgen::data {

/// An output file, and the samples that it contains.
struct Shard {
  std::filesystem::path path;  ///< path of the file
  /// Indices of its samples in Dataset::samples.
  std::vector<std::uint32_t> samples;
};

/// Writes files. Each file has its own thread; if there are fewer files than threads, several threads make the records
/// of one file.
class Conversion {
 public:
  /// The arguments must outlive the object.
  Conversion(const Dataset& dataset, const ConvertOptions& options, const RecordForm& form, std::vector<Shard> shards);

  /// Writes all files that do not exist yet. Call it once. Throws as convert() does.
  [[nodiscard]] Converted run();

 private:
  /// An encoded record of a shard, and the image that it contains.
  struct Made {
    std::uint32_t sample = 0;
    StoredForm image;
    std::string record;
  };

  void make_folders() const;
  void work();
  void fail();
  void write(const Shard& shard, RecordMaker& maker);
  /// Calls `take` with the records of a shard, in order and one at a time, on any of several threads. Ends early if a
  /// thread failed, also in `take`; run() then throws its error.
  template <typename Take>
  void each_record(const Shard& shard, RecordMaker& maker, Take take);
  [[nodiscard]] Made make(std::uint32_t sample, RecordMaker& maker) const;
  [[nodiscard]] RecordInput input_of(const Made& made) const;
  [[nodiscard]] bool is_as_written(const Shard& shard, RecordMaker& maker);
  void finish(const Shard& shard, std::uint64_t bytes) RG_REQUIRES(mutex_);
  void count(std::int64_t images);
  void verify(const std::string& record, const Sample& sample, const RecordMaker& maker) const;
  void verify_file(const Shard& shard) const;

  const Dataset& dataset_;
  const ConvertOptions& options_;
  const RecordForm& form_;
  const std::vector<Shard> shards_;
  const bool has_classes_;
  /// Number of threads that make the records of one file.
  int threads_per_file_ = 1;
  std::int64_t total_ = 0;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<std::int64_t> done_ = 0;
  std::atomic<bool> has_ended_ = false;
  Mutex mutex_;
  Converted result_ RG_GUARDED_BY(mutex_);
  std::exception_ptr error_ RG_GUARDED_BY(mutex_);
};

}  // namespace roentgen::data
