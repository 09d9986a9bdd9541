// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "doctor/copies.h"

#include <algorithm>
#include <chrono>
#include <string>

#include "core/error.h"

namespace roentgen::doctor {
namespace {

/// Returns the seconds that a copy takes.
template <typename Copy>
double seconds_of(runtime::Stream& stream, Copy&& copy) {
  const auto begin = std::chrono::steady_clock::now();
  copy();
  stream.synchronize();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

CopySpeed measure_copies(runtime::Device& device, std::size_t bytes, int times) {
  RG_ASSERT(bytes > 0 && times > 0);
  const auto memory = device.make_device_buffer(bytes);
  const auto from = device.make_pinned_buffer(bytes);
  const auto to = device.make_pinned_buffer(bytes);
  const auto stream = device.make_stream();
  for (std::size_t i = 0; i < bytes; ++i) from->bytes()[i] = static_cast<std::byte>(i * 31 + 7);
  CopySpeed best;
  for (int i = 0; i <= times; ++i) {
    const double upload_s = seconds_of(*stream, [&] { stream->upload(*from, *memory); });
    const double download_s = seconds_of(*stream, [&] { stream->download(*memory, *to); });
    if (i == 0) continue;  // warm-up
    best.upload_bytes_per_s = std::max(best.upload_bytes_per_s, static_cast<double>(bytes) / upload_s);
    best.download_bytes_per_s = std::max(best.download_bytes_per_s, static_cast<double>(bytes) / download_s);
  }
  if (!std::ranges::equal(from->bytes(), to->bytes())) {
    throw DeviceError(error_text("doctor.net", std::string(device.name()), "the bytes that were copied to it",
                                 "other bytes", "another card"));
  }
  return best;
}

}  // namespace roentgen::doctor
