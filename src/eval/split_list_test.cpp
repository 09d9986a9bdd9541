// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/split_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace roentgen::eval {
namespace {

TEST(SplitList, of_nih_official_test_is_known_by_its_hash) {
  const KnownList* found = find_known_list("3d0c44b68d287fd04f90c4f25df13428bba7b3e729f65715d5cf73a88e83d226");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->id, "nih-official-test");
  EXPECT_EQ(found->images, 25596);
}

TEST(SplitList, of_another_hash_is_unknown) {
  EXPECT_EQ(find_known_list(std::string(64, '0')), nullptr);
  EXPECT_EQ(find_known_list(""), nullptr);
}

TEST(SplitList, hashes_and_ids_are_distinct_and_well_formed) {
  std::set<std::string_view> hashes;
  std::set<std::string_view> ids;
  for (const KnownList& list : known_lists()) {
    EXPECT_EQ(list.sha256.size(), 64U) << list.id;
    EXPECT_TRUE(std::ranges::all_of(list.sha256, [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    })) << list.id;
    EXPECT_TRUE(hashes.insert(list.sha256).second) << list.id;
    EXPECT_TRUE(ids.insert(list.id).second) << list.id;
  }
  EXPECT_EQ(hashes.size(), 7U);
}

TEST(SplitList, parts_of_one_division_sum_to_the_whole) {
  const auto images = [](std::string_view id) {
    const auto lists = known_lists();
    const auto found = std::ranges::find(lists, id, &KnownList::id);
    return found == lists.end() ? -1 : found->images;
  };
  EXPECT_EQ(images("nih-train-75312") + images("nih-val-11212"), images("nih-official-train-val"));
  EXPECT_EQ(images("nih-official-train-val") + images("nih-official-test"), 112120);
  EXPECT_EQ(images("nih-community-train") + images("nih-community-val") + images("nih-community-test"), 112120);
}

}  // namespace
}  // namespace roentgen::eval
