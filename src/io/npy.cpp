// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/npy.h"

#include <bit>
#include <cstdint>
#include <string>

#include "core/error.h"
#include "io/file.h"

namespace roentgen::io {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::size_t kAlignment = 64;
constexpr std::string_view kMagic("\x93NUMPY\x01\x00", 8);
constexpr std::size_t kLengthBytes = 2;

// numpy/lib/format.py: magic, version, length of the header, a Python literal padded with spaces and ended by a newline
// so that the data begin at a multiple of 64 bytes.
std::string header_of(const Shape& shape) {
  std::string dims;
  for (const std::int64_t dim : shape.dims()) dims += std::to_string(dim) + ", ";
  if (shape.rank() > 1) dims.resize(dims.size() - 2);
  if (shape.rank() == 1) dims.pop_back();  // "(3,)"
  std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + dims + "), }";
  const std::size_t before = kMagic.size() + kLengthBytes;
  while ((before + text.size() + 1) % kAlignment != 0) text += ' ';
  text += '\n';
  const auto length = static_cast<std::uint16_t>(text.size());
  std::string header(kMagic);
  header += static_cast<char>(length & 0xFF);
  header += static_cast<char>(length >> 8);
  return header + text;
}

}  // namespace

void write_npy(const std::filesystem::path& path, const Shape& shape, std::span<const float> values) {
  RG_ASSERT(shape.rank() >= 1 && shape.elements() == static_cast<std::int64_t>(values.size()));
  AtomicFile file(path);
  file.write(header_of(shape));
  file.write(std::as_bytes(values));
  file.commit();
}

}  // namespace roentgen::io
