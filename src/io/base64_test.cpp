// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Test vectors of RFC 4648, section 10.
#include "io/base64.h"

#include <gtest/gtest.h>

#include <string_view>

namespace roentgen::io {
namespace {

std::string encoded(std::string_view text) { return to_base64(std::as_bytes(std::span(text))); }

TEST(Base64, is_as_the_rfc_has_it) {
  EXPECT_EQ(encoded(""), "");
  EXPECT_EQ(encoded("f"), "Zg==");
  EXPECT_EQ(encoded("fo"), "Zm8=");
  EXPECT_EQ(encoded("foo"), "Zm9v");
  EXPECT_EQ(encoded("foob"), "Zm9vYg==");
  EXPECT_EQ(encoded("fooba"), "Zm9vYmE=");
  EXPECT_EQ(encoded("foobar"), "Zm9vYmFy");
  EXPECT_EQ(encoded("\xff\xfe\xfb"), "//77");
}

}  // namespace
}  // namespace roentgen::io
