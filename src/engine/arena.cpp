// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/arena.h"

#include "core/error.h"

namespace roentgen::engine {

Arena::Arena(runtime::Device& device, runtime::Stream& stream, std::int64_t elements)
    : stream_(stream),
      memory_(device.make_device_buffer(static_cast<std::size_t>(elements) * sizeof(float))),
      elements_(elements) {}

runtime::DeviceSpan<float> Arena::device(ArenaRange range) const {
  RG_ASSERT(range.begin >= 0 && range.count >= 0 && range.begin + range.count <= elements_);
  return {.address = reinterpret_cast<float*>(memory_->address()) + range.begin,
          .count = static_cast<std::size_t>(range.count),
          .copies = memory_->copies()};
}

void Arena::upload(std::int64_t begin, std::span<const float> values) {
  stream_.upload(std::as_bytes(values), *memory_, static_cast<std::size_t>(begin) * sizeof(float));
  stream_.synchronize();
}

void Arena::download(std::int64_t begin, std::span<float> values) const {
  stream_.download(*memory_, static_cast<std::size_t>(begin) * sizeof(float), std::as_writable_bytes(values));
  stream_.synchronize();
}

std::vector<float> Arena::values() const {
  std::vector<float> all(static_cast<std::size_t>(elements_));
  download(0, all);
  return all;
}

void copy_arena(const Arena& from, Arena& to) { to.upload(0, from.values()); }

}  // namespace roentgen::engine
