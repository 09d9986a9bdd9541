// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "engine/device.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace roentgen::engine {
namespace {

TEST(DeviceChoice, is_read_from_its_text_and_printed_back) {
  EXPECT_EQ(parse_device("auto"), DeviceChoice{});
  EXPECT_EQ(parse_device("cpu"), (DeviceChoice{.engine = "cpu"}));
  EXPECT_EQ(parse_device("cuda"), (DeviceChoice{.engine = "cuda"}));
  EXPECT_EQ(parse_device("cuda:7"), (DeviceChoice{.engine = "cuda", .index = 7}));
  for (const char* text : {"auto", "cpu", "cuda", "cuda:0", "cuda:12"}) EXPECT_EQ(parse_device(text).text(), text);
}

TEST(DeviceChoice, of_another_text_is_refused_with_those_known) {
  for (const char* text :
       {"", "gpu", "CUDA", "cuda:", "cuda:-1", "cuda:x", "cuda:1x", "cuda:1024", "cpu:0", "auto:0", " cpu"}) {
    try {
      static_cast<void>(parse_device(text));
      ADD_FAILURE() << text;
    } catch (const ConfigError& error) {
      EXPECT_TRUE(
          std::string_view(error.what())
              .starts_with("[engine.device] device: expected auto, cpu, cuda or cuda:N, got " + std::string(text)))
          << error.what();
    }
  }
}

TEST(DeviceChoice, is_the_host_unless_it_names_an_accelerator) {
  EXPECT_TRUE(parse_device("auto").is_host());
  EXPECT_TRUE(parse_device("cpu").is_host());
  EXPECT_FALSE(parse_device("cuda").is_host());
  EXPECT_FALSE(parse_device("cuda:1").is_host());
}

}  // namespace
}  // namespace roentgen::engine
