// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Writer of io/safetensors.h.
#include <bit>
#include <set>

#include "core/error.h"
#include "core/value.h"
#include "io/file.h"
#include "io/json.h"
#include "io/safetensors.h"
#include "io/safetensors_header.h"

namespace roentgen::io {
namespace {
/// Throws for tensors that write_safetensors() refuses; they are errors in the calling code.
void validate(const TensorToWrite& tensor, std::set<std::string_view>& names) {
  const std::string what = "tensor " + safetensors::shown(tensor.name);
  if (tensor.name == safetensors::kMetadataKey || !names.insert(tensor.name).second) {
    throw ConfigError(error_text("io.safetensors", what, "a unique name", "a name that is already used"));
  }
  std::uint64_t bytes = size_of(tensor.dtype);
  bool fits = true;
  for (const std::int64_t dim : tensor.shape.dims()) {
    fits &= dim >= 0 && !__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(dim), &bytes);
  }
  if (!fits || bytes != tensor.bytes.size()) {
    throw ShapeError(error_text("io.safetensors", what, "as many bytes as the shape " + tensor.shape.text() + " needs",
                                std::to_string(tensor.bytes.size()) + " bytes"));
  }
}

std::string header_text(std::span<const TensorToWrite> tensors, const std::map<std::string, std::string>& metadata) {
  Value::Table entries;
  if (!metadata.empty()) {
    Value::Table strings;
    for (const auto& [key, value] : metadata) strings.emplace_back(key, Value(value));
    entries.emplace_back(std::string(safetensors::kMetadataKey), Value(std::move(strings)));
  }
  std::uint64_t begin = 0;
  for (const TensorToWrite& tensor : tensors) {
    const std::uint64_t end = begin + tensor.bytes.size();
    Value::Array dims;
    for (const std::int64_t dim : tensor.shape.dims()) dims.emplace_back(dim);
    Value entry = Value::table();
    entry.set("dtype", safetensors::file_name_of(tensor.dtype));
    entry.set("shape", std::move(dims));
    entry.set("data_offsets", Value::Array{Value(begin), Value(end)});
    entries.emplace_back(tensor.name, std::move(entry));
    begin = end;
  }
  std::string text = to_json(Value(std::move(entries)), -1);
  text.append((8 - text.size() % 8) % 8, ' ');  // data start at a multiple of 8, as in the reference
  return text;
}
}  // namespace

void write_safetensors(const std::filesystem::path& path, std::span<const TensorToWrite> tensors,
                       const std::map<std::string, std::string>& metadata) {
  std::set<std::string_view> names;
  for (const TensorToWrite& tensor : tensors) validate(tensor, names);
  const std::string header = header_text(tensors, metadata);
  if (header.size() > safetensors::kLimitHeaderBytes) {
    throw ConfigError(error_text("io.safetensors", path.string(), "a header of at most 100000000 bytes",
                                 std::to_string(header.size())));
  }
  const std::uint64_t header_bytes = header.size();
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(&header_bytes, 1)));
  file.write(header);
  for (const TensorToWrite& tensor : tensors) file.write(tensor.bytes);
  file.commit();
}

}  // namespace roentgen::io
