// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/sha256.h"

#include <gtest/gtest.h>

#include <string>

namespace roentgen::io {
namespace {
// Examples in FIPS 180-4.
TEST(Sha256, gives_the_published_answers) {
  EXPECT_EQ(sha256_hex(std::string_view()), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// Expected hashes are from `xxhsum -H128` (xxHash 0.8), for an empty text and for a text that is long enough for the
// vector code.
TEST(FastHash, gives_the_answers_of_xxhsum) {
  EXPECT_EQ(fast_hash_hex({}), "99aa06d3014798d86001c324468d497f");
  const std::string text(1000, 'a');
  EXPECT_EQ(fast_hash_hex(std::as_bytes(std::span(text))), "b01da365eddaa29cb3e7af627147db7c");
}

TEST(FastHash, tells_neighbours_apart) {
  std::string text(64, 'a');
  const std::string before = fast_hash_hex(std::as_bytes(std::span(text)));
  text[63] = 'b';
  EXPECT_NE(fast_hash_hex(std::as_bytes(std::span(text))), before);
}

TEST(NameList, is_the_hash_of_sorted_distinct_base_names_each_with_a_newline) {
  const std::string expected = sha256_hex("00000001_000.png\n00000002_000.png\n");
  EXPECT_EQ(name_list_sha256({"00000001_000.png", "00000002_000.png"}), expected);
  EXPECT_EQ(name_list_sha256({"00000002_000.png", "00000001_000.png", "00000002_000.png"}), expected);
  EXPECT_EQ(name_list_sha256({"images_001/images/00000002_000.png", "/data/00000001_000.png"}), expected);
  EXPECT_NE(name_list_sha256({"00000001_000.png"}), expected);
}

TEST(NameList, sorts_bytes_as_unsigned) {
  EXPECT_EQ(name_list_sha256({"\xC3\xA9.png", "z.png", "Z.png"}), sha256_hex("Z.png\nz.png\n\xC3\xA9.png\n"));
}

// In CheXpert, hashes of base names alone would be equal for all three splits.
TEST(NameList, is_of_whole_names_where_base_names_are_not_all_different) {
  const auto list = [](const std::string& part) {
    return name_list_sha256({part + "/patient2/study1/view1_frontal.jpg", part + "/patient1/study1/view1_frontal.jpg"});
  };
  EXPECT_NE(list("train"), list("valid"));
  EXPECT_EQ(list("train"), sha256_hex("train/patient1/study1/view1_frontal.jpg\n"
                                      "train/patient2/study1/view1_frontal.jpg\n"));
  EXPECT_EQ(name_list_sha256({"a/x.png", "a/x.png"}), sha256_hex("x.png\n")) << "one name twice is one image";
}

TEST(NameList, of_nothing_is_the_hash_of_nothing) { EXPECT_EQ(name_list_sha256({}), sha256_hex(std::string_view())); }
}  // namespace
}  // namespace roentgen::io
