// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "graph/summary.h"

#include <gtest/gtest.h>

#include "graph/builder.h"

namespace roentgen::graph {
namespace {
Graph small() {
  Builder builder("small");
  const NodeId image = builder.input("image", {2, 3, 8, 8});
  const NodeId conv = builder.add("conv", Conv2d{.out_channels = 1000, .bias = false}, {image});
  builder.output("y", builder.add("norm", BatchNorm{}, {conv}));
  return std::move(builder).build();
}
}  // namespace

TEST(Summary, counts_per_node_and_in_all) {
  const Summary summary = summarise(small());
  ASSERT_EQ(summary.rows.size(), 3U);
  EXPECT_EQ(summary.rows[0].op, "input");
  EXPECT_EQ(summary.rows[0].activation_bytes, 2 * 3 * 64 * 4);
  EXPECT_EQ(summary.rows[1].parameters, 3000);
  EXPECT_EQ(summary.rows[1].multiply_adds, 2 * 64 * 3000);
  EXPECT_EQ(summary.rows[2].parameters, 2000);
  EXPECT_EQ(summary.parameters, 5000);
  EXPECT_EQ(summary.state_elements, 2000);
  EXPECT_EQ(summary.multiply_adds, 2 * 64 * 3000);
  EXPECT_EQ(summary.activation_bytes, 4 * 2 * 64 * (3 + 1000 + 1000));
}

TEST(Summary, prints_aligned_columns) {
  EXPECT_EQ(to_text(summarise(small())),
            "graph small\n"
            "node   op          output           parameters  multiply-adds  activation bytes\n"
            "image  input       (2, 3, 8, 8)              0              0             1,536\n"
            "conv   conv2d      (2, 1000, 8, 8)       3,000        384,000           512,000\n"
            "norm   batch_norm  (2, 1000, 8, 8)       2,000              0           512,000\n"
            "total                                    5,000        384,000         1,025,536\n"
            "state (running statistics): 2,000 elements\n");
}

TEST(Summary, is_a_value_as_well) {
  const Value value = to_value(summarise(small()));
  EXPECT_EQ(value.at("name").as_string(), "small");
  EXPECT_EQ(value.at("parameters").as_integer(), 5000);
  EXPECT_EQ(value.at("state_elements").as_integer(), 2000);
  ASSERT_EQ(value.at("nodes").as_array().size(), 3U);
  const Value& conv = value.at("nodes").as_array()[1];
  EXPECT_EQ(conv.at("op").as_string(), "conv2d");
  EXPECT_EQ(conv.at("shape").as_array()[1].as_integer(), 1000);
  EXPECT_EQ(conv.at("multiply_adds").as_integer(), 384000);
  EXPECT_EQ(conv.at("activation_bytes").as_integer(), 512000);
}

}  // namespace roentgen::graph
