// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/split_lists.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/error.h"
#include "data/source/source_testing.h"

namespace roentgen::data {
namespace {

using testing::ElementsAre;

TEST(NameList, reads_names_and_marks) {
  const TestFolder folder;
  const auto list = read_name_list(folder.write("l.txt", "a.png 0 1\r\n\n  b.png\t1 0\nc.png 0 0"));
  EXPECT_THAT(list.names, ElementsAre("a.png", "b.png", "c.png"));
  EXPECT_THAT(list.labels, ElementsAre(ElementsAre(0, 1), ElementsAre(1, 0), ElementsAre(0, 0)));
}

TEST(NameList, drops_a_byte_order_mark) {
  const TestFolder folder;
  EXPECT_THAT(read_name_list(folder.write("l.txt",
                                          "\xEF\xBB\xBF"
                                          "a.png 0 1\r\nb.png 1 0\r\n"))
                  .names,
              ElementsAre("a.png", "b.png"));
}

TEST(NameList, refuses_rows_of_unequal_length) {
  const TestFolder folder;
  const auto path = folder.write("l.txt", "a.png 0 1\nb.png 1\n");
  EXPECT_THAT(message_of<DataError>([&] { static_cast<void>(read_name_list(path)); }),
              testing::HasSubstr("l.txt line 2: expected 2 labels (0 or 1), as on the first line, got 1"));
}

RC_GTEST_PROP(NameList, reads_or_refuses_any_bytes, ()) {
  const auto bytes = *rc::gen::container<std::string>(
      rc::gen::oneOf(rc::gen::arbitrary<char>(), rc::gen::elementOf(std::string("01 \n\r\tab.png"))));
  const TestFolder folder;
  const auto path = folder.write("l.txt", bytes);
  try {
    const auto list = read_name_list(path);
    RC_ASSERT(!list.names.empty());
    RC_ASSERT(list.names.size() == list.labels.size());
  } catch (const DataError&) {
    RC_SUCCEED();
  }
}

TEST(SplitLists, are_found_in_the_root_its_labels_folder_and_beside_the_csv) {
  const TestFolder folder;
  folder.write("train_val_list.txt", "a.png\n");
  folder.write("labels/test_list.txt", "b.png\n");
  folder.write("tables/val_list.txt", "c.png\n");
  SourceOptions options;
  options.root = folder.path();
  options.csv = {"tables/labels.csv"};
  const auto lists = find_split_lists(options);
  EXPECT_TRUE(lists.train_val && lists.test && lists.val);
  EXPECT_FALSE(lists.train);
}

TEST(SplitLists, named_ones_are_the_only_ones) {
  const TestFolder folder;
  folder.write("train_list.txt", "a.png\n");
  folder.write("mine.txt", "b.png\n");
  SourceOptions options;
  options.root = folder.path();
  options.split.test_list = "mine.txt";
  const auto lists = find_split_lists(options);
  EXPECT_TRUE(lists.test);
  EXPECT_FALSE(lists.train);
}

}  // namespace
}  // namespace roentgen::data
