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

/// Float32 elements in the memory of one device, zero at first; made by Executable::make_arena(). Device and stream
/// must outlive it. One thread, but collectives may work on a device() span from another.
class Arena {
 public:
  /// @param stream work that is queued there comes before upload() and download()
  Arena(runtime::Device& device, runtime::Stream& stream, std::int64_t elements);

  /// Number of elements, padding included.
  [[nodiscard]] std::int64_t elements() const { return elements_; }
  /// Size in bytes.
  [[nodiscard]] std::size_t size_bytes() const { return static_cast<std::size_t>(elements_) * sizeof(float); }
  /// The whole, and a part of it, for kernels and collectives.
  [[nodiscard]] runtime::DeviceSpan<float> device() const { return device({0, elements_}); }
  [[nodiscard]] runtime::DeviceSpan<float> device(ArenaRange range) const;  ///< a part of it
  /// The elements in host memory: of the CPU engine, for its own kernels alone.
  [[nodiscard]] std::span<float> host() const { return device().host(); }

  /// Overwrites the elements from `begin` on; returns when it is done. ShapeError when they do not fit.
  void upload(std::int64_t begin, std::span<const float> values);
  /// Copies the elements from `begin` on to `values`; returns when it is done. ShapeError when they do not fit.
  void download(std::int64_t begin, std::span<float> values) const;
  /// A copy of all elements on the host. Allocates.
  [[nodiscard]] std::vector<float> values() const;

 private:
  runtime::Stream& stream_;
  std::unique_ptr<runtime::DeviceBuffer> memory_;
  std::int64_t elements_;
};

/// Overwrites `to` with `from`, an arena of as many elements, through host memory. Allocates.
void copy_arena(const Arena& from, Arena& to);

}  // namespace roentgen::engine
