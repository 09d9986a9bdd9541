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

/// Name, type, shape and position of a tensor in a file.
struct TensorInfo {
  std::string name;
  DType dtype = DType::F32;
  Shape shape;
  /// Byte range in the data section.
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// A memory-mapped file that is open for reading. open() validates everything: header length and syntax, dtypes, sizes
/// against shapes (with overflow checks), and that data are inside the file, contiguous and not overlapping.
/// Thread-safe to read. If the file is truncated while it is open, missing bytes read as zeros; call check() after
/// bytes().
class SafetensorsReader {
 public:
  static Result<SafetensorsReader> open(const std::filesystem::path& path);
  SafetensorsReader(SafetensorsReader&&) noexcept;
  SafetensorsReader& operator=(SafetensorsReader&&) noexcept;
  ~SafetensorsReader();

  [[nodiscard]] const std::vector<TensorInfo>& tensors() const;
  [[nodiscard]] const TensorInfo* find(std::string_view name) const;
  [[nodiscard]] std::span<const std::byte> bytes(const TensorInfo& tensor) const;
  /// Fails, naming the file, if it was truncated since open().
  [[nodiscard]] Status check() const;
  /// Returns the tensor as float32: f32 copied; f16, bf16 and f64 converted. Fails for integers, and as check() does.
  [[nodiscard]] Result<std::vector<float>> read_f32(std::string_view name) const;
  /// Text entries under "__metadata__".
  [[nodiscard]] const std::map<std::string, std::string>& metadata() const;

 private:
  struct State;
  explicit SafetensorsReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// SHA-256 of a file's tensors in the order of their names, without the metadata. Identifies the weights that produced
/// a result. Fails if the file cannot be read.
[[nodiscard]] std::string tensors_sha256(const std::filesystem::path& path);

/// A tensor to write. Its bytes must stay valid until the file is written.
struct TensorToWrite {
  std::string name;
  DType dtype = DType::F32;
  Shape shape;
  std::span<const std::byte> bytes;
};

/// Writes a file atomically (io/file.h), with tensors in the given order. Throws DataError if the disk is full.
void write_safetensors(const std::filesystem::path& path, std::span<const TensorToWrite> tensors,
                       const std::map<std::string, std::string>& metadata);

}  // namespace roentgen::io
