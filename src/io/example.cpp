// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/example.h"

#include <bit>
#include <optional>

#include "io/little_endian.h"
#include "io/protobuf.h"
#include "io/protobuf_reader.h"

namespace roentgen::io {
namespace {

using Bytes = std::span<const std::byte>;

// Field numbers of Example, Features, its map's entries, Feature and the three lists.
constexpr int kFeatures = 1, kFeature = 1, kKey = 1, kValue = 2, kListValue = 1;
constexpr int kBytesList = 1, kFloatList = 2, kIntegerList = 3;

// Calls `on_field` for every field. Returns false if the message is damaged or `on_field` returns false.
template <typename OnField>
bool each_field(Bytes message, OnField on_field) {
  ProtobufReader reader(message);
  while (const auto field = reader.next()) {
    if (!on_field(*field)) return false;
  }
  return !reader.is_damaged();
}

bool read_bytes(Bytes message, BytesList& list) {
  return each_field(message, [&](const ProtobufField& field) {
    if (field.number != kListValue) return true;
    if (field.type != WireType::Bytes) return false;
    list.push_back(field.bytes);
    return true;
  });
}

bool read_floats(Bytes message, std::vector<float>& list) {
  return each_field(message, [&](const ProtobufField& field) {
    if (field.number != kListValue) return true;
    if (field.type == WireType::Fixed32) {
      list.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(field.value)));
      return true;
    }
    if (field.type != WireType::Bytes || field.bytes.size() % 4 != 0) return false;
    for (std::size_t i = 0; i < field.bytes.size(); i += 4) {
      list.push_back(little_endian_at<float>(field.bytes, i));
    }
    return true;
  });
}

bool read_integers(Bytes message, std::vector<std::int64_t>& list) {
  return each_field(message, [&](const ProtobufField& field) {
    if (field.number != kListValue) return true;
    if (field.type == WireType::Varint) {
      list.push_back(static_cast<std::int64_t>(field.value));
      return true;
    }
    if (field.type != WireType::Bytes) return false;
    const auto values = packed_varints(field.bytes);
    if (values) list.insert(list.end(), values->begin(), values->end());
    return values.has_value();
  });
}

bool read_feature(Bytes message, Feature& feature) {
  return each_field(message, [&](const ProtobufField& field) {
    if (field.number < kBytesList || field.number > kIntegerList) return true;
    if (field.type != WireType::Bytes) return false;
    if (field.number == kBytesList) return read_bytes(field.bytes, feature.emplace<BytesList>());
    if (field.number == kFloatList) return read_floats(field.bytes, feature.emplace<std::vector<float>>());
    return read_integers(field.bytes, feature.emplace<std::vector<std::int64_t>>());
  });
}

bool read_entry(Bytes message, Example& example) {
  std::string_view name;
  Feature feature;
  const bool is_sound = each_field(message, [&](const ProtobufField& field) {
    if (field.number == kKey) name = field.text();
    if (field.number == kValue && field.type == WireType::Bytes) return read_feature(field.bytes, feature);
    return field.type == WireType::Bytes;
  });
  if (is_sound) example[name] = std::move(feature);
  return is_sound;
}

}  // namespace

Result<Example> parse_example(std::span<const std::byte> message, std::string_view what) {
  Example example;
  const bool is_sound = each_field(message, [&](const ProtobufField& field) {
    if (field.number != kFeatures) return true;
    return field.type == WireType::Bytes && each_field(field.bytes, [&](const ProtobufField& entry) {
             return entry.number != kFeature || (entry.type == WireType::Bytes && read_entry(entry.bytes, example));
           });
  });
  if (is_sound) return example;
  return failure("io.example", what, "a TensorFlow record (tf.train.Example)", "other data",
                 "image records as described in docs/reference/record_files.md");
}

std::string_view text_of(const Example& example, std::string_view name) {
  const auto found = example.find(name);
  if (found == example.end()) return {};
  const auto* list = std::get_if<BytesList>(&found->second);
  if (list == nullptr || list->empty()) return {};
  return {reinterpret_cast<const char*>(list->front().data()), list->front().size()};
}

std::span<const std::int64_t> integers_of(const Example& example, std::string_view name) {
  const auto found = example.find(name);
  if (found == example.end()) return {};
  const auto* list = std::get_if<std::vector<std::int64_t>>(&found->second);
  return list == nullptr ? std::span<const std::int64_t>() : *list;
}

void ExampleWriter::bytes(std::string_view name, std::span<const std::byte> value) {
  ProtobufWriter list;
  list.bytes(kListValue, value);
  add(name, kBytesList, list.data());
}

void ExampleWriter::texts(std::string_view name, std::span<const std::string> values) {
  ProtobufWriter list;
  for (const std::string& value : values) list.text(kListValue, value);
  add(name, kBytesList, list.data());
}

void ExampleWriter::integers(std::string_view name, std::span<const std::int64_t> values) {
  ProtobufWriter list;
  list.integers(kListValue, values);
  add(name, kIntegerList, list.data());
}

void ExampleWriter::number(std::string_view name, float value) {
  ProtobufWriter list;
  list.number(kListValue, value);
  add(name, kFloatList, list.data());
}

void ExampleWriter::add(std::string_view name, int kind, const std::string& list) {
  ProtobufWriter feature, entry, features;
  feature.text(kind, list);
  entry.text(kKey, name);
  entry.message(kValue, feature);
  features.message(kFeature, entry);
  features_ += features.data();
}

std::string ExampleWriter::data() const {
  ProtobufWriter example;
  example.text(kFeatures, features_);
  return example.data();
}

}  // namespace roentgen::io
