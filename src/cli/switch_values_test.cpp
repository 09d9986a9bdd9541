// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/switch_values.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace roentgen::cli {
namespace {

using Words = std::vector<std::string>;

Words changed(const Words& words) {
  static std::string xla, model;
  return with_switch_values(words, {{.name = "--xla", .target = &xla, .doc = "", .is_switch = true},
                                    {.name = "--model", .target = &model, .doc = ""}});
}

TEST(SwitchValues, are_added_to_bare_switches) {
  EXPECT_EQ(changed({"bench", "cnn", "--xla", "--model=vgg16"}),
            (Words{"bench", "cnn", "--xla=true", "--model=vgg16"}));
  EXPECT_EQ(changed({"bench", "--noxla"}), (Words{"bench", "--xla=false"}));
  EXPECT_EQ(changed({"bench", "--xla"}), (Words{"bench", "--xla=true"}));
}

TEST(SwitchValues, that_were_given_stay) {
  const Words given{"bench", "--xla", "False", "--xla=yes", "--xla_compile", "--nomodel", "--model"};
  EXPECT_EQ(changed(given), given);
}

}  // namespace
}  // namespace roentgen::cli
