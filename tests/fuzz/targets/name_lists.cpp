// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/split_lists.h"
#include "tests/fuzz/fuzz.h"

namespace roentgen::fuzz {

void fuzz_name_lists(Input input) {
  const auto path = write_scratch("list.txt", input);
  may_refuse([&path] {
    const data::NameList list = data::read_name_list(path);
    require(!list.names.empty() && list.labels.size() == list.names.size(), "marks for each name");
  });
}

}  // namespace roentgen::fuzz
