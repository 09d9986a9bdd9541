// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests a training run that is killed again and again.
#include <gtest/gtest.h>
#include <signal.h>

#include <random>
#include <string>
#include <vector>

#include "tests/e2e/program.h"
#include "tests/parallel/launch.h"

namespace roentgen::e2e {
namespace {

constexpr int kKills = 50;
constexpr unsigned kSeed = 20261122;

std::int64_t lines_of(const fs::path& file) {
  const std::string text = fs::exists(file) ? read_all(file) : "";
  return std::ranges::count(text, '\n');
}

TEST_F(Launch, fifty_kills_of_any_rank_at_any_time_change_no_bit) {
  // Starting the program takes as long as some twenty epochs.
  const std::vector<std::string> often{"--set", "train.checkpoint_steps=2", "--set", "train.epochs=400"};
  place_.must_run(ranks("whole", 2, often));
  std::mt19937 random(kSeed);
  int kills = 0;
  for (; kills < kKills; ++kills) {
    Process process(ranks("killed", 2, plus(often, {"--resume"})), place_.root());
    const fs::path log = place_ / "killed/log.jsonl";
    if (!process.wait_for_lines(log, lines_of(log) + 1 + static_cast<std::int64_t>(random() % 5))) break;
    const std::vector<pid_t> alive = ranks_in(place_ / "killed");
    ASSERT_EQ(alive.size(), 2U) << "seed " << kSeed << ", kill " << kills;
    ::kill(alive[random() % alive.size()], SIGKILL);
    EXPECT_NE(process.wait().code, 0);
    EXPECT_TRUE(all_gone(place_ / "killed")) << "seed " << kSeed << ", kill " << kills;
  }
  EXPECT_EQ(kills, kKills) << "seed " << kSeed;
  RecordProperty("kills", kills);
  place_.must_run(ranks("killed", 2, plus(often, {"--resume"})));
  expect_equal_tensors(place_ / "killed/checkpoints/resume.safetensors",
                       place_ / "whole/checkpoints/resume.safetensors");
  expect_equal_tensors(place_ / "killed/checkpoints/best.safetensors", place_ / "whole/checkpoints/best.safetensors");
}

}  // namespace
}  // namespace roentgen::e2e
