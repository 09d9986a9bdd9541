// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// TensorBoard event files: TFRecord frames (record.h) of Event messages (tensorflow/core/util/event.proto).
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "io/descriptor.h"

namespace roentgen::io {

/// A named number in one step: "train/loss".
using Scalar = std::pair<std::string_view, double>;

/// An event file that grows; every event is one write(2), so a killed process leaves at most one cut short, which
/// TensorBoard skips. One thread.
class EventFile {
 public:
  /// Creates the file and records that a run starts or resumes after `step`. TensorBoard then ignores later steps of
  /// the folder's older files. Throws DataError when the file exists already or cannot be created.
  /// @param wall_time seconds since 1970
  EventFile(std::filesystem::path path, std::int64_t step, double wall_time);
  /// DataError on a full disk.
  void scalars(std::int64_t step, double wall_time, std::span<const Scalar> scalars);

 private:
  void write(std::string_view event);

  std::filesystem::path path_;
  Descriptor file_;
};

}  // namespace roentgen::io
