// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/safetensors_header.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/value.h"
#include "io/json.h"
#include "io/text.h"

namespace roentgen::io::safetensors {
namespace {
constexpr std::size_t kLimitRank = 32;
constexpr std::array kDTypes{DType::F32, DType::Bf16, DType::F16, DType::F64,
                             DType::I64, DType::I32,  DType::U16, DType::U8};

std::optional<DType> dtype_named(std::string_view name) {
  const auto* const found =
      std::find_if(kDTypes.begin(), kDTypes.end(), [name](DType dtype) { return file_name_of(dtype) == name; });
  return found == kDTypes.end() ? std::nullopt : std::optional(*found);
}

std::string kind_or_value(const Value& value) {
  if (value.is_string()) return shown(value.as_string());
  if (value.is_integer()) return std::to_string(value.as_integer());
  return std::string(value.kind());
}

/// Validates the header of one file.
class HeaderParser {
 public:
  HeaderParser(std::string what, std::uint64_t data_bytes) : what_(std::move(what)), data_bytes_(data_bytes) {}

  Result<std::vector<TensorInfo>> tensors(const Value& header) const {
    std::vector<TensorInfo> tensors;
    for (const auto& [name, entry] : header.as_table()) {
      if (name == kMetadataKey) continue;
      Result<TensorInfo> parsed = tensor(name, entry);
      if (!parsed) return parsed.why();
      tensors.push_back(std::move(parsed).value());
    }
    std::stable_sort(tensors.begin(), tensors.end(), [](const TensorInfo& a, const TensorInfo& b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    std::uint64_t covered = 0;
    for (const TensorInfo& info : tensors) {
      if (info.begin != covered) {
        return bad(info.name, "data that begins at byte " + std::to_string(covered), std::to_string(info.begin));
      }
      covered = info.end;
    }
    if (covered != data_bytes_) {
      return failure("io.safetensors", what_, std::to_string(covered) + " bytes of data",
                     std::to_string(data_bytes_) + " bytes", "a complete copy of the file");
    }
    return tensors;
  }

  Result<std::map<std::string, std::string>> metadata(const Value& header) const {
    std::map<std::string, std::string> metadata;
    const Value* found = header.find(kMetadataKey);
    if (found == nullptr) return metadata;
    if (!found->is_table()) return bad(kMetadataKey, "a table of strings", std::string(found->kind()));
    for (const auto& [key, value] : found->as_table()) {
      if (!value.is_string()) return bad(kMetadataKey, "strings only", shown(key) + " = " + kind_or_value(value));
      metadata.emplace(key, value.as_string());
    }
    return metadata;
  }

 private:
  [[nodiscard]] Failure bad(std::string_view name, std::string_view expected, std::string_view got) const {
    return failure("io.safetensors", what_ + ", tensor " + shown(name), expected, got, "a complete copy of the file");
  }

  Result<TensorInfo> tensor(const std::string& name, const Value& entry) const {
    if (!entry.is_table()) return bad(name, "dtype, shape and data_offsets", entry.kind());
    TensorInfo info{.name = name};
    const Value* dtype = entry.find("dtype");
    const auto known = dtype != nullptr && dtype->is_string() ? dtype_named(dtype->as_string()) : std::nullopt;
    if (!known) {
      return bad(name, "dtype F32, BF16, F16, F64, I64, I32, U16 or U8",
                 dtype == nullptr ? "none" : kind_or_value(*dtype));
    }
    info.dtype = *known;

    const Result<std::vector<std::uint64_t>> dims = counts(name, "shape", entry.find("shape"));
    if (!dims) return dims.why();
    if (dims.value().size() > kLimitRank) return bad(name, "at most 32 dimensions", "more");
    std::vector<std::int64_t> shape;
    for (const std::uint64_t dim : dims.value()) shape.push_back(static_cast<std::int64_t>(dim));
    info.shape = Shape(std::move(shape));

    const Result<std::vector<std::uint64_t>> offsets = counts(name, "data_offsets", entry.find("data_offsets"));
    if (!offsets) return offsets.why();
    if (offsets.value().size() != 2) return bad(name, "2 data_offsets", std::to_string(offsets.value().size()));
    info.begin = offsets.value()[0];
    info.end = offsets.value()[1];
    return with_checked_size(std::move(info));
  }

  /// Reads an array of non-negative integers.
  Result<std::vector<std::uint64_t>> counts(std::string_view name, const std::string& field, const Value* value) const {
    if (value == nullptr) return bad(name, field, "none");
    if (!value->is_array()) return bad(name, field + " as an array", value->kind());
    std::vector<std::uint64_t> counts;
    for (const Value& entry : value->as_array()) {
      if (!entry.is_integer() || entry.as_integer() < 0)
        return bad(name, "non-negative integers in " + field, kind_or_value(entry));
      counts.push_back(static_cast<std::uint64_t>(entry.as_integer()));
    }
    return counts;
  }

  Result<TensorInfo> with_checked_size(TensorInfo info) const {
    const std::string offsets = std::to_string(info.begin) + " to " + std::to_string(info.end);
    if (info.begin > info.end || info.end > data_bytes_) {
      return bad(info.name, "data inside the file's " + std::to_string(data_bytes_) + " bytes", offsets);
    }
    // Counts in signed arithmetic. An overflow is an error even if a later dimension is 0, as in Shape::elements().
    auto bytes = static_cast<std::int64_t>(size_of(info.dtype));
    bool overflows = false;
    for (const std::int64_t dim : info.shape.dims()) overflows |= __builtin_mul_overflow(bytes, dim, &bytes);
    if (overflows) return bad(info.name, "a shape of fewer than 2^63 bytes", info.shape.text());
    if (static_cast<std::uint64_t>(bytes) != info.end - info.begin) {
      return bad(info.name, std::to_string(bytes) + " bytes for " + info.shape.text() + " " + file_name_of(info.dtype),
                 "offsets " + offsets);
    }
    return info;
  }

  std::string what_;
  std::uint64_t data_bytes_;
};
}  // namespace

std::string file_name_of(DType dtype) {
  std::string name(name_of(dtype));
  for (char& c : name) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return name;
}

std::string shown(std::string_view name) {
  constexpr std::size_t kLimit = 100;
  return quote_string(name.substr(0, kLimit)) + (name.size() > kLimit ? "..." : "");
}

Result<Header> parse_header(std::string_view text, const std::string& what, std::uint64_t data_bytes) {
  if (!text.starts_with('{'))
    return failure("io.safetensors", what, "a header that begins with {", "something else",
                   "a file in the format safetensors");
  const Result<Value> header = parse_json(text, what + ", header");
  if (!header) return header.why();
  const HeaderParser parser(what, data_bytes);
  Result<std::vector<TensorInfo>> tensors = parser.tensors(header.value());
  if (!tensors) return tensors.why();
  Result<std::map<std::string, std::string>> metadata = parser.metadata(header.value());
  if (!metadata) return metadata.why();
  return Header{.tensors = std::move(tensors).value(), .metadata = std::move(metadata).value()};
}

}  // namespace roentgen::io::safetensors
