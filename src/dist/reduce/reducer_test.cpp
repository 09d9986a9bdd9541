// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests every algorithm of reduce_list.h with all ranks in one process and random message delays from a seed.
#include "dist/reduce/reducer.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <optional>
#include <random>

#include "core/error.h"
#include "dist/comm_thread.h"
#include "dist/mailbox_testing.h"
#include "dist/reduce/reducer_testing.h"
#include "dist/reduce/wire.h"

namespace roentgen::dist {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAnHour{3'600'000};
constexpr double kUnitF32 = 0x1p-24;

Vectors averaged(Vectors all, const ReduceOptions& options, unsigned seed = 1) {
  Group(static_cast<int>(all.size()), options, seed).average({&all});
  return all;
}

// Mean in double precision, and the sum of absolute values, from which error bounds follow.
struct Exact {
  double mean = 0.0;
  double size = 0.0;
};
Exact exact(const Vectors& all, std::size_t at) {
  Exact result;
  for (const auto& each : all) {
    result.mean += static_cast<double>(each[at]) / static_cast<double>(all.size());
    result.size += std::abs(static_cast<double>(each[at])) / static_cast<double>(all.size());
  }
  return result;
}

// Sums pairwise as ((0 + 1) + (2 + 3)) + ..., like the reduction within one process.
float pairwise(std::vector<float> values) {
  for (std::size_t distance = 1; distance < values.size(); distance *= 2) {
    for (std::size_t i = 0; i + distance < values.size(); i += 2 * distance) values[i] += values[i + distance];
  }
  return values[0];
}

void for_each_case(const std::function<void(int size, const ReduceOptions&)>& check) {
  for (const std::string_view name : reduce_names()) {
    for (const std::string_view wire : kWireNames) {
      for (int size = 2; size <= 9; ++size) {
        for (const auto& hosts : host_maps(size)) {
          const ReduceOptions options{
              .algorithm = std::string(name), .wire = std::string(wire), .hosts = hosts, .segment = 13};
          if (name == "allreduce" && options.wire == "f32") continue;  // this case is the communicator's own algorithm
          SCOPED_TRACE(testing::Message() << name << ", " << wire << ", ranks " << size << ", first host "
                                          << hosts.front() << ", last " << hosts.back());
          check(size, options);
        }
      }
    }
  }
}

// Number of roundings of an element to the wire format. Each rank's part and the mean are rounded; in a tree and a
// ring, every partial sum is.
int wire_roundings(int size, const ReduceOptions& options) {
  if (options.wire == "f32") return 0;
  if (options.algorithm == "ring") return size;
  return options.algorithm == "tree" ? 1 + static_cast<int>(std::bit_width(static_cast<unsigned>(size - 1))) : 2;
}

// Each rounding changes a value by at most its unit, relative to the sum of absolute values. Additions and the mean are
// in f32.
TEST(Reducer, is_the_mean_within_rounding_and_the_same_on_all_ranks) {
  for_each_case([](int size, const ReduceOptions& options) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{13}, std::size_t{100}}) {
      const Vectors before = random_vectors(size, count, 7);
      const Vectors after = averaged(before, options);
      const int roundings = wire_roundings(size, options);
      const double bound =
          std::pow(1.0 + wire_rounding(parse_wire(options.wire)), roundings) * std::pow(1.0 + kUnitF32, size + 1) - 1.0;
      const double tiny = options.wire == "f16" ? roundings * 0x1p-25 : 0.0;  // half of the last digit below 2^-14
      for (std::size_t i = 0; i < count; ++i) {
        const Exact wanted = exact(before, i);
        ASSERT_NEAR(after[0][i], wanted.mean, wanted.size * bound + tiny) << i;
      }
      for (const auto& each : after) ASSERT_EQ(each, after[0]);
    }
  });
}

TEST(Reducer, gives_the_same_bits_whatever_comes_late_and_however_it_is_cut) {
  for_each_case([](int size, const ReduceOptions& options) {
    const Vectors before = random_vectors(size, 90, 3);
    const Vectors once = averaged(before, options, 11);
    EXPECT_EQ(averaged(before, options, 12), once);
    ReduceOptions whole = options;
    whole.segment = 1000;
    // 16 bits: a rank does not round its own share, and the segments decide which rank owns a share
    if (options.wire != "f32") return;
    if (options.algorithm == "ring") return;  // the order of summation depends on the segments, too
    EXPECT_EQ(averaged(before, whole, 13), once) << "the order is the same for all elements";
  });
}

TEST(Reducer, the_tree_is_the_pairwise_sum_of_one_process_bit_by_bit) {
  for (int size = 2; size <= 13; ++size) {
    const Vectors before = random_vectors(size, 50, 5);
    const Vectors after = averaged(before, {.algorithm = "tree", .segment = 8});
    for (std::size_t i = 0; i < 50; ++i) {
      std::vector<float> values;
      for (const auto& each : before) values.push_back(each[i]);
      ASSERT_EQ(after[0][i], pairwise(values) * (1.0F / static_cast<float>(size))) << size;
    }
  }
}

TEST(Reducer, the_tree_of_8_is_the_tree_of_4_that_sum_two_each) {
  const Vectors eight = random_vectors(8, 40, 9);
  Vectors four(4, std::vector<float>(40));
  for (std::size_t rank = 0; rank < 4; ++rank) {
    for (std::size_t i = 0; i < 40; ++i) four[rank][i] = (eight[2 * rank][i] + eight[2 * rank + 1][i]) * 0.5F;
  }
  EXPECT_EQ(averaged(eight, {.algorithm = "tree"})[0], averaged(four, {.algorithm = "tree"})[0]);
}

TEST(Reducer, an_exchange_rounds_what_travels_and_the_mean) {
  // Element 0 belongs to the first rank, element 1 to the second
  const Vectors before = {{1.0F, 1.0F}, {0x1p-8F, 1.0F + 0x1p-8F}};
  const Vectors after = averaged(before, {.algorithm = "exchange", .wire = "bf16"});
  EXPECT_EQ(after[0], (std::vector<float>{0.5F, 1.0F}));  // 0.501953 and 1.001953 in f32; bf16 rounds ties to even
  EXPECT_EQ(after[1], after[0]);
}

TEST(Reducer, an_exchange_adds_in_the_order_of_ranks) {
  const Vectors before = random_vectors(5, 44, 6);
  const Vectors after = averaged(before, {.algorithm = "exchange", .segment = 9});
  for (std::size_t i = 0; i < 44; ++i) {
    float sum = before[0][i];
    for (std::size_t rank = 1; rank < 5; ++rank) sum += before[rank][i];
    ASSERT_EQ(after[0][i], sum * (1.0F / 5)) << i;
  }
}

TEST(Reducer, a_ring_adds_from_the_next_rank_on) {
  const Vectors before = random_vectors(5, 47, 6);
  const Vectors after = averaged(before, {.algorithm = "ring", .segment = 47});
  std::size_t share = 0;
  for (std::size_t i = 0; i < 47; ++i) {
    while (i >= 47 * (share + 1) / 5) ++share;
    float sum = before[(share + 1) % 5][i];
    for (std::size_t rank = share + 2; rank < share + 6; ++rank) sum += before[rank % 5][i];
    ASSERT_EQ(after[0][i], sum * (1.0F / 5)) << i;
  }
}

/// Communicator that records the length of the longest message.
struct Measured final : MailboxCommunicator {
  using MailboxCommunicator::MailboxCommunicator;
  Pending send(std::span<const std::byte> data, Address to, Phase phase) override {
    longest = std::max(longest, data.size());
    return MailboxCommunicator::send(data, to, phase);
  }
  std::size_t longest = 0;
};

// Open MPI's TCP sends up to 64 KiB at once, together with its header, before the receiver asks for more.
TEST(Reducer, a_ring_s_messages_are_short) {
  constexpr std::size_t kCount = 300'000;
  const auto longest_of = [](std::string_view way) {
    Mailboxes boxes(3);
    std::vector<std::unique_ptr<Measured>> ranks;
    std::vector<std::unique_ptr<Reducer>> reducers;
    std::vector<Pending> pending;
    Vectors all(3, std::vector<float>(kCount));
    for (int rank = 0; rank < 3; ++rank) {
      ranks.push_back(std::make_unique<Measured>(boxes, rank, 1U));
      reducers.push_back(std::make_unique<Reducer>(*ranks.back(), ReduceOptions{.algorithm = std::string(way)}));
      pending.push_back(reducers.back()->all_reduce_mean(all[static_cast<std::size_t>(rank)], {"gradient bucket", 0}));
    }
    for (bool is_done = false; !is_done;) {
      is_done = true;
      for (Pending& each : pending) is_done = each.is_done() && is_done;
    }
    return ranks[0]->longest;
  };
  EXPECT_LT(longest_of("ring"), 65'000U);
  EXPECT_GT(longest_of("exchange"), 65'536U);
}

TEST(Reducer, drives_many_buckets_of_many_sizes_at_once_and_again) {
  for_each_case([](int size, const ReduceOptions& options) {
    if (size > 5) return;
    Group group(size, options, 21);
    for (int again = 0; again < 2; ++again) {
      std::vector<Vectors> buckets;
      for (const std::size_t count : {0U, 64U, 1U, 200U, 13U, 7U}) {
        buckets.push_back(random_vectors(size, count, static_cast<unsigned>(count)));
      }
      std::vector<Vectors> alone = buckets;
      std::vector<Vectors*> pointers;
      for (Vectors& each : buckets) pointers.push_back(&each);
      group.average(pointers);
      for (std::size_t i = 0; i < buckets.size(); ++i) EXPECT_EQ(buckets[i], averaged(alone[i], options)) << i;
    }
  });
}

TEST(Reducer, leaves_float32_allreduce_to_the_communicator) {
  Mailboxes boxes(2);
  MailboxCommunicator rank(boxes, 0, 1);
  Reducer reducer(rank, {});
  std::vector<float> data(3);
  EXPECT_TRUE(reducer.all_reduce_mean(data, {"gradient bucket", 0}).is_done());
  EXPECT_EQ(rank.own_means, 1);
}

TEST(Reducer, of_one_rank_has_nothing_to_do) {
  for (const std::string_view name : reduce_names()) {
    EXPECT_EQ(averaged({{1.1F, 2.0F}}, {.algorithm = std::string(name), .wire = "bf16"})[0][0], 1.1F) << name;
  }
}

TEST(Reducer, names_a_rank_that_never_comes) {
  for_each_case([](int size, const ReduceOptions& options) {
    if (size != 4) return;
    Group group(size, options, 31);
    Vectors all = random_vectors(size, 40, 1);
    std::vector<Pending> others;
    for (std::size_t rank = 0; rank + 1 < 4; ++rank) {
      others.push_back(group.reducers[rank]->all_reduce_mean(all[rank], {"gradient bucket", 5}));
    }
    for (int i = 0; i < 100; ++i) {
      for (Pending& each : others) ASSERT_FALSE(each.is_done());
    }
    const std::string node = "node" + std::to_string(options.hosts.back());
    for (Pending& each : others) {
      try {
        each.wait(milliseconds{0});
        FAIL();
      } catch (const CommError& error) {
        EXPECT_EQ(error.what(),
                  "[dist.mailbox] gradient bucket 5: expected all 4 ranks within 0 ms, got no sign of rank 3 (" + node +
                      "); try "
                      "again (train: --resume) when its host and network work, or a longer --comm-timeout");
      }
    }
  });
}

TEST(Reducer, refuses_what_it_does_not_know) {
  Mailboxes boxes(2);
  MailboxCommunicator rank(boxes, 0, 1);
  try {
    const Reducer reducer(rank, {.algorithm = "magic"});
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_EQ(
        std::string(error.what()).find("[dist.reduce] algorithm: expected auto, nccl, allreduce, exchange, ring, tree"),
        0U)
        << error.what();
  }
  EXPECT_THROW(Reducer(rank, {.wire = "f8"}), ConfigError);
  EXPECT_THROW(Reducer(rank, {.hosts = {0, 0, 1}}), ConfigError);
  EXPECT_THROW(check_reduce_names({.algorithm = ""}), ConfigError);
  EXPECT_THROW(check_reduce_names({.wire = ""}), ConfigError);
  bool was_made = false;
  const auto make = [&]() -> std::unique_ptr<Communicator> {
    was_made = true;
    return nullptr;
  };
  EXPECT_THROW(CommThread(make, kAnHour, {.algorithm = "magic"}), ConfigError);
  EXPECT_FALSE(was_made) << "before a group is made that others would wait for";
}

TEST(Reducer, auto_is_the_way_that_fits_the_hosts) {
  const Vectors all = random_vectors(4, 1000, 11);
  const auto by = [&](std::string_view way, std::vector<int> hosts) {
    return averaged(all, {.algorithm = std::string(way), .wire = "bf16", .hosts = std::move(hosts), .segment = 64});
  };
  EXPECT_EQ(by("auto", {0, 0, 0, 0}), by("exchange", {0, 0, 0, 0}));
  EXPECT_EQ(by("auto", {0, 1, 2, 3}), by("ring", {0, 1, 2, 3}));
  EXPECT_NE(by("exchange", {0, 1, 2, 3}), by("ring", {0, 1, 2, 3})) << "so that this test can fail";
  EXPECT_EQ(by("auto", {0, 0, 1, 1}), by("hierarchical", {0, 0, 1, 1}));
  EXPECT_NE(by("exchange", {0, 0, 1, 1}), by("hierarchical", {0, 0, 1, 1})) << "so that this test can fail";
}

// Communicators such as `single` support only collectives, not messages.
TEST(Reducer, a_communicator_without_messages_says_so) {
  const auto single = make_communicator("single");
  EXPECT_THROW(static_cast<void>(single->send({}, {}, {"send"})), CommError);
  EXPECT_THROW(static_cast<void>(single->receive({}, {}, {"receive"})), CommError);
}

TEST(Reducer, of_threads_averages_what_is_given_while_others_are_under_way) {
  constexpr int kRanks = 3;
  constexpr std::size_t kBuckets = 8;
  for (const std::string_view name : reduce_names()) {
    Mailboxes boxes(kRanks);
    std::vector<std::unique_ptr<CommThread>> threads;
    for (int rank = 0; rank < kRanks; ++rank) {
      threads.push_back(std::make_unique<CommThread>(
          [&, rank] {
            return std::make_unique<MailboxCommunicator>(boxes, rank, 5, std::vector{0, 1, 0});
          },
          kAnHour, ReduceOptions{.algorithm = std::string(name), .wire = "bf16", .segment = 16}));
    }
    std::vector<Vectors> buckets(kBuckets, Vectors(kRanks, std::vector<float>(60)));
    std::vector<std::vector<std::int64_t>> tickets(kRanks);
    for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
      for (std::size_t rank = 0; rank < kRanks; ++rank) {
        std::ranges::fill(buckets[bucket][rank], static_cast<float>(bucket + 6 * rank));
        tickets[rank].push_back(threads[rank]->all_reduce_mean(runtime::host_span(buckets[bucket][rank]),
                                                               runtime::reached_event(), {"gradient bucket"}));
      }
    }
    for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
      for (std::size_t rank = 0; rank < kRanks; ++rank) {
        threads[rank]->wait(tickets[rank][bucket]);
        EXPECT_EQ(buckets[bucket][rank].back(), static_cast<float>(bucket + 6)) << name;
      }
    }
  }
}

}  // namespace
}  // namespace roentgen::dist
