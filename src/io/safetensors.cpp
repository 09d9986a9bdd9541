// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reader of io/safetensors.h.
#include "io/safetensors.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "core/plural.h"
#include "io/file.h"
#include "io/floats.h"
#include "io/foreign_weights.h"
#include "io/map_guard.h"
#include "io/safetensors_header.h"
#include "io/sha256.h"

namespace roentgen::io {
struct SafetensorsReader::State {
  std::string what;
  MappedFile file;
  std::span<const std::byte> data;
  std::vector<TensorInfo> tensors;
  std::map<std::string, std::size_t, std::less<>> index;
  std::map<std::string, std::string> metadata;
};

Result<SafetensorsReader> SafetensorsReader::open(const std::filesystem::path& path) {
  auto state = std::make_unique<State>();
  state->what = path.string();
  const std::string& what = state->what;
  Result<MappedFile> mapped = MappedFile::open(path);
  if (!mapped) return mapped.why();
  state->file = std::move(mapped).value();
  const std::span<const std::byte> all = state->file.bytes();
  const auto refusal = [&](const Failure& why) { return foreign_weights(path, all).value_or(why); };
  if (all.size() < safetensors::kPrefixBytes) {
    return refusal(failure("io.safetensors", what, "at least 8 bytes (the length of the header)",
                           counted(std::ssize(all), "byte"), "a complete copy of the file"));
  }
  std::uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, all.data(), sizeof(header_bytes));
  const std::uint64_t limit_bytes =
      std::min<std::uint64_t>(safetensors::kLimitHeaderBytes, all.size() - safetensors::kPrefixBytes);
  if (header_bytes > limit_bytes) {
    return refusal(failure("io.safetensors", what, "a header of at most " + std::to_string(limit_bytes) + " bytes",
                           std::to_string(header_bytes), "a complete copy of the file"));
  }
  const std::span<const std::byte> header_span = all.subspan(safetensors::kPrefixBytes, header_bytes);
  state->data = all.subspan(safetensors::kPrefixBytes + header_bytes);
  const std::string_view text(reinterpret_cast<const char*>(header_span.data()), header_span.size());
  Result<safetensors::Header> header = safetensors::parse_header(text, what, state->data.size());
  if (const Status whole = check_map(all, path); !whole) return whole.why();
  if (!header) return refusal(header.why());
  state->tensors = std::move(header.value().tensors);
  state->metadata = std::move(header.value().metadata);
  for (std::size_t i = 0; i < state->tensors.size(); ++i) state->index.emplace(state->tensors[i].name, i);
  return SafetensorsReader(std::move(state));
}

SafetensorsReader::SafetensorsReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
SafetensorsReader::SafetensorsReader(SafetensorsReader&&) noexcept = default;
SafetensorsReader& SafetensorsReader::operator=(SafetensorsReader&&) noexcept = default;
SafetensorsReader::~SafetensorsReader() = default;

const std::vector<TensorInfo>& SafetensorsReader::tensors() const { return state_->tensors; }

const TensorInfo* SafetensorsReader::find(std::string_view name) const {
  const auto found = state_->index.find(name);
  return found == state_->index.end() ? nullptr : &state_->tensors[found->second];
}

std::span<const std::byte> SafetensorsReader::bytes(const TensorInfo& tensor) const {
  RG_ASSERT(tensor.begin <= tensor.end && tensor.end <= state_->data.size());
  return state_->data.subspan(tensor.begin, tensor.end - tensor.begin);
}

Status SafetensorsReader::check() const { return check_map(state_->file.bytes(), state_->what); }

Result<std::vector<float>> SafetensorsReader::read_f32(std::string_view name) const {
  const std::string what = state_->what + ", tensor " + safetensors::shown(name);
  const TensorInfo* info = find(name);
  if (info == nullptr)
    return failure("io.safetensors", what, "a tensor of this name", "none", "a file that contains it");
  const std::span<const std::byte> raw = bytes(*info);
  if (!is_float(info->dtype)) {
    return failure("io.safetensors", what, "F32, F64, F16 or BF16", safetensors::file_name_of(info->dtype),
                   "saving the weights as F32");
  }
  std::vector<float> values = to_floats(raw, info->dtype);
  if (const Status whole = check(); !whole) return whole.why();
  return values;
}

const std::map<std::string, std::string>& SafetensorsReader::metadata() const { return state_->metadata; }

std::string tensors_sha256(const std::filesystem::path& path) {
  const SafetensorsReader reader = SafetensorsReader::open(path).or_throw();
  std::vector<TensorInfo> tensors = reader.tensors();
  std::ranges::sort(tensors, {}, &TensorInfo::name);
  std::string text;
  for (const TensorInfo& tensor : tensors) text += tensor.name + "\n" + sha256_hex(reader.bytes(tensor)) + "\n";
  static_cast<void>(reader.check().or_throw());
  return sha256_hex(text);
}

}  // namespace roentgen::io
