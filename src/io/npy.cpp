// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/npy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/file.h"
#include "io/little_endian.h"

namespace roentgen::io {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::string_view kMagic("\x93NUMPY\x01\x00", 8);
constexpr std::size_t kLengthBytes = 2;

struct Kind {
  DType dtype;
  std::string_view name;
};
constexpr std::array<Kind, 3> kKinds{{{DType::F32, "<f4"}, {DType::U8, "|u1"}, {DType::U16, "<u2"}}};

// Text after "'key':" in a Python dict literal.
std::string_view entry_of(std::string_view head, std::string_view key) {
  const auto at = head.find("'" + std::string(key) + "':");
  if (at == std::string_view::npos) return {};
  head.remove_prefix(at + key.size() + 3);
  head.remove_prefix(std::min(head.find_first_not_of(' '), head.size()));
  return head;
}

// Parses "(3, 4)" or "(3,)". Returns nullopt if it is no shape or has too many elements.
std::optional<Shape> shape_of(std::string_view text) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  if (!text.starts_with('(')) return std::nullopt;
  text.remove_prefix(1);
  std::vector<std::int64_t> dims;
  std::int64_t elements = 1;
  while (!text.starts_with(')')) {
    std::int64_t dim = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), dim);
    if (error != std::errc() || dim < 0 || dim > kMost || dims.size() == 8) return std::nullopt;
    if (dim > 0 && elements > kMost / dim) return std::nullopt;
    elements *= dim;
    dims.push_back(dim);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    text.remove_prefix(std::min(text.find_first_not_of(", "), text.size()));
  }
  return Shape(std::move(dims));
}

}  // namespace

void write_npy(const std::filesystem::path& path, const Shape& shape, std::span<const float> values) {
  RG_ASSERT(shape.rank() >= 1 && shape.elements() == static_cast<std::int64_t>(values.size()));
  AtomicFile file(path);
  file.write(npy_head(shape, DType::F32));
  file.write(std::as_bytes(values));
  file.commit();
}

// Layout as in numpy/lib/format.py: magic, version, length of the header, then a Python literal padded with spaces and
// ended by a newline. The data begin at a multiple of 64 bytes.
std::string npy_head(const Shape& shape, DType dtype) {
  const auto kind = std::ranges::find(kKinds, dtype, &Kind::dtype);
  RG_ASSERT(kind != kKinds.end());
  std::string dims;
  for (const std::int64_t dim : shape.dims()) dims += std::to_string(dim) + ", ";
  if (shape.rank() > 1) dims.resize(dims.size() - 2);
  if (shape.rank() == 1) dims.pop_back();  // "(3,)"
  std::string text = "{'descr': '" + std::string(kind->name) + "', 'fortran_order': False, 'shape': (" + dims + "), }";
  const std::size_t before = kMagic.size() + kLengthBytes;
  while ((before + text.size() + 1) % kAlignment != 0) text += ' ';
  text += '\n';
  const auto length = static_cast<std::uint16_t>(text.size());
  std::string header(kMagic);
  append_little_endian(header, length);
  return header + text;
}

Result<NpyHead> parse_npy_head(std::span<const std::byte> file, std::string_view what) {
  const auto refuse = [what](std::string_view expected, std::string_view got) {
    return failure("io.npy", what, expected, got, "saving such an array with numpy.save");
  };
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  constexpr std::size_t kVersion = 6;
  const bool is_npy = text.size() > 12 && text.starts_with(kMagic.substr(0, kVersion)) && text[kVersion + 1] == 0;
  const char version = is_npy ? text[kVersion] : '\0';
  if (version != 1 && version != 2) return refuse("a .npy file of format 1.0 or 2.0", "another file");
  const std::size_t length_bytes = version == 1 ? 2 : 4, length_at = kVersion + 2;
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) {
    length |= static_cast<std::size_t>(static_cast<unsigned char>(text[length_at + i])) << (8 * i);
  }
  const std::size_t begin = length_at + length_bytes;
  if (length > text.size() - begin) return refuse("a complete header", "a truncated one");
  const std::string_view head = text.substr(begin, length);
  const auto kind = std::ranges::find_if(kKinds, [descr = entry_of(head, "descr")](const Kind& one) {
    return descr.size() > one.name.size() + 2 && descr.substr(1, one.name.size()) == one.name;
  });
  if (kind == kKinds.end()) return refuse("dtype uint8, uint16 or float32 (little-endian)", "another dtype");
  if (!entry_of(head, "fortran_order").starts_with("False"))
    return refuse("C order", "Fortran order, or no order stated");
  auto shape = shape_of(entry_of(head, "shape"));
  if (!shape) return refuse("a valid array shape", "an invalid one");
  const std::size_t data = begin + length;
  const std::size_t wanted = static_cast<std::size_t>(shape->elements()) * size_of(kind->dtype);
  if (text.size() - data != wanted) {
    return refuse(std::to_string(wanted) + " bytes of elements", std::to_string(text.size() - data));
  }
  return NpyHead{.shape = *std::move(shape), .dtype = kind->dtype, .data_begin = data};
}

}  // namespace roentgen::io
