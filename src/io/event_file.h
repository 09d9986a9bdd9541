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

/// Name and value of a number in one step, such as "train/loss".
using Scalar = std::pair<std::string_view, double>;

/// Event file that events are appended to. Every event is one write(2), so a killed process leaves at most one
/// incomplete event, which TensorBoard skips. Not thread-safe.
class EventFile {
 public:
  /// Creates the file and records that a run starts or resumes after `step`. TensorBoard then ignores later steps in
  /// older files of the folder. Throws DataError if the file already exists or cannot be created.
  /// @param wall_time seconds since 1970
  EventFile(std::filesystem::path path, std::int64_t step, double wall_time);
  /// Appends an event with these numbers. Throws DataError if the disk is full.
  void scalars(std::int64_t step, double wall_time, std::span<const Scalar> scalars);

 private:
  void write(std::string_view event);

  std::filesystem::path path_;
  Descriptor file_;
};

}  // namespace roentgen::io
