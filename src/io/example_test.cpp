// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/example.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "core/random.h"
#include "io/io_testing.h"
#include "io/protobuf.h"

namespace roentgen::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string written() {
  ExampleWriter writer;
  writer.bytes("image/encoded", bytes_of(std::string_view("\0PNG", 4)));
  writer.text("image/filename", "00000001_000.png");
  writer.texts("names", std::array<std::string, 2>{"Mass", "Nodule"});
  writer.integers("image/label", std::array<std::int64_t, 3>{1, 0, -1});
  writer.number("age", 57.5F);
  return writer.data();
}

TEST(Example, reads_what_is_written) {
  const std::string message = written();
  const Example example = parse_example(bytes_of(message), "a").or_throw();
  ASSERT_EQ(example.size(), 5U);
  EXPECT_EQ(text_of(example, "image/encoded"), std::string_view("\0PNG", 4));
  EXPECT_EQ(text_of(example, "image/filename"), "00000001_000.png");
  EXPECT_EQ(std::get<BytesList>(example.at("names")).size(), 2U);
  EXPECT_THAT(integers_of(example, "image/label"), ElementsAre(1, 0, -1));
  EXPECT_THAT(std::get<std::vector<float>>(example.at("age")), ElementsAre(57.5F));
}

TEST(Example, has_nothing_under_other_names_and_kinds) {
  const std::string message = written();
  const Example example = parse_example(bytes_of(message), "a").or_throw();
  EXPECT_EQ(text_of(example, "image/format"), "");
  EXPECT_EQ(text_of(example, "image/label"), "");
  EXPECT_TRUE(integers_of(example, "image/filename").empty());
}

// Values 1, 0 and 258 of an int64 list, once as separate fields and once packed; also a float list.
TEST(Example, takes_lists_that_are_not_packed) {
  ProtobufWriter integers, floats, feature, other, entry, second, features, example;
  for (const std::int64_t value : {1, 0, 258}) integers.integer(1, value);
  floats.number(1, 0.5F);
  floats.text(1, std::string_view("\0\0\x80\x3f", 4));
  feature.message(3, integers);
  other.message(2, floats);
  entry.text(1, "label");
  entry.message(2, feature);
  second.text(1, "floats");
  second.message(2, other);
  features.message(1, entry);
  features.message(1, second);
  example.message(1, features);
  const Example read = parse_example(bytes_of(example.data()), "a").or_throw();
  EXPECT_THAT(integers_of(read, "label"), ElementsAre(1, 0, 258));
  EXPECT_THAT(std::get<std::vector<float>>(read.at("floats")), ElementsAre(0.5F, 1.0F));
}

TEST(Example, refuses_what_is_cut_short) {
  const std::string message = written();
  for (std::size_t bytes = 1; bytes < message.size(); ++bytes) {
    const auto result = parse_example(bytes_of(message).first(bytes), "record 7 of a.tfrecord");
    ASSERT_FALSE(result.ok()) << bytes;
    EXPECT_THAT(result.error(),
                HasSubstr("[io.example] record 7 of a.tfrecord: expected a TensorFlow record (tf.train.Example)"));
  }
}

TEST(Example, survives_any_damage) {
  Random random(11, RandomStage::Test);
  for (int i = 0; i < 20000; ++i) {
    const std::string message = testing::damaged(written(), random);
    static_cast<void>(parse_example(bytes_of(message), "a"));
  }
}

}  // namespace
}  // namespace roentgen::io
