// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests roentgen look: a contact sheet of the images as the network receives them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/io_testing.h"
#include "tests/e2e/program.h"

namespace roentgen::e2e {
namespace {

using testing::HasSubstr;

TEST(Look, draws_a_sheet_and_says_what_is_on_it) {
  Workplace place;
  const auto data = place.synth("data", 60);
  io::testing::put_file(place / "look.toml", "[preprocess]\nsize = 32\n[augment]\nrotate = 10\n");
  const std::vector<std::string> common{"look", "--recipe", (place / "look.toml").string(), "--data", data.string()};
  const Ended run =
      place.must_run(plus(common, {"--sheet", place / "a.png", "--columns", "3", "--json", place / "a.json"}));
  EXPECT_THAT(run.out, HasSubstr("Cardiomegaly: "));
  EXPECT_THAT(run.out, HasSubstr("none of these: "));
  EXPECT_THAT(run.out, HasSubstr("rotate 10"));
  EXPECT_EQ(read_json(place / "a.json").at("rows").as_array().size(), 15U);
  place.must_run(plus(common, {"--sheet", place / "b.png", "--columns", "3"}));
  place.must_run(plus(common, {"--sheet", place / "plain.png", "--columns", "3", "--plain"}));
  place.must_run(plus(common, {"--sheet", place / "epoch.png", "--columns", "3", "--epoch", "1"}));
  const std::string sheet = read_all(place / "a.png");
  EXPECT_EQ(sheet, read_all(place / "b.png"));
  EXPECT_NE(sheet, read_all(place / "plain.png"));
  EXPECT_NE(sheet, read_all(place / "epoch.png"));
}

TEST(Look, refuses_in_one_line) {
  Workplace place;
  const auto data = place.synth("data", 20);
  io::testing::put_file(place / "look.toml", "[preprocess]\nsize = 4096\n");
  const std::vector<std::string> common{"look", "--recipe", (place / "look.toml").string(), "--data", data.string()};
  const auto refused = [&](const std::vector<std::string>& more, const std::string& words) {
    expect_refusal(place.run(plus(common, more)), {words});
  };
  refused({"--sheet", place / "a.png"}, "pixels");
  refused({"--sheet", place / "a.png", "--columns", "0"}, "--columns");
  refused({"--sheet", place / "a.png", "--split", "dev"}, "dev");
  refused({"--sheet", data / "a.png"}, "--sheet");
  refused({"--sheet", place / "look.toml"}, "look.toml");
  EXPECT_FALSE(std::filesystem::exists(place / "a.png"));
}

}  // namespace
}  // namespace roentgen::e2e
