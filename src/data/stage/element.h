// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Element: unit that passes from stage to stage before batches are formed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/stage/quarantine.h"
#include "runtime/aligned_buffer.h"

namespace roentgen::data {

/// Result of loading one row of a batch.
struct Row {
  /// Index of the sample in the row: the planned sample, or its replacement.
  std::uint32_t sample = 0;
  /// Unreadable samples that were tried before this one.
  std::vector<BadSample> bad{};
  /// True if no replacement was readable either (training only).
  bool gave_up = false;
  std::exception_ptr error{};
};

/// Data that earlier stages stored for a sample. Constant once an element refers to it.
struct Cargo {
  /// Bytes of the sample's file, or the error; nullopt if it was not read yet.
  std::optional<std::vector<std::byte>> file{};
  std::optional<std::string> read_error{};
  /// Finished batch row of slot_bytes() bytes, and its result. Empty if it was not mapped yet.
  runtime::AlignedBuffer image{};
  std::optional<Row> row{};

  /// Memory used, in bytes.
  [[nodiscard]] std::size_t bytes() const { return (file ? file->size() : 0) + image.size(); }
};

/// A file or a sample on its way through the pipeline. Cheap to copy.
struct Element {
  /// Index into Dataset::samples, or into the FileTable if the element is a file.
  std::uint32_t index = 0;
  /// Pass over the data that the element belongs to.
  std::uint32_t epoch = 0;
  /// Pass that seeds the random draws: `epoch`, or the earlier pass whose elements a cache stores.
  std::uint32_t draw_epoch = 0;
  /// True if the element pads the last batch of an epoch. Padding is not counted.
  bool is_padding = false;
  /// Data of the element; null if it is only a name. Shared, because a cache returns the same cargo in every epoch.
  std::shared_ptr<const Cargo> cargo{};
};

/// Samples of each file: file i contains the samples with the indices files[i], in order.
using FileTable = std::vector<std::vector<std::uint32_t>>;

}  // namespace roentgen::data
