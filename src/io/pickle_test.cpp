// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/pickle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace roentgen::io {
namespace {

using namespace std::string_literals;
using ::testing::HasSubstr;

constexpr std::array<std::string_view, 1> kCalls{"a.make"};

Result<Pickle> parse(const std::string& bytes) { return parse_pickle(std::as_bytes(std::span(bytes)), "x", kCalls); }

std::string error_of(const std::string& bytes) {
  const auto pickle = parse(bytes);
  return pickle.ok() ? "no error" : pickle.error();
}

TEST(Pickle, reads_numbers_of_every_width) {
  const auto number = [](const std::string& bytes) {
    const Pickle pickle = parse(bytes + ".").or_throw();
    return pickle[pickle.root].integer;
  };
  EXPECT_EQ(number("K\xff"), 255);
  EXPECT_EQ(number("M\xff\xff"), 65535);
  EXPECT_EQ(number("J\xfe\xff\xff\xff"), -2);
  EXPECT_EQ(number("\x8a\x01\xfe"), -2);
  EXPECT_EQ(number("\x8a\x02\xff\0"s), 255);
  EXPECT_EQ(number("\x8a\0"s), 0);
  EXPECT_EQ(number("\x88"), 1);
}

TEST(Pickle, keeps_what_follows_it_and_values_that_hold_themselves) {
  const Pickle pickle = parse("\x80\x02]q\0(K\x01h\0e.rest"s).or_throw();  // a list that contains 1 and itself
  EXPECT_EQ(pickle.size_bytes, 12U);
  ASSERT_EQ(pickle[pickle.root].items.size(), 2U);
  EXPECT_EQ(pickle[pickle.root].items[1], pickle.root);
}

TEST(Pickle, makes_nodes_of_calls_and_objects) {
  const Pickle pickle = parse("ca\nmake\n)RU\x01kK\x05scm\nThing\n)\x81}b\x86."s).or_throw();
  const auto& parts = pickle[pickle.root].items;
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(pickle[parts[0]].kind, PickleKind::Call);
  EXPECT_EQ(pickle[pickle[parts[0]].entries.at(1)].integer, 5);
  EXPECT_EQ(pickle_text(pickle, parts[0]), "a call of a.make");
  EXPECT_EQ(pickle_text(pickle, parts[1]), "an object of m.Thing");
  EXPECT_EQ(pickle[pickle[parts[1]].state].kind, PickleKind::Dict);
}

TEST(Pickle, refuses_other_calls_by_name) {
  EXPECT_THAT(error_of("cos\nsystem\n(X\x04\0\0\0trueteR."s), HasSubstr("got"));
  EXPECT_THAT(error_of("cos\nsystem\n(X\x04\0\0\0truetR."s),
              HasSubstr("expected only tensors, got a call of os.system"));
  EXPECT_THAT(error_of("\x8c\x08"
                       "builtins\x8c\x04"
                       "eval\x93)R."s),
              HasSubstr("got a call of builtins.eval"));
  EXPECT_THAT(error_of("K\x01)R."s), HasSubstr("got a call of a number"));
}

TEST(Pickle, refuses_opcodes_that_no_state_dict_needs) {
  EXPECT_THAT(error_of("(S'a'\nios\nsystem\n."s), HasSubstr("opcode 0x53"));
  EXPECT_THAT(error_of("\x82\x01."s), HasSubstr("opcode 0x82"));
}

TEST(Pickle, refuses_a_stack_that_does_not_fit) {
  EXPECT_THAT(error_of("."), HasSubstr("expected a value on the stack, got none"));
  EXPECT_THAT(error_of("]e."), HasSubstr("expected a mark"));
  EXPECT_THAT(error_of("K\x01(0."), HasSubstr("expected a value on the stack")) << "from below the mark";
  EXPECT_THAT(error_of("}(K\x01u."), HasSubstr("expected a value for each key"));
  EXPECT_THAT(error_of("K\x01K\x02"
                       "a."),
              HasSubstr("expected a container, got a number"));
  EXPECT_THAT(error_of("h\x05."), HasSubstr("number 5, which was not stored"));
  EXPECT_THAT(error_of("]}b."), HasSubstr("expected an object, got attributes for a list"));
}

TEST(Pickle, refuses_absurd_lengths_without_allocating_them) {
  EXPECT_THAT(error_of("\x8d\xff\xff\xff\xff\xff\xff\xff\x7fx."s), HasSubstr("got a truncated pickle"));
  EXPECT_THAT(error_of("\x8b\xff\xff\xff\xff."s), HasSubstr("got a truncated pickle"));
  EXPECT_THAT(error_of(std::string(1'000'001, 'N') + "."), HasSubstr("at most 1000000 values"));
}

}  // namespace
}  // namespace roentgen::io
