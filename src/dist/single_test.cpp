// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

#include "core/error.h"
#include "dist/collectives_testing.h"
#include "dist/communicator.h"

namespace roentgen::dist {
namespace {
using std::chrono::milliseconds;
constexpr milliseconds kNoTime{0};

TEST(SingleCommunicator, is_rank_0_of_1) {
  const auto communicator = make_communicator("single");
  EXPECT_EQ(communicator->name(), "single");
  EXPECT_EQ(communicator->rank(), 0);
  EXPECT_EQ(communicator->size(), 1);
  EXPECT_EQ(communicator->local_rank(), 0);
  EXPECT_EQ(communicator->local_size(), 1);
}

TEST(SingleCommunicator, sum_and_mean_of_one_are_itself) {
  const auto communicator = make_communicator("single");
  std::array<float, 3> values{1.5F, -2.0F, 3.25F};
  const std::array<float, 3> before = values;
  communicator->all_reduce_sum(values, {"sum"}).wait(kNoTime);
  EXPECT_EQ(values, before);
  communicator->all_reduce_mean(values, {"mean"}).wait(kNoTime);
  EXPECT_EQ(values, before);
  std::array<double, 2> sums{0.1, 1e300};
  communicator->all_reduce_sum(sums, {"sum"}).wait(kNoTime);
  EXPECT_EQ(sums, (std::array<double, 2>{0.1, 1e300}));
}

TEST(SingleCommunicator, broadcast_keeps_the_data_and_knows_one_root) {
  const auto communicator = make_communicator("single");
  std::array<std::byte, 2> data{std::byte{1}, std::byte{2}};
  communicator->broadcast(data, 0, {"weights"}).wait(kNoTime);
  EXPECT_EQ(data[1], std::byte{2});
  EXPECT_THROW(static_cast<void>(communicator->broadcast(data, 1, {"weights"})), CommError);
  EXPECT_THROW(static_cast<void>(communicator->broadcast(data, -1, {"weights"})), CommError);
}

TEST(SingleCommunicator, gather_copies_its_own_also_in_place) {
  const auto communicator = make_communicator("single");
  const std::array<std::byte, 2> own{std::byte{3}, std::byte{4}};
  std::array<std::byte, 2> all{};
  communicator->all_gather(own, all, {"scores"}).wait(kNoTime);
  EXPECT_EQ(all, own);
  communicator->all_gather(all, all, {"scores"}).wait(kNoTime);
  EXPECT_EQ(all, own);
  communicator->all_gather({}, {}, {"scores"}).wait(kNoTime);
}

TEST(SingleCommunicator, gather_refuses_room_of_another_size) {
  const auto communicator = make_communicator("single");
  const std::array<std::byte, 2> own{};
  std::array<std::byte, 3> all{};
  EXPECT_THROW(static_cast<void>(communicator->all_gather(own, all, {"scores"})), CommError);
}

TEST(SingleCommunicator, reduces_scatters_gathers_and_exchanges_with_itself) {
  const auto communicator = make_communicator("single");
  expect_refuses_bad_arguments(*communicator);
  expect_reduces(*communicator, kNoTime);
  expect_scatters_and_gathers(*communicator, kNoTime);
  expect_exchanges(*communicator, kNoTime);
}

TEST(SingleCommunicator, drives_a_composite_until_it_is_done) {
  class CountDown final : public Composite {
   public:
    [[nodiscard]] bool advance(int) override { return --left == 0; }
    int left = 3;
  } composite;
  const auto communicator = make_communicator("single");
  Pending pending = communicator->compose(composite, {"gradient bucket", 0});
  EXPECT_FALSE(pending.is_done());
  EXPECT_FALSE(pending.is_done());
  EXPECT_TRUE(pending.is_done());
  EXPECT_EQ(composite.left, 0);
}

TEST(SingleCommunicator, barrier_is_passed_at_once) {
  EXPECT_TRUE(make_communicator("single")->barrier({"end"}).is_done());
}

TEST(SingleCommunicator, refuses_to_be_one_of_several) {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const char* old = std::getenv(variable);
    const std::string before = old == nullptr ? "" : old;
    ASSERT_EQ(::setenv(variable, "4", 1), 0);
    EXPECT_THROW(static_cast<void>(make_communicator("single")), CommError) << variable;
    ASSERT_EQ(::setenv(variable, "1", 1), 0);
    EXPECT_EQ(make_communicator("single")->size(), 1);
    ASSERT_EQ(old == nullptr ? ::unsetenv(variable) : ::setenv(variable, before.c_str(), 1), 0);
  }
}

}  // namespace
}  // namespace roentgen::dist
