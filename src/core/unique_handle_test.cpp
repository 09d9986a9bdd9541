// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "core/unique_handle.h"

#include <gtest/gtest.h>

#include <utility>

namespace roentgen {
namespace {
struct Library {
  int freed = 0;
};
int release(Library* library) {
  ++library->freed;
  return -1;  // result is ignored, because destructors cannot fail
}

TEST(UniqueHandle, frees_once_at_the_end_of_the_scope) {
  Library library;
  {
    const UniqueHandle<Library, release> handle(&library);
    EXPECT_EQ(library.freed, 0);
  }
  EXPECT_EQ(library.freed, 1);
}

TEST(UniqueHandle, frees_once_after_a_move) {
  Library library;
  {
    UniqueHandle<Library, release> first(&library);
    const UniqueHandle<Library, release> second = std::move(first);
    EXPECT_EQ(first, nullptr);
  }
  EXPECT_EQ(library.freed, 1);
}

TEST(UniqueHandle, leaves_null_alone) { const UniqueHandle<Library, release> handle(nullptr); }

TEST(UniqueHandle, is_no_larger_than_a_pointer) {
  static_assert(sizeof(UniqueHandle<Library, release>) == sizeof(Library*));
}
}  // namespace
}  // namespace roentgen
