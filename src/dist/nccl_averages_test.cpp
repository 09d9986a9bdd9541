// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests averages on devices with an imitation of NCCL.
#include "dist/nccl_averages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "dist/nccl_ranks_testing.h"
#include "dist/reduce/reducer_testing.h"
#include "dist/reduce/wire.h"

namespace roentgen::dist {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

TEST(NcclAverages, are_the_means_of_all_ranks_where_the_gradients_lie) {
  for (const int ranks : {1, 2, 3, 4}) {
    const auto thrown = as_ranks(ranks, {.algorithm = "nccl"}, [&](Rank& rank) {
      rank.comm.use_device(rank.device);
      EXPECT_EQ(rank.comm.device_way(), "NCCL twin");
      Gradients gradients(rank);
      for (int update = 0; update < 3; ++update) {
        for (const std::int64_t ticket : gradients.queue()) rank.comm.wait(ticket);
        for (std::int64_t bucket = 0; bucket < kBuckets; ++bucket) {
          const std::vector<float> values = gradients.values_after(bucket);
          for (std::size_t i = 0; i < values.size(); ++i) {
            float sum = value_of(0, bucket, i);
            for (int other = 1; other < ranks; ++other) sum += value_of(other, bucket, i);
            ASSERT_EQ(values[i], sum * (1.0F / static_cast<float>(ranks))) << bucket << " " << i;
          }
        }
      }
      rank.comm.settle();
    });
    EXPECT_THAT(thrown, testing::Each(""));
  }
}

/// Returns the mean of a bucket over ranks as the algorithm `exchange` computes it on the host. One rank rounds its
/// values once.
std::vector<float> mean_on_host(int ranks, const ReduceOptions& options, std::int64_t bucket) {
  Vectors values(static_cast<std::size_t>(ranks), std::vector<float>(kCount));
  for (int rank = 0; rank < ranks; ++rank) {
    for (std::size_t i = 0; i < kCount; ++i) values[static_cast<std::size_t>(rank)][i] = value_of(rank, bucket, i);
  }
  if (ranks == 1) {
    std::vector<std::uint16_t> halves(kCount);
    to_wire(parse_wire(options.wire), values[0], halves);
    from_wire(parse_wire(options.wire), halves, values[0]);
    return values[0];
  }
  Group group(ranks, {.algorithm = "exchange", .wire = options.wire, .segment = options.segment}, 7);
  group.average({&values});
  return values[0];
}

/// NCCL that expects one message to and from each other rank, at addresses that NCCL copies fast.
class OneMessageTwin final : public NcclTwin {
 public:
  explicit OneMessageTwin(int ranks) : NcclTwin(twin_device()), others_(static_cast<std::size_t>(ranks - 1)) {}
  void exchange(std::span<const NcclMessage> sends, std::span<const NcclMessage> receives,
                runtime::Stream& stream) override {
    EXPECT_EQ(sends.size(), others_);
    EXPECT_EQ(receives.size(), others_);
    for (const NcclMessage& each : sends) EXPECT_EQ(reinterpret_cast<std::uintptr_t>(each.values.address) % 16, 0U);
    NcclTwin::exchange(sends, receives, stream);
  }

 private:
  std::size_t others_;
};

TEST(NcclAverages, in_16_bits_have_the_bits_of_exchange) {
  // One segment; several, of which the last is shorter; and a last segment with fewer values than ranks.
  for (const std::size_t segment : {kCount, std::size_t{250}, std::size_t{1'001}}) {
    for (const std::string wire : {"bf16", "f16"}) {
      for (const int ranks : {1, 2, 3, 4}) {
        const ReduceOptions options{.algorithm = "nccl", .wire = wire, .segment = segment};
        const auto thrown = as_ranks(ranks, options, [&](Rank& rank) {
          rank.device.make_nccl = [&] { return std::make_unique<OneMessageTwin>(ranks); };
          rank.comm.use_device(rank.device);
          Gradients gradients(rank);
          for (int update = 0; update < 2; ++update) {
            for (const std::int64_t ticket : gradients.queue()) rank.comm.wait(ticket);
            for (std::int64_t bucket = 0; bucket < kBuckets; ++bucket) {
              ASSERT_EQ(gradients.values_after(bucket), mean_on_host(ranks, options, bucket))
                  << wire << ", " << ranks << " ranks, bucket " << bucket;
            }
          }
          rank.comm.settle();
        });
        EXPECT_THAT(thrown, testing::Each(""));
      }
    }
  }
}

/// Returns for each rank its error text, or the name of its device average.
std::vector<std::string> choices(int ranks, const ReduceOptions& options,
                                 const std::function<void(Rank&)>& change = {}) {
  std::vector<std::string> ways(static_cast<std::size_t>(ranks));
  const auto thrown = as_ranks(ranks, options, [&](Rank& rank) {
    if (change) change(rank);
    rank.comm.use_device(rank.device);
    ways[static_cast<std::size_t>(rank.number)] = rank.comm.device_way();
  });
  for (std::size_t i = 0; i < ways.size(); ++i) ways[i] += thrown[i];
  return ways;
}

TEST(NcclChoice, auto_takes_nccl_where_each_rank_has_it_and_a_device_to_itself) {
  EXPECT_THAT(choices(3, {.algorithm = "auto"}), testing::Each("NCCL twin"));
  EXPECT_THAT(choices(1, {.algorithm = "auto"}), testing::Each("")) << "nothing to average";
  EXPECT_THAT(choices(2, {.algorithm = "exchange"}), testing::Each(""));
  EXPECT_THAT(choices(2, {.algorithm = "auto", .wire = "bf16"}), testing::Each("NCCL twin"));
  const auto plain = [](Rank& rank) { rank.device.kernels = nullptr; };
  EXPECT_THAT(choices(2, {.algorithm = "auto", .wire = "bf16"}, plain), testing::Each(""));
  EXPECT_THAT(choices(2, {.algorithm = "auto"}, plain), testing::Each("NCCL twin"));
  EXPECT_THAT(choices(2, {.algorithm = "auto"}, [](Rank& rank) { rank.device.id = "one"; }), testing::Each(""));
  EXPECT_THAT(choices(2, {.algorithm = "auto"}, [](Rank& rank) { rank.device.is_host = true; }), testing::Each(""));
  const auto without = [](Rank& rank) {
    if (rank.number == 1) rank.device.make_nccl = []() -> std::unique_ptr<NcclCalls> { throw CommError("no libnccl"); };
  };
  EXPECT_THAT(choices(2, {.algorithm = "auto"}, without), testing::Each(""));
  EXPECT_THAT(choices(2, {.algorithm = "nccl"}, without), testing::Each(HasSubstr("got rank 1: no libnccl; ")));
}

TEST(NcclChoice, instances_of_one_card_are_averaged_on_the_host) {
  const auto instance = [](Rank& rank) { rank.device.id = "0000:3b:00.0 uuid" + std::to_string(rank.number); };
  EXPECT_THAT(choices(2, {.algorithm = "auto"}, instance), testing::Each(""));
  EXPECT_THAT(choices(2, {.algorithm = "nccl"}, instance),
              testing::Each(HasSubstr("got ranks 0 and 1 on the same GPU, 0000:3b:00.0; ")));
  const auto card = [](Rank& rank) { rank.device.id = "0000:3" + std::to_string(rank.number) + ":00.0 uuid"; };
  EXPECT_THAT(choices(2, {.algorithm = "auto"}, card), testing::Each("NCCL twin"));
}

// NCCL_HOSTID of real ranks. NCCL compares this name and the card.
TEST(NcclChoice, ranks_on_one_card_take_nccl_if_they_name_different_hosts) {
  const auto named = [](const std::vector<std::string>& names) {
    return [names](Rank& rank) {
      rank.device.id = "0000:3b:00.0 uuid";
      rank.device.host_id = names[static_cast<std::size_t>(rank.number)];
    };
  };
  for (const std::string wire : {"f32", "bf16"}) {
    const ReduceOptions options{.algorithm = "nccl", .wire = wire};
    EXPECT_THAT(choices(2, options, named({"a", "b"})), testing::Each("NCCL twin"));
    EXPECT_THAT(choices(2, options, named({"a", ""})), testing::Each("NCCL twin")) << "the other has the host's name";
  }
  EXPECT_THAT(choices(3, {.algorithm = "nccl"}, named({"a", "b", "a"})),
              testing::Each(HasSubstr("got ranks 0 and 2 on the same GPU, 0000:3b:00.0; ")));
  EXPECT_THAT(choices(2, {.algorithm = "auto"}, named({"", ""})), testing::Each(""));
}

TEST(NcclChoice, host_id_is_the_variable_of_nccl) {
  ASSERT_EQ(::setenv("NCCL_HOSTID", "a", 1), 0);
  EXPECT_EQ(nccl_host_id(), "a");
  runtime::TwinDevice device;
  EXPECT_EQ((GradientDevice{.device = device}.host_id), "a");
  ASSERT_EQ(::unsetenv("NCCL_HOSTID"), 0);
  EXPECT_EQ(nccl_host_id(), "");
}

TEST(NcclChoice, nccl_is_refused_on_all_ranks_with_the_reason) {
  EXPECT_THAT(choices(2, {.algorithm = "nccl"}, [](Rank& rank) { rank.device.id = "one"; }),
              testing::Each(HasSubstr("got ranks 0 and 1 on the same GPU, one; ")));
  EXPECT_THAT(choices(2, {.algorithm = "nccl", .wire = "bf16"}, [](Rank& rank) { rank.device.kernels = nullptr; }),
              testing::Each(HasSubstr("got rank 0: a device without kernels for --wire bf16; ")));
  EXPECT_THAT(choices(2, {.algorithm = "nccl"}, [](Rank& rank) { rank.device.is_host = true; }),
              testing::Each(HasSubstr("got rank 0: gradients in the host's memory; ")));
}

TEST(NcclStart, that_does_not_end_names_the_setting_of_the_network) {
  NcclTwinFaults faults;
  faults.never_joins = true;
  const auto thrown = as_ranks(
      2, {.algorithm = "nccl"},
      [&](Rank& rank) {
        rank.device.make_nccl = [&] { return std::make_unique<NcclTwin>(twin_device(), &faults); };
        rank.comm.use_device(rank.device);
      },
      milliseconds{300});
  EXPECT_THAT(thrown, testing::Contains(testing::AllOf(
                          HasSubstr("NCCL's group: expected all 2 ranks within 300 ms, got no sign of "),
                          testing::EndsWith("or a longer --comm-timeout, or NCCL_SOCKET_IFNAME=NAME with the network "
                                            "interface of all hosts"))));
}

/// Tests of failures, with averages by NCCL and by messages of 16 bits.
class NcclFailures : public testing::TestWithParam<const char*> {
 protected:
  ReduceOptions options_{.algorithm = "nccl", .wire = GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Wires, NcclFailures, testing::Values("f32", "bf16"));

TEST_P(NcclFailures, a_rank_that_never_comes_is_named_and_streams_go_on) {
  const auto thrown = as_ranks(
      2, options_,
      [&](Rank& rank) {
        rank.comm.use_device(rank.device);
        if (rank.number == 1) throw DataError("gone");
        Gradients gradients(rank);
        for (const std::int64_t ticket : gradients.queue()) rank.comm.wait(ticket);
        gradients.stream().wait_for(gradients.done(kBuckets - 1));
        gradients.synchronize();  // does not hang, because the averages are aborted
        rank.comm.settle();
      },
      milliseconds{300});
  EXPECT_THAT(thrown[0], HasSubstr("gradient bucket 0: expected all 2 ranks within 300 ms, got no sign of rank 1"));
}

TEST_P(NcclFailures, words_of_nccl_come_with_the_place_and_the_missing_rank) {
  NcclTwinFaults faults;
  faults.failing = 1;
  const auto thrown = as_ranks(
      2, options_,
      [&](Rank& rank) {
        if (rank.number == 0) {
          rank.device.make_nccl = [&] { return std::make_unique<NcclTwin>(twin_device(), &faults); };
        }
        rank.comm.use_device(rank.device);
        Gradients gradients(rank);
        for (const std::int64_t ticket : gradients.queue()) rank.comm.wait(ticket);
        rank.comm.settle();
      },
      milliseconds{300});
  EXPECT_THAT(thrown[0], HasSubstr("expected no error, got remote process exited, no sign of "));
  EXPECT_THAT(thrown[0], HasSubstr("gradient bucket "));
  EXPECT_THAT(thrown[1], HasSubstr("300 ms"));
}

TEST_P(NcclFailures, a_rank_that_fails_lets_go_of_the_device) {
  const auto thrown = as_ranks(
      2, options_,
      [&](Rank& rank) {
        rank.comm.use_device(rank.device);
        Gradients gradients(rank);
        const std::vector<std::int64_t> tickets = gradients.queue();
        if (rank.number == 0) {  // this rank fails while averages are in progress
          static_cast<void>(rank.comm.fail());
          throw DataError("a loss that is not finite");
        }
        for (const std::int64_t ticket : tickets) rank.comm.wait(ticket);
        gradients.stream().wait_for(gradients.done(0));
        gradients.synchronize();
        rank.comm.settle();
      },
      milliseconds{300});
  EXPECT_EQ(thrown[0], "a loss that is not finite");
  EXPECT_THAT(thrown[1], HasSubstr("within 300 ms, got no sign of "));
}

}  // namespace
}  // namespace roentgen::dist
