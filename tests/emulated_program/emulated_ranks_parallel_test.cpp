// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests training with several ranks on emulated GPUs. Gradients are averaged on the GPUs by a replacement of NCCL, or
// through the host. Covers results, resumed runs, and faults.
#include <fmt/format.h>

#include <csignal>
#include <map>
#include <numeric>

#include "tests/emulated_program/emulated_ranks.h"
#include "tests/parallel/fault_injection.h"

namespace roentgen::e2e {
namespace {

using testing::HasSubstr;

TEST_F(EmulatedRanks, make_the_updates_of_accumulated_batches_bit_for_bit) {
  for (const int ranks : {1, 2, 3, 4}) {
    const int batch = 12 / ranks;
    const std::string name = std::to_string(ranks);
    must_train_plain("alone" + name, 0, batch, ranks);
    for (const std::string way : {"nccl", "exchange"}) {
      const Ended ended = must_train_plain(way + name, ranks, batch, 1, {"--reduce", way});
      expect_equal_tensors(resume_file(way + name), resume_file("alone" + name));
      const bool is_on_card = ended.err.find("averaged by NCCL twin") != std::string::npos;
      EXPECT_EQ(is_on_card, way == "nccl") << ended.err;
    }
  }
  // Sums over 12 images in another order change the last digits of gradients. Weights are rounded to 2^-24 = 6e-8, and
  // five updates at a rate of 0.01 change few of them. Measured: 8e-9 (docs/reference/ranks.md).
  for (const int ranks : {2, 3, 4}) {
    const double far = distance("nccl" + std::to_string(ranks), "alone1");
    fmt::print("| {} ranks, one process | {:.1e} |\n", ranks, far);
    EXPECT_LE(far, 1e-7) << ranks;
  }
}

TEST_F(EmulatedRanks, every_way_of_averaging_trains_to_the_same_weights) {
  must_train_plain("nccl", 3, 4, 1, {"--reduce", "nccl"});
  for (const std::string way : {"allreduce", "ring", "tree", "hierarchical"}) {
    must_train_plain(way, 3, 4, 1, {"--reduce", way});
    const double far = distance(way, "nccl");
    fmt::print("| {}, nccl | {:.1e} |\n", way, far);
    EXPECT_LE(far, 1e-7) << way;  // as for ranks and one process
  }
}

TEST_F(EmulatedRanks, threads_of_one_process_make_the_losses_and_weights_of_processes) {
  for (const int ranks : {2, 3, 4}) {
    const std::string devices = std::string("cuda:0,1,2,3").substr(0, static_cast<std::size_t>(4 + 2 * ranks));
    for (const std::string way : {"nccl", "exchange"}) {
      const std::string name = way + std::to_string(ranks);
      must_train_plain("processes-" + name, ranks, 12 / ranks, 1, {"--reduce", way});
      const Ended ended =
          must_train_plain("threads-" + name, 0, 12 / ranks, 1, {"--reduce", way, "--devices", devices});
      expect_equal_tensors(resume_file("threads-" + name), resume_file("processes-" + name));
      EXPECT_EQ(ended.err.find("averaged by NCCL twin") != std::string::npos, way == "nccl") << ended.err;
      const std::vector<double> losses = logged("threads-" + name, "loss"),
                                wanted = logged("processes-" + name, "loss");
      ASSERT_EQ(losses.size(), wanted.size());
      ASSERT_FALSE(losses.empty());
      // MPI adds the losses of more than two ranks in an order of its own, as float32 with 2^-24 = 6e-8.
      for (std::size_t i = 0; i < losses.size(); ++i) EXPECT_NEAR(losses[i], wanted[i], 1e-6 * wanted[i]) << name;
    }
  }
}

TEST_F(EmulatedRanks, threads_of_one_process_stop_and_go_on_as_processes) {
  constexpr int kStopped = 3;
  must_train_plain("whole", 2, 6, 1);
  const std::vector<std::string> devices{"--devices", "cuda:2,1"};
  EXPECT_EQ(train_plain("parts", 0, 6, 1, plus(devices, {"--stop-after", "2"})).code, kStopped);
  EXPECT_EQ(train_plain("parts", 2, 6, 1, {"--resume", "--stop-after", "3"}).code, kStopped);
  const Ended ended = must_train_plain("parts", 0, 6, 1, plus(devices, {"--resume"}));
  expect_equal_tensors(resume_file("parts"), resume_file("whole"));
  EXPECT_EQ(ended.out.find("weights:"), ended.out.rfind("weights:")) << "told by one thread";
  EXPECT_THAT(read_all(place_ / "parts/recipe.toml"), HasSubstr("\ndevice = \"cuda\""));
}

TEST_F(EmulatedRanks, a_signal_stops_all_threads_of_one_process) {
  constexpr int kStopped = 3;
  const std::vector<std::string> endless{"--devices", "cuda:0,1", "--set", "train.epochs=500"};
  Process process(plain_words("stopped", 0, 6, 1, endless), place_.root(), {}, RG_HELD_PROGRAM);
  EXPECT_TRUE(process.wait_for_lines(place_ / "stopped/log.jsonl", 3));
  process.signal(SIGTERM);
  const Ended ended = process.wait();
  EXPECT_EQ(ended.code, kStopped) << ended.err;
  EXPECT_EQ(ended.out.find("stopped at step"), ended.out.rfind("stopped at step"));
  EXPECT_THAT(ended.out, HasSubstr("stopped at step"));
  EXPECT_TRUE(fs::exists(resume_file("stopped")));
}

TEST_F(EmulatedRanks, cnn_starts_a_process_for_each_card) {
  const Ended ended = run_it({"bench", "cnn", "--num_gpus=2", "--model=resnet18", "--data_name=cifar10", "--noxla",
                              "--batch_size=1", "--num_batches=2", "--num_warmup_batches=1", "--display_every=1",
                              "--ledger=none", "--json", place_ / "cnn.json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out,
              testing::ContainsRegex("Step\tImg/sec\ttotal_loss\n1\timages/sec: [0-9.]+ .*\n2\timages/sec: "));
  EXPECT_THAT(ended.out, HasSubstr("\ntotal images/sec: "));
  const Value result = read_json(place_ / "cnn.json");
  EXPECT_EQ(result.at("ranks").as_integer(), 2);
  EXPECT_EQ(result.at("fuse").as_string(), "off");
  EXPECT_THAT(result.at("device").as_string(), testing::StartsWith("cuda"));
  EXPECT_EQ(result.at("losses").as_array().size(), 2U);
  EXPECT_TRUE(result.at("calibration").is_null()) << "a GPU is not calibrated";
}

/// Seconds from the last gradients of each update until their average on rank 0, by a trace.
std::vector<double> exposed_in(const Value& trace) {
  std::map<std::string, std::vector<double>> buckets;  // by name, such as "gradient bucket 2"
  const Value::Array& events = trace.at("traceEvents").as_array();
  for (std::size_t i = 0; i + 1 < events.size(); ++i) {
    const std::string& name = events[i].at("name").as_string();
    if (events[i].at("pid").as_integer() != 0 || !name.starts_with("gradient bucket ")) continue;
    EXPECT_EQ(events[i + 1].at("name").as_string(), "QUEUE") << "until the gradients are ready";
    buckets[name].push_back(1e-6 * (events[i].at("dur").as_double() - events[i + 1].at("dur").as_double()));
  }
  return buckets.empty() ? std::vector<double>{} : buckets.rbegin()->second;
}

TEST_F(EmulatedRanks, log_names_the_communication_that_computing_does_not_hide) {
  must_train_plain("exposed", 2, 6, 1, {"--trace"});
  const std::vector<double> updates = exposed_in(read_json(place_ / "exposed/trace.json"));
  ASSERT_EQ(updates.size(), 5U);
  const double all = std::accumulate(updates.begin(), updates.end(), 0.0);
  const std::vector<double> shares = logged("exposed", "comm_exposed"), seconds = logged("exposed", "seconds");
  const double sum = std::inner_product(shares.begin(), shares.end(), seconds.begin(), 0.0);
  EXPECT_GT(sum, 0.0);
  // The last log line may precede the end of the last average. Times in a trace are rounded to nanoseconds.
  EXPECT_THAT(sum, testing::AnyOf(testing::DoubleNear(all, 1e-7), testing::DoubleNear(all - updates.back(), 1e-7)));
}

TEST_F(EmulatedRanks, clip_norms_and_loss_scales_are_those_of_all_ranks) {
  for (const auto& [name, more] : std::map<std::string, std::vector<std::string>>{
           {"clipped", {"--set", "train.clip_norm=0.1"}},
           {"scaled", {"--set", "train.dtype=f16", "--set", "train.loss_scale=1e8"}},
           {"scaled-f16", {"--set", "train.dtype=f16", "--set", "train.loss_scale=1e8", "--wire", "f16"}}}) {
    must_train_plain(name + "-nccl", 2, 6, 1, plus({"--reduce", "nccl"}, more));
    must_train_plain(name + "-host", 2, 6, 1, plus({"--reduce", "exchange"}, more));
    expect_equal_tensors(resume_file(name + "-nccl"), resume_file(name + "-host"));
  }
}

TEST_F(EmulatedRanks, servers_train_on_cards) {
  must_train_plain("exchange", 3, 4, 1, {"--reduce", "exchange"});
  must_train_plain("ps", 4, 4, 1, {"--update", "ps"});
  expect_equal_tensors(resume_file("ps"), resume_file("exchange"));
  must_train_plain("async", 4, 4, 1, {"--update", "async"});
  const std::string log = read_all(place_ / "async/log.jsonl");
  EXPECT_THAT(log, HasSubstr("\"applied\":"));
  EXPECT_THAT(log, HasSubstr("\"staleness_max\":"));
  // Gradients are applied one at a time, so weights differ from those of averages, but train the same network.
  EXPECT_GT(distance("async", "ps"), 0.0) << "so that this test can fail";
  const std::vector<double> losses = logged("async", "loss");
  ASSERT_FALSE(losses.empty());
  for (const double loss : losses) EXPECT_LT(loss, 1.0);  // log(2) = 0.69 for weights that know nothing
}

TEST_F(EmulatedRanks, servers_refuse_a_loss_scale_before_data_are_read) {
  const Ended refused = train_plain("no", 3, 4, 1, {"--update", "ps", "--set", "train.dtype=f16"});
  expect_stop(refused, {"train.dtype: expected a dtype without a loss scale", "got f16; try --dtype bf16"});
  EXPECT_THAT(refused.out, testing::Not(HasSubstr("images, "))) << "the summary of the data";
  EXPECT_FALSE(fs::exists(place_ / "no"));
}

TEST_F(EmulatedRanks, wires_of_16_bits_give_the_same_bits_on_cards_and_hosts_and_train_to_close_weights) {
  must_train_plain("f32", 3, 4, 1, {"--reduce", "exchange"});
  for (const auto& [wire, bound] : std::map<std::string, double>{{"bf16", 1e-3}, {"f16", 1e-4}}) {
    const Ended ended = must_train_plain(wire, 3, 4, 1, {"--wire", wire});
    EXPECT_THAT(ended.err, HasSubstr("gradients are averaged by NCCL twin, sent as " + wire));
    const Ended host = must_train_plain(wire + "-host", 3, 4, 1, {"--wire", wire, "--reduce", "exchange"});
    EXPECT_EQ(host.err.find("averaged by NCCL"), std::string::npos);
    expect_equal_tensors(resume_file(wire), resume_file(wire + "-host"));
    // Five updates at a rate of 0.01 with gradients rounded to 2^-8 or 2^-11, far below the weights themselves.
    const double far = distance(wire, "f32");
    EXPECT_LE(far, bound) << wire;
    EXPECT_GT(far, 0.0) << "so that this test can fail";
  }
}

TEST_F(EmulatedRanks, resume_goes_on_with_the_same_bits_and_with_other_numbers_of_ranks) {
  constexpr int kStopped = 3;
  must_train_plain("whole", 2, 6, 1);
  for (const std::string run : {"same", "more", "alone"}) {
    EXPECT_EQ(train_plain(run, 2, 6, 1, {"--stop-after", "2"}).code, kStopped);
  }
  must_train_plain("same", 2, 6, 1, {"--resume"});
  expect_equal_tensors(resume_file("same"), resume_file("whole"));
  must_train_plain("more", 4, 3, 1, {"--resume"});
  EXPECT_LE(distance("more", "whole"), 1e-5);
  must_train_plain("alone", 0, 12, 1, {"--resume"});
  EXPECT_LE(distance("alone", "whole"), 1e-5);
}

/// Fixture for faults on emulated GPUs, where the replacement of NCCL averages gradients.
class EmulatedFaults : public FaultInjection {
 protected:
  std::vector<std::string> more() const override { return {"--device", "cuda", "--reduce", "nccl"}; }
  EmulatedCards cards_{4};
};

TEST_F(EmulatedFaults, a_rank_that_is_killed_is_named_and_the_rest_makes_the_same_bits) {
  for (const std::string place : {"gradient bucket 0", "optimizer"}) {
    SCOPED_TRACE(place);
    const std::string run = place.substr(0, place.find(' '));
    const Fault fault{.kind = FaultKind::Kill, .place = place};
    const Outcome outcome = inject(run, fault);
    EXPECT_THAT(outcome.ended.err, HasSubstr(", update 6, " + place + ": expected a normal exit, got signal 9"));
    expect_same_bits_after_resume(run, fault);
  }
}

// Aborting a real NCCL group can hang, and then nobody else tells the failure.
TEST_F(EmulatedFaults, a_rank_that_stands_still_is_named_even_if_nccl_hangs_in_its_abort) {
  ::setenv("ROENTGEN_TWIN_HANGS", "1", 1);
  const Outcome outcome = inject("run", {.kind = FaultKind::Stop, .place = "gradient bucket 0", .rank = 1});
  ::unsetenv("ROENTGEN_TWIN_HANGS");
  EXPECT_THAT(outcome.ended.err, HasSubstr("no sign of rank 1 ("));
  EXPECT_THAT(outcome.ended.err, HasSubstr("a device hangs 4000 ms after this failure; the process ends"));
}

/// Fixture for faults while ranks exchange messages of 16 bits.
class EmulatedFaultsIn16Bits : public EmulatedFaults {
 protected:
  std::vector<std::string> more() const override { return plus(EmulatedFaults::more(), {"--wire", "bf16"}); }
};

TEST_F(EmulatedFaultsIn16Bits, a_rank_that_stands_still_is_named_and_the_rest_makes_the_same_bits) {
  const Fault fault{.kind = FaultKind::Stop, .place = "gradient bucket 0", .rank = 1};
  EXPECT_THAT(inject("run", fault).ended.err, HasSubstr("no sign of rank 1 ("));
  expect_same_bits_after_resume("run", fault);
}

TEST_F(EmulatedFaults, a_rank_that_stands_still_is_named_and_the_rest_makes_the_same_bits) {
  for (const std::string place : {"forward", "gradient bucket 0", "checkpoint"}) {
    SCOPED_TRACE(place);
    const std::string run = place.substr(0, place.find(' '));
    const Fault fault{.kind = FaultKind::Stop, .place = place, .rank = place == "checkpoint" ? 0 : 1};
    const Outcome outcome = inject(run, fault);
    EXPECT_THAT(outcome.ended.err, HasSubstr("no sign of rank " + std::to_string(fault.rank) + " ("));
    expect_same_bits_after_resume(run, fault);
  }
}

}  // namespace
}  // namespace roentgen::e2e
