// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests waiting, time limits and their error texts, on a communicator whose collectives end when the test allows it.
#include "dist/communicator.h"

#include <gtest/gtest.h>

#include <array>

#include "core/error.h"

namespace roentgen::dist {
namespace {
using std::chrono::milliseconds;

/// Communicator of four ranks, some of which never arrive. Collective i ends after polls_left[i] more polls, or fails
/// if the number is negative.
class ScriptedCommunicator final : public Communicator {
 public:
  explicit ScriptedCommunicator(std::vector<int> polls_left, std::vector<int> missing = {})
      : polls_left_(std::move(polls_left)), missing_(std::move(missing)) {}
  [[nodiscard]] std::string_view name() const override { return "scripted"; }
  [[nodiscard]] int rank() const override { return 1; }
  [[nodiscard]] int size() const override { return 4; }
  [[nodiscard]] int local_rank() const override { return 1; }
  [[nodiscard]] int local_size() const override { return 2; }
  [[nodiscard]] std::string_view host(int rank) const override { return rank < 2 ? "a" : "b"; }
  Pending broadcast(std::span<std::byte>, int, Phase phase) override { return start(phase); }
  Pending all_reduce_sum(std::span<float>, Phase phase) override { return start(phase); }
  Pending all_reduce_sum(std::span<double>, Phase phase) override { return start(phase); }
  Pending all_reduce_mean(std::span<float>, Phase phase) override { return start(phase); }
  Pending all_gather(std::span<const std::byte>, std::span<std::byte>, Phase phase) override { return start(phase); }
  Pending reduce_sum(std::span<float>, int, Phase phase) override { return start(phase); }
  Pending scatter(std::span<const std::byte>, std::span<std::byte>, int, Phase phase) override { return start(phase); }
  Pending gather(std::span<const std::byte>, std::span<std::byte>, int, Phase phase) override { return start(phase); }
  Pending all_to_all(std::span<const std::byte>, std::span<std::byte>, Phase phase) override { return start(phase); }
  Pending barrier(Phase phase) override { return start(phase); }
  void abandon() noexcept override {}
  int polls = 0;

 protected:
  [[nodiscard]] bool poll(std::int64_t ticket) override {
    ++polls;
    int& left = polls_left_.at(static_cast<std::size_t>(ticket));
    if (left < 0) throw CommError("[dist.scripted] link down");
    return left-- == 0;
  }
  [[nodiscard]] std::vector<int> missing(std::int64_t) const override { return missing_; }

 private:
  Pending start(Phase phase) { return {*this, next_ticket_++, phase}; }
  std::vector<int> polls_left_;
  std::vector<int> missing_;
  std::int64_t next_ticket_ = 0;
};

constexpr milliseconds kAnHour{3'600'000};
constexpr int kNever = 1 << 30;
const std::string kRemedy = "; try again (train: --resume) when its host and network work, or a longer --comm-timeout";

std::string timeout_text(std::vector<int> missing, Phase phase) {
  ScriptedCommunicator communicator({kNever}, std::move(missing));
  Pending pending = communicator.barrier(phase);
  try {
    pending.wait(milliseconds{0});
  } catch (const CommError& error) {
    EXPECT_TRUE(pending.is_done()) << "nobody must wait for it again";
    return error.what();
  }
  return "no error";
}

TEST(Pending, waits_until_the_collective_is_done_and_asks_no_more) {
  ScriptedCommunicator communicator({3});
  Pending pending = communicator.barrier({"epoch", 2});
  EXPECT_FALSE(pending.is_done());
  pending.wait(kAnHour);
  EXPECT_EQ(communicator.polls, 4);
  EXPECT_TRUE(pending.is_done());
  pending.wait(milliseconds{0});
  EXPECT_EQ(communicator.polls, 4);
}

TEST(Pending, polls_once_even_without_time) {
  ScriptedCommunicator communicator({0});
  communicator.barrier({"start-up"}).wait(milliseconds{0});
  EXPECT_EQ(communicator.polls, 1);
}

TEST(Pending, timeout_names_phase_limit_and_missing_ranks) {
  EXPECT_EQ(timeout_text({2}, {"gradient bucket", 3}),
            "[dist.scripted] gradient bucket 3: expected all 4 ranks within 0 ms, got no sign of rank 2 (b)" + kRemedy);
  EXPECT_EQ(timeout_text({0, 3}, {"start-up"}),
            "[dist.scripted] start-up: expected all 4 ranks within 0 ms, got no sign of ranks 0 (a), 3 (b)" + kRemedy);
  EXPECT_EQ(timeout_text({}, {"start-up"}),
            "[dist.scripted] start-up: expected all 4 ranks within 0 ms, got no sign of an unknown rank" + kRemedy);
}

TEST(Pending, names_missing_ranks_beside_another_reason) {
  ScriptedCommunicator communicator({kNever}, {2});
  Pending pending = communicator.barrier({"gradient bucket", 3});
  try {
    pending.fail("remote process exited");
    FAIL() << "no error";
  } catch (const CommError& error) {
    EXPECT_EQ(error.what(),
              "[dist.scripted] gradient bucket 3: expected no error, got remote process exited, no sign of rank 2 (b)" +
                  kRemedy);
  }
  EXPECT_TRUE(communicator.has_given_up());
  EXPECT_TRUE(pending.is_done());
}

TEST(Pending, a_failure_travels_to_who_waits) {
  ScriptedCommunicator communicator({-1});
  Pending pending = communicator.barrier({"epoch", 0});
  EXPECT_THROW(pending.wait(kAnHour), CommError);
  EXPECT_TRUE(pending.is_done());
}

TEST(Pending, moving_hands_the_wait_over) {
  ScriptedCommunicator communicator({0, 0});
  Pending first = communicator.barrier({"a"});
  Pending second = std::move(first);
  EXPECT_TRUE(
      first.is_done());  // NOLINT(bugprone-use-after-move): a moved-from Pending is done, which this line checks
  EXPECT_EQ(communicator.polls, 0);
  first = communicator.barrier({"b"});
  EXPECT_TRUE(second.is_done());
  EXPECT_TRUE(first.is_done());
  EXPECT_EQ(communicator.polls, 2);
}

TEST(Pending, abandoned_says_so) {
  ScriptedCommunicator communicator({kNever});
  testing::internal::CaptureStderr();
  { const Pending pending = communicator.barrier({"gradient bucket", 7}); }
  EXPECT_NE(testing::internal::GetCapturedStderr().find("gradient bucket 7: communication abandoned"),
            std::string::npos);
}

TEST(MakeCommunicator, names_the_known_ones) {
  try {
    static_cast<void>(make_communicator("carrier-pigeon"));
    FAIL() << "an unknown communicator was made";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(),
                 "[dist.communicator] communicator: expected single, mpi, got carrier-pigeon; try one of these names");
  }
}

}  // namespace
}  // namespace roentgen::dist
