// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Compares the wire format with its published examples, and reads an ONNX file back field by field.
#include "io/onnx.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "core/error.h"
#include "io/file.h"
#include "io/io_testing.h"
#include "io/protobuf.h"

namespace roentgen::io {
namespace {

std::string hex(const std::string& bytes) {
  std::string text;
  for (const char c : bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    text += kDigits[static_cast<unsigned char>(c) >> 4];
    text += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

// Examples in protobuf.dev/programming-guides/encoding: 150 in field 1, "testing" in field 2, a sub-message in 3,
// packed in 6.
TEST(Protobuf, writes_the_published_examples) {
  ProtobufWriter a;
  a.integer(1, 150);
  EXPECT_EQ(hex(a.data()), "089601");
  ProtobufWriter b;
  b.text(2, "testing");
  EXPECT_EQ(hex(b.data()), "120774657374696e67");
  ProtobufWriter c;
  c.message(3, a);
  EXPECT_EQ(hex(c.data()), "1a03089601");
  ProtobufWriter d;
  d.integers(6, std::vector<std::int64_t>{3, 270, 86942});
  EXPECT_EQ(hex(d.data()), "3206038e029ea705");
}

TEST(Protobuf, writes_negative_and_floating_numbers) {
  ProtobufWriter a;
  a.integer(1, -2);
  EXPECT_EQ(hex(a.data()), "08feffffffffffffffff01");
  ProtobufWriter b;
  b.number(16, 1.5F);
  EXPECT_EQ(hex(b.data()),
            "8501"
            "0000c03f");
  ProtobufWriter c;
  c.number(1, -2.0);
  EXPECT_EQ(hex(c.data()),
            "09"
            "00000000000000c0");
}

// A field of a message, parsed by this test's own reader: varints as numbers, everything else as bytes.
struct Field {
  int number = 0;
  std::uint64_t integer = 0;
  std::string bytes;
};
std::vector<Field> fields_of(const std::string& data) {
  std::vector<Field> fields;
  std::size_t at = 0;
  const auto varint = [&] {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(data.at(at++));
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < data.size()) {
    const std::uint64_t key = varint();
    Field field{.number = static_cast<int>(key >> 3)};
    const std::size_t fixed = (key & 7) == 5 ? 4 : (key & 7) == 1 ? 8 : 0;
    if ((key & 7) == 0) {
      field.integer = varint();
    } else {
      const std::size_t size = fixed > 0 ? fixed : static_cast<std::size_t>(varint());
      field.bytes = data.substr(at, size);
      EXPECT_EQ(field.bytes.size(), size);
      at += size;
    }
    fields.push_back(field);
  }
  return fields;
}
std::vector<Field> all(const std::vector<Field>& fields, int number) {
  std::vector<Field> found;
  for (const Field& field : fields) {
    if (field.number == number) found.push_back(field);
  }
  return found;
}
Field one(const std::vector<Field>& fields, int number) {
  const std::vector<Field> found = all(fields, number);
  EXPECT_EQ(found.size(), 1U) << "field " << number;
  return found.empty() ? Field{} : found[0];
}

OnnxModel small_model() {
  return {.name = "g",
          .doc = "d",
          .nodes = {{.op = "Conv",
                     .name = "c",
                     .inputs = {"x", "w"},
                     .outputs = {"y"},
                     .attributes = {{"group", std::int64_t{1}},
                                    {"pads", std::vector<std::int64_t>{0, 1, 2, 3}},
                                    {"alpha", 0.5F}}}},
          .initializers = {{.name = "w", .shape = {1, 2}, .values = {1.0F, -2.0F}}},
          .inputs = {{.name = "x", .shape = {1, 1, 4, 5}, .symbols = {{0, "N"}}}},
          .outputs = {{.name = "y", .shape = {1, 3}, .symbols = {{0, "N"}}}},
          .metadata = {{"labels", "[]"}}};
}

TEST(Onnx, file_holds_every_field_of_the_model) {
  const testing::TemporaryFolder folder;
  const auto path = folder.path() / "m.onnx";
  write_onnx(path, small_model(), 17);
  const std::vector<Field> model = fields_of(read_text(path).or_throw());
  EXPECT_EQ(one(model, 1).integer, 8U);
  EXPECT_EQ(one(model, 2).bytes, "roentgen");
  EXPECT_EQ(one(fields_of(one(model, 8).bytes), 2).integer, 17U);
  const std::vector<Field> entry = fields_of(one(model, 14).bytes);
  EXPECT_EQ(one(entry, 1).bytes, "labels");
  EXPECT_EQ(one(entry, 2).bytes, "[]");
  const std::vector<Field> graph = fields_of(one(model, 7).bytes);
  const std::vector<Field> node = fields_of(one(graph, 1).bytes);
  ASSERT_EQ(all(node, 1).size(), 2U);
  EXPECT_EQ(all(node, 1)[1].bytes, "w");
  EXPECT_EQ(one(node, 2).bytes, "y");
  EXPECT_EQ(one(node, 4).bytes, "Conv");
  const std::vector<Field> attributes = all(node, 5);
  ASSERT_EQ(attributes.size(), 3U);
  EXPECT_EQ(one(fields_of(attributes[0].bytes), 20).integer, 2U);  // INT
  EXPECT_EQ(one(fields_of(attributes[0].bytes), 3).integer, 1U);
  EXPECT_EQ(one(fields_of(attributes[1].bytes), 20).integer, 7U);  // INTS
  EXPECT_EQ(hex(one(fields_of(attributes[1].bytes), 8).bytes), "00010203");
  EXPECT_EQ(one(fields_of(attributes[2].bytes), 20).integer, 1U);  // FLOAT
  const std::vector<Field> tensor = fields_of(one(graph, 5).bytes);
  EXPECT_EQ(hex(one(tensor, 1).bytes), "0102");
  EXPECT_EQ(one(tensor, 2).integer, 1U);
  EXPECT_EQ(hex(one(tensor, 9).bytes),
            "0000803f"
            "000000c0");
  const std::vector<Field> input = fields_of(one(graph, 11).bytes);
  const std::vector<Field> type = fields_of(one(fields_of(one(input, 2).bytes), 1).bytes);
  const std::vector<Field> dims = all(fields_of(one(type, 2).bytes), 1);
  ASSERT_EQ(dims.size(), 4U);
  EXPECT_EQ(one(fields_of(dims[0].bytes), 2).bytes, "N");
  EXPECT_EQ(one(fields_of(dims[3].bytes), 1).integer, 5U);
}

TEST(Onnx, version_of_the_file_follows_the_operator_set) {
  const testing::TemporaryFolder folder;
  const auto path = folder.path() / "m.onnx";
  for (const auto& [opset, version] : std::map<int, std::uint64_t>{{13, 7}, {14, 7}, {15, 8}, {16, 8}, {17, 8}}) {
    write_onnx(path, small_model(), opset);
    EXPECT_EQ(one(fields_of(read_text(path).or_throw()), 1).integer, version) << opset;
  }
}

TEST(Onnx, refuses_unknown_operator_sets_and_tensors_that_do_not_fit) {
  const testing::TemporaryFolder folder;
  const auto path = folder.path() / "m.onnx";
  for (const int opset : {12, 18}) EXPECT_THROW(write_onnx(path, small_model(), opset), ConfigError);
  OnnxModel model = small_model();
  model.initializers[0].values.pop_back();
  EXPECT_THROW(write_onnx(path, model, 17), ConfigError);
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace roentgen::io
