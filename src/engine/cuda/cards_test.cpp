// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "engine/cuda/cards.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/error.h"
#include "core/folder_testing.h"

namespace roentgen::engine::cuda {
namespace {

/// Returns the error message of find_card() for a file with this content.
std::string error_of(const std::string& content) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "card.json";
  std::ofstream(file) << content;
  try {
    static_cast<void>(find_card(file));
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("card.json"), std::string::npos) << error.what();
    return error.what();
  }
  return "no error";
}

TEST(Cards, described_ones_have_memory_and_multiprocessors) {
  const Card h200 = find_card("h200");
  EXPECT_EQ(h200.name, "NVIDIA H200");
  EXPECT_EQ(h200.compute_capability, 90);
  EXPECT_EQ(h200.multiprocessors, 132);
  EXPECT_EQ(h200.memory_bytes >> 20, 143'155U);
  EXPECT_LT(find_card("h100").memory_bytes, h200.memory_bytes);
}

TEST(Cards, file_is_a_card_with_the_files_text) {
  const TemporaryFolder folder;
  const std::string file = folder.path() / "mine.json";
  const std::string text =
      R"({"multiProcessorCount":108,"totalGlobalMem":42949672960,"deviceVer":800,"deviceName":"A card"})";
  std::ofstream(file) << text;
  const Card card = find_card(file);
  EXPECT_EQ(card.name, "A card");
  EXPECT_EQ(card.compute_capability, 80);
  EXPECT_EQ(card.multiprocessors, 108);
  EXPECT_EQ(card.memory_bytes, std::size_t{40} << 30);
  EXPECT_EQ(card.properties, text);
}

TEST(Cards, unknown_name_is_refused_with_the_known_ones) {
  try {
    static_cast<void>(find_card("h20"));
    FAIL() << "a card h20";
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("h100, h200, or FILE.json, got h20"), std::string::npos) << error.what();
  }
}

TEST(Cards, file_that_lacks_a_property_is_refused_by_its_name) {
  EXPECT_NE(error_of("{").find("card.json"), std::string::npos);
  EXPECT_NE(error_of("[]").find("deviceName"), std::string::npos);
  EXPECT_NE(error_of(R"({"deviceName":"x"})").find("deviceVer"), std::string::npos);
  EXPECT_NE(error_of(R"({"deviceName":"x","deviceVer":900,"multiProcessorCount":0})").find("multiProcessorCount"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"deviceName":"x","deviceVer":750,"multiProcessorCount":9,"totalGlobalMem":9})")
                .find("8.0 or later, got 7.5"),
            std::string::npos);
}

TEST(Cards, absent_file_is_named) {
  try {
    static_cast<void>(find_card("/no/such/card.json"));
    FAIL() << "a card of no file";
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("/no/such/card.json"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace roentgen::engine::cuda
