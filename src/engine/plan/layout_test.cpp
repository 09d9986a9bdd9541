// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/plan/layout.h"

#include <gtest/gtest.h>

namespace roentgen::engine {
namespace {

const Shape kImages{2, 20, 3, 5};

TEST(Layout, has_the_name_of_its_order_padding_and_type) {
  EXPECT_EQ(name_of(kImages, Layout{}), "nchw");
  EXPECT_EQ(name_of(kImages, Layout::blocked(16)), "nChw16c");
  EXPECT_EQ(name_of(kImages, Layout::blocked(16, DType::Bf16)), "nChw16c:bf16");
  EXPECT_EQ(name_of(kImages, {.order = Order::ChannelsLast}), "nhwc");
  EXPECT_EQ(name_of(kImages, {Order::ChannelsLast, 8, DType::Bf16}), "nhwc8:bf16");
  EXPECT_EQ(name_of({2, 20}, Layout{}), "nc");
  EXPECT_EQ(name_of({20}, Layout{}), "x");
}

TEST(Layout, pads_channels_to_a_multiple_of_its_block) {
  EXPECT_EQ(padded_channels(kImages, Layout{}), 20);
  EXPECT_EQ(padded_channels(kImages, Layout::blocked(16)), 32);
  EXPECT_EQ(channel_blocks(kImages, Layout::blocked(16)), 2);
  const Layout padded{Order::ChannelsLast, 8, DType::Bf16};
  EXPECT_EQ(padded_channels(kImages, padded), 24);
  EXPECT_EQ(stored_elements(kImages, padded), 2 * 24 * 15);
  EXPECT_EQ(stored_bytes(kImages, padded), 2U * 24 * 15 * 2);
  EXPECT_EQ(stored_elements(kImages, {.order = Order::ChannelsLast}), kImages.elements());
  EXPECT_EQ(stored_elements({2, 20}, Layout{}), 40);
}

TEST(Layout, keeps_its_order_in_another_type) {
  const Layout blocked = Layout::blocked(8, DType::Bf16);
  EXPECT_EQ(blocked.as(DType::F32), Layout::blocked(8));
  EXPECT_NE(blocked, (Layout{Order::ChannelsLast, 8, DType::Bf16}));
  EXPECT_EQ(Layout::blocked(1), Layout{});
}

}  // namespace
}  // namespace roentgen::engine
