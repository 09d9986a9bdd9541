// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests the MPI communicator. All processes of the group run these tests in the same order.
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/error.h"
#include "dist/collectives_testing.h"
#include "dist/comm_thread.h"
#include "dist/communicator.h"
#include "dist/parallel_testing.h"

namespace roentgen::dist {
namespace {

TEST(MpiCommunicator, knows_its_place) {
  EXPECT_EQ(group->name(), "mpi");
  EXPECT_GE(group->rank(), 0);
  EXPECT_LT(group->rank(), group->size());
  EXPECT_EQ(group->local_size(), group->size()) << "one host";
  EXPECT_EQ(group->local_rank(), group->rank());
  EXPECT_FALSE(group->host(0).empty());
  EXPECT_EQ(group->host(0), group->host(group->size() - 1));
}

TEST(MpiCommunicator, is_one_for_the_process) { EXPECT_THROW(static_cast<void>(make_communicator("mpi")), CommError); }

TEST(MpiCommunicator, sums_over_ranks) {
  std::vector<float> values(100'003);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>((group->rank() + 1) * static_cast<int>(i % 97));
  }
  group->all_reduce_sum(std::span(values), {"sum"}).wait(kLong);
  const int ranks = group->size() * (group->size() + 1) / 2;
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(values[i], static_cast<float>(ranks * static_cast<int>(i % 97))) << i;
  }
  std::array<double, 2> sums{0.5, static_cast<double>(group->rank())};
  group->all_reduce_sum(std::span<double>(sums), {"sum"}).wait(kLong);
  EXPECT_EQ(sums[0], 0.5 * group->size());
  EXPECT_EQ(sums[1], group->size() * (group->size() - 1) / 2.0);
}

TEST(MpiCommunicator, takes_the_mean_once) {
  std::vector<float> values(5, static_cast<float>(group->rank()));
  Pending pending = group->all_reduce_mean(values, {"mean"});
  pending.wait(kLong);
  EXPECT_TRUE(pending.is_done());
  for (const float value : values) EXPECT_FLOAT_EQ(value, static_cast<float>(group->size() - 1) / 2.0F);
}

TEST(MpiCommunicator, gives_all_ranks_the_same_bits) {
  std::vector<float> values(4'099);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = std::sin(static_cast<float>(i) * 1.7F + static_cast<float>(group->rank())) * 1e3F;
  }
  group->all_reduce_sum(std::span(values), {"sum"}).wait(kLong);
  const auto own = std::as_bytes(std::span(values));
  std::vector<std::byte> all(own.size() * static_cast<std::size_t>(group->size()));
  group->all_gather(own, all, {"sums of all"}).wait(kLong);
  for (int rank = 0; rank < group->size(); ++rank) {
    const auto theirs = std::span(all).subspan(own.size() * static_cast<std::size_t>(rank), own.size());
    EXPECT_TRUE(std::equal(own.begin(), own.end(), theirs.begin())) << rank;
  }
}

TEST(MpiCommunicator, broadcasts_from_any_rank) {
  for (int root = 0; root < group->size(); ++root) {
    std::vector<std::byte> data(1'000, static_cast<std::byte>(group->rank() == root ? 40 + root : 0));
    group->broadcast(data, root, {"weights"}).wait(kLong);
    EXPECT_EQ(data.back(), static_cast<std::byte>(40 + root));
  }
  std::array<std::byte, 1> data{};
  EXPECT_THROW(static_cast<void>(group->broadcast(data, group->size(), {"weights"})), CommError);
  EXPECT_THROW(static_cast<void>(group->broadcast(data, -1, {"weights"})), CommError);
}

TEST(MpiCommunicator, gathers_in_the_order_of_ranks_also_in_place) {
  const std::array<std::byte, 2> own{static_cast<std::byte>(group->rank()), std::byte{9}};
  std::vector<std::byte> all(2 * static_cast<std::size_t>(group->size()));
  group->all_gather(own, all, {"scores"}).wait(kLong);
  std::vector<std::byte> again(all.size());
  const auto part = std::span(again).subspan(2 * static_cast<std::size_t>(group->rank()), 2);
  std::copy(own.begin(), own.end(), part.begin());
  group->all_gather(part, again, {"scores"}).wait(kLong);
  EXPECT_EQ(again, all);
  for (int rank = 0; rank < group->size(); ++rank) {
    EXPECT_EQ(all[2 * static_cast<std::size_t>(rank)], static_cast<std::byte>(rank));
  }
  EXPECT_THROW(static_cast<void>(group->all_gather(own, std::span(all).first(1), {"scores"})), CommError);
}

TEST(MpiCommunicator, reduces_to_any_root) { expect_reduces(*group, kLong); }
TEST(MpiCommunicator, scatters_and_gathers) { expect_scatters_and_gathers(*group, kLong); }
TEST(MpiCommunicator, exchanges_a_part_with_every_rank) { expect_exchanges(*group, kLong); }
TEST(MpiCommunicator, refuses_roots_and_sizes_that_do_not_fit) { expect_refuses_bad_arguments(*group); }

TEST(MpiCommunicator, drives_many_collectives_at_once_and_out_of_order) {
  constexpr std::size_t kBuckets = 64;
  std::vector<std::vector<float>> buckets(kBuckets);
  std::vector<Pending> pending;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    buckets[i].assign(1 + 37 * i, static_cast<float>(i));
    pending.push_back(group->all_reduce_sum(std::span(buckets[i]), {"gradient bucket", static_cast<std::int64_t>(i)}));
  }
  for (std::size_t i = kBuckets; i-- > 0;) pending[i].wait(kLong);
  for (std::size_t i = 0; i < kBuckets; ++i) {
    EXPECT_EQ(buckets[i].back(), static_cast<float>(i) * static_cast<float>(group->size()));
  }
}

TEST(MpiCommunicator, a_barrier_holds_until_all_have_come) {
  // All ranks are children of one mpirun, so its process id gives all of them the same file name. The last rank creates
  // the file.
  const auto sign = std::filesystem::temp_directory_path() / ("roentgen_gate_" + std::to_string(::getppid()));
  const int last = group->size() - 1;
  for (int i = 0; group->rank() == last && i < 1000; ++i) std::this_thread::yield();
  if (group->rank() == last) std::ofstream(sign) << "here";
  group->barrier({"gate"}).wait(kLong);
  EXPECT_TRUE(std::filesystem::exists(sign));
  group->barrier({"all have looked"}).wait(kLong);
  if (group->rank() == last) std::filesystem::remove(sign);
}

TEST(MpiCommunicator, messages_of_one_tag_arrive_in_their_order) {
  const int next = (group->rank() + 1) % group->size();
  const int last = (group->rank() + group->size() - 1) % group->size();
  if (next == group->rank()) {
    EXPECT_THROW(static_cast<void>(group->send({}, {.rank = next}, {"to itself"})), CommError);
    EXPECT_THROW(static_cast<void>(group->receive({}, {.rank = next}, {"from itself"})), CommError);
    return;
  }
  constexpr int kMessages = 20;
  std::vector<std::vector<int>> sent(kMessages), received(kMessages);
  std::vector<Pending> pending;
  for (int i = 0; i < kMessages; ++i) {
    const auto at = static_cast<std::size_t>(i);
    sent[at].assign(1 + at * 3'001, 100 * group->rank() + i);
    received[at].resize(sent[at].size());
    pending.push_back(group->send(std::as_bytes(std::span(sent[at])), {.rank = next, .tag = i % 2}, {"there", i}));
    pending.push_back(
        group->receive(std::as_writable_bytes(std::span(received[at])), {.rank = last, .tag = i % 2}, {"here", i}));
  }
  for (Pending& each : pending) each.wait(kLong);
  for (int i = 0; i < kMessages; ++i) EXPECT_EQ(received[static_cast<std::size_t>(i)].back(), 100 * last + i);
  EXPECT_THROW(static_cast<void>(group->send({}, {.rank = group->size()}, {"to nobody"})), CommError);
  EXPECT_THROW(static_cast<void>(group->receive({}, {.rank = -1}, {"from nobody"})), CommError);
}

TEST(MpiCommunicator, a_message_of_another_size_is_refused) {
  if (group->size() == 1) return;
  std::array<std::byte, 8> data{};
  const int other = group->rank() ^ 1;
  if (other >= group->size()) return;
  Pending sent = group->send(std::span(data).first(4), {.rank = other}, {"short"});
  std::array<std::byte, 8> room{};
  EXPECT_THROW(group->receive(room, {.rank = other}, {"short"}).wait(kLong), CommError);
  sent.wait(kLong);
}

// The tests below use a CommThread.

TEST(CommThreadOfMpi, averages_buckets_while_others_are_being_filled) {
  constexpr std::int64_t kBuckets = 40;
  constexpr std::size_t kCount = 10'007;
  std::vector<float> arena(kBuckets * kCount);
  std::vector<std::int64_t> tickets;
  for (std::int64_t bucket = 0; bucket < kBuckets; ++bucket) {
    const auto part = std::span(arena).subspan(static_cast<std::size_t>(bucket) * kCount, kCount);
    std::ranges::fill(part, static_cast<float>(bucket * 100 + thread->rank()));
    tickets.push_back(
        thread->all_reduce_mean(runtime::host_span(part), runtime::reached_event(), {"gradient bucket", bucket}));
  }
  for (std::int64_t bucket = kBuckets - 1; bucket >= 0; --bucket) {
    thread->wait(tickets[static_cast<std::size_t>(bucket)]);
    const float wanted = static_cast<float>(bucket * 100) + static_cast<float>(thread->size() - 1) / 2.0F;
    EXPECT_FLOAT_EQ(arena[static_cast<std::size_t>(bucket) * kCount + kCount - 1], wanted) << bucket;
  }
  EXPECT_GE(thread->exposed_s(), 0.0);
}

TEST(CommThreadOfMpi, runs_collectives_of_every_kind) {
  std::array<std::byte, 3> seed{static_cast<std::byte>(7 + thread->rank())};
  thread->call([&](Communicator& own) { own.broadcast(seed, 0, {"seed"}).wait(kLong); });
  EXPECT_EQ(seed[0], std::byte{7});
  EXPECT_THROW(thread->call([](Communicator& own) { own.broadcast({}, -1, {"seed"}).wait(kLong); }), CommError);
  std::array<float, 1> mean{static_cast<float>(thread->rank())};
  thread->wait(thread->average_figures(mean, {"after a refusal"}));
  EXPECT_FLOAT_EQ(mean[0], static_cast<float>(thread->size() - 1) / 2.0F);
}

TEST(MpiDivided, has_collectives_of_a_part_alone) {
  if (group->size() < 2) GTEST_SKIP() << "one rank";
  expect_divides(*group, group->size() / 2, kLong);
}

}  // namespace
}  // namespace roentgen::dist

int main(int argc, char** argv) {
  using namespace roentgen::dist;
  testing::InitGoogleTest(&argc, argv);
  CommThread own([] { return make_communicator("mpi"); }, kLong);
  thread = &own;
  int result = 0;
  own.call([&](Communicator& communicator) {
    group = &communicator;
    testing::GTEST_FLAG(filter) = "MpiCommunicator.*:MpiReduce.*";
    result = RUN_ALL_TESTS();
  });
  testing::GTEST_FLAG(filter) = "CommThreadOfMpi.*";
  if (result == 0) result = RUN_ALL_TESTS();
  own.call([&](Communicator&) {
    testing::GTEST_FLAG(filter) = "MpiDivided.*";
    if (result == 0) result = RUN_ALL_TESTS();
  });
  if (result != 0) std::_Exit(result);  // exit without MPI_Finalize, which would wait for the other ranks
  return 0;
}
