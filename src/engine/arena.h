// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Arena: flat memory of an engine, laid out as its trained parameters or as its running statistics. Parameters,
// gradients, optimizer state and averages are arenas.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/stream.h"

namespace roentgen::engine {

/// Elements [begin, begin + count) of an arena.
struct ArenaRange {
  std::int64_t begin = 0;  ///< first element
  std::int64_t count = 0;  ///< elements
};

/// Float32 elements in the memory of one device, initially zero; made by Executable::make_arena(). Device and stream
/// must outlive the arena. One thread, except that collectives may use a device() span in another thread.
class Arena {
 public:
  /// @param stream upload() and download() wait for the work queued on it
  Arena(runtime::Device& device, runtime::Stream& stream, std::int64_t elements);

  /// Number of elements, padding included.
  [[nodiscard]] std::int64_t elements() const { return elements_; }
  /// Size in bytes.
  [[nodiscard]] std::size_t size_bytes() const { return static_cast<std::size_t>(elements_) * sizeof(float); }
  /// Device memory of all elements, for kernels and collectives.
  [[nodiscard]] runtime::DeviceSpan<float> device() const { return device({0, elements_}); }
  [[nodiscard]] runtime::DeviceSpan<float> device(ArenaRange range) const;  ///< device memory of a part of the elements
  /// The elements in host memory. Only for the CPU engine's kernels: there, host and device memory are the same.
  [[nodiscard]] std::span<float> host() const { return device().host(); }

  /// Overwrites the elements from `begin` on and waits for the copy. Throws ShapeError if `values` does not fit.
  void upload(std::int64_t begin, std::span<const float> values);
  /// Copies the elements from `begin` on into `values` and waits for the copy. Throws ShapeError if the range is too
  /// long.
  void download(std::int64_t begin, std::span<float> values) const;
  /// Returns a copy of all elements on the host. Allocates.
  [[nodiscard]] std::vector<float> values() const;

 private:
  runtime::Stream& stream_;
  std::unique_ptr<runtime::DeviceBuffer> memory_;
  std::int64_t elements_;
};

/// Overwrites `to` with `from`, which must have the same number of elements. Copies through host memory; allocates.
void copy_arena(const Arena& from, Arena& to);

}  // namespace roentgen::engine
