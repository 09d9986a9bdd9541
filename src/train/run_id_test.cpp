// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/run_id.h"

#include <gtest/gtest.h>

#include "data/source/source_testing.h"
#include "io/file.h"
#include "io/json.h"

namespace roentgen::train {
namespace {

TEST(RunId, is_given_once_and_keeps_the_rest_of_the_file) {
  const data::TestFolder folder;
  const RunFolder run(folder.path());
  EXPECT_EQ(run_id(run), "");
  folder.write("environment.json", R"({"memory_bytes": 5})");
  EXPECT_EQ(run_id(run), "");
  ensure_run_id(run);
  const std::string id = run_id(run);
  EXPECT_EQ(id.size(), 16U);
  EXPECT_EQ(io::read_json(run.environment()).or_throw().at("memory_bytes").as_integer(), 5);
  ensure_run_id(run);
  EXPECT_EQ(run_id(run), id);
  EXPECT_NE(new_run_id(), new_run_id());
}

}  // namespace
}  // namespace roentgen::train
