// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The safetensors container: u64le header length, JSON header, raw row-major little-endian data.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"
#include "core/shape.h"

namespace roentgen::io {

/// One tensor of a file.
struct TensorInfo {
  std::string name;
  DType dtype = DType::F32;
  Shape shape;
  /// Offsets into the data section.
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// A file opened for reading (memory-mapped). Everything is validated on open: header length and syntax, dtypes, shape
/// against size (with overflow checks), offsets inside the file, contiguous and not overlapping. Thread-safe to read.
/// If the file is truncated while open, missing bytes read as zeros; call check() after bytes().
class SafetensorsReader {
 public:
  static Result<SafetensorsReader> open(const std::filesystem::path& path);
  SafetensorsReader(SafetensorsReader&&) noexcept;
  SafetensorsReader& operator=(SafetensorsReader&&) noexcept;
  ~SafetensorsReader();

  [[nodiscard]] const std::vector<TensorInfo>& tensors() const;
  [[nodiscard]] const TensorInfo* find(std::string_view name) const;
  [[nodiscard]] std::span<const std::byte> bytes(const TensorInfo& tensor) const;
  /// Failure naming the file where it was cut short since open().
  [[nodiscard]] Status check() const;
  /// The tensor as float32: f32 copied, f16, bf16 and f64 converted; Failure for integers, and as check().
  [[nodiscard]] Result<std::vector<float>> read_f32(std::string_view name) const;
  /// The string map under "__metadata__".
  [[nodiscard]] const std::map<std::string, std::string>& metadata() const;

 private:
  struct State;
  explicit SafetensorsReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// SHA-256 of a file's tensors in the order of their names, whatever its metadata: ties figures to the weights they are
/// of. Error when it cannot be read.
[[nodiscard]] std::string tensors_sha256(const std::filesystem::path& path);

/// A tensor to be written; the bytes must outlive the write.
struct TensorToWrite {
  std::string name;
  DType dtype = DType::F32;
  Shape shape;
  std::span<const std::byte> bytes;
};

/// Writes a file atomically (io/file.h). Tensors are written in the order given. DataError on a full disk.
void write_safetensors(const std::filesystem::path& path, std::span<const TensorToWrite> tensors,
                       const std::map<std::string, std::string>& metadata);

}  // namespace roentgen::io
