// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Element: what passes from stage to stage before there are batches.
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

/// Result of one row.
struct Row {
  /// Index of the sample in the row: the planned sample or its replacement.
  std::uint32_t sample = 0;
  /// Samples that could not be read on the way.
  std::vector<BadSample> bad{};
  /// Training: not even a replacement was readable.
  bool gave_up = false;
  std::exception_ptr error{};
};

/// Results of earlier stages for a sample. Never changed once an element holds it.
struct Cargo {
  /// Bytes of its file, or the reason for their absence; neither where nothing was read yet.
  std::optional<std::vector<std::byte>> file{};
  std::optional<std::string> read_error{};
  /// Row of a batch, slot_bytes() long, and its result; empty where nothing was mapped yet.
  runtime::AlignedBuffer image{};
  std::optional<Row> row{};

  /// Memory held.
  [[nodiscard]] std::size_t bytes() const { return (file ? file->size() : 0) + image.size(); }
};

/// A file or a sample on its way. Cheap to copy.
struct Element {
  /// Index of the sample in Dataset::samples, or of the file in the FileTable.
  std::uint32_t index = 0;
  /// Pass over the data to which it belongs.
  std::uint32_t epoch = 0;
  /// Key of its random draws: its pass, or the pass that a cache kept.
  std::uint32_t draw_epoch = 0;
  /// Padding of the last batch of an epoch; not counted.
  bool is_padding = false;
  /// Null: a name only. Shared because a cache gives the same cargo in every epoch, and a wrapped tail twice in one.
  std::shared_ptr<const Cargo> cargo{};
};

/// Samples of each file: file i holds the samples files[i], in their order.
using FileTable = std::vector<std::vector<std::uint32_t>>;

}  // namespace roentgen::data
