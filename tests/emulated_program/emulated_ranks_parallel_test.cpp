// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Several ranks on emulated cards: gradients are averaged on the cards, by a twin of NCCL, or through the host. What
// they compute, how they go on after a stop, and how faults end them.
#include <cmath>
#include <map>

#include "io/json.h"
#include "io/safetensors.h"
#include "tests/emulated_program/emulated_cards.h"
#include "tests/parallel/blow.h"

namespace roentgen::e2e {
namespace {

using testing::HasSubstr;

// No batch norm and no dropout, so that ranks and accumulated batches compute the same.
constexpr std::string_view kPlainNet = R"(graph "plain"
input image (N, C, S, S)
conv1 = conv2d(image, out=16, kernel=3x3, stride=2x2, pad=1x1)
relu1 = relu(conv1)
conv2 = conv2d(relu1, out=24, kernel=3x3, stride=2x2, pad=1x1)
relu2 = relu(conv2)
conv3 = conv2d(relu2, out=24, kernel=3x3, stride=2x2, pad=1x1)
relu3 = relu(conv3)
pool = global_avg_pool(relu3)
flat = flatten(pool)
fc = linear(flat, out=K)
output logits = fc
)";

class EmulatedRanks : public Launch {
 protected:
  static constexpr int kImages = 96;

  /// A run of five updates of 12 images, in several buckets.
  Ended train_plain(const std::string& run, int ranks, int batch, int accumulate,
                    const std::vector<std::string>& more = {}) {
    if (data_.empty()) data_ = place_.synth("data", kImages);
    std::vector<std::string> words = place_.train_arguments(data_, run);
    words.back() = place_.write("plain.txt", kPlainNet).string();
    words = plus(
        words, {"--device", "cuda", "--set", "train.dtype=f32", "--set", "train.epochs=1", "--set",
                "optimizer.name=sgd", "--set", "train.bucket_mb=0.01", "--set", "train.batch=" + std::to_string(batch),
                "--set", "train.accumulate=" + std::to_string(accumulate), "--verbose"});
    if (ranks > 0) {
      words = plus(words, {"--ranks", std::to_string(ranks), "--oversubscribe", "--comm-timeout", "60"});
    }
    return run_it(plus(words, more));
  }
  Ended must_train_plain(const std::string& run, int ranks, int batch, int accumulate,
                         const std::vector<std::string>& more = {}) {
    Ended ended = train_plain(run, ranks, batch, accumulate, more);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended;
  }
  Ended run_it(const std::vector<std::string>& words) {
    return Process(words, place_.root(), {}, RG_HELD_PROGRAM).wait();
  }
  /// A card for each of at most four ranks.
  EmulatedCards cards_{4};

  fs::path resume_file(const std::string& run) { return place_ / run / "checkpoints/resume.safetensors"; }

  /// Distance of all weights of two runs, as a share of their length.
  double distance(const std::string& left, const std::string& right) {
    const auto a = io::SafetensorsReader::open(resume_file(left)).or_throw();
    const auto b = io::SafetensorsReader::open(resume_file(right)).or_throw();
    double squares = 0.0, differences = 0.0;
    for (const io::TensorInfo& each : a.tensors()) {
      if (each.dtype != DType::F32) continue;
      const auto* const x = reinterpret_cast<const float*>(a.bytes(each).data());
      const auto* const y = reinterpret_cast<const float*>(b.bytes(*b.find(each.name)).data());
      for (std::size_t i = 0; i < a.bytes(each).size() / sizeof(float); ++i) {
        squares += std::pow(static_cast<double>(x[i]), 2);
        differences += std::pow(static_cast<double>(x[i]) - static_cast<double>(y[i]), 2);
      }
    }
    return std::sqrt(differences / squares);
  }
};

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
  // Sums over 12 images in another order, in float32, over five updates at a rate of 0.01: far below 1e-5 of a weight.
  for (const int ranks : {2, 3, 4}) EXPECT_LE(distance("nccl" + std::to_string(ranks), "alone1"), 1e-5) << ranks;
}

TEST_F(EmulatedRanks, every_way_of_averaging_trains_to_the_same_weights) {
  must_train_plain("nccl", 3, 4, 1, {"--reduce", "nccl"});
  for (const std::string way : {"allreduce", "ring", "tree", "hierarchical"}) {
    must_train_plain(way, 3, 4, 1, {"--reduce", way});
    EXPECT_LE(distance(way, "nccl"), 1e-5) << way;
  }
}

TEST_F(EmulatedRanks, auto_takes_nccl_on_cards_of_their_own) {
  EXPECT_THAT(must_train_plain("own", 2, 6, 1).err, HasSubstr("gradients are averaged by NCCL twin"));
  const EmulatedCards one(1);
  const Ended shared = must_train_plain("shared", 2, 6, 1, {"--allow-shared-gpu"});
  const Ended refused = train_plain("refused", 2, 6, 1, {"--allow-shared-gpu", "--reduce", "nccl"});
  EXPECT_THAT(shared.err,
              HasSubstr("gradients pass through the host, not NCCL: ranks 0 and 1 on one device, FFFF:00:00.0"));
  EXPECT_NE(refused.code, 0);
  EXPECT_THAT(refused.err,
              HasSubstr("[dist.nccl] --reduce nccl: expected f32 gradients on a CUDA device of each rank, and "
                        "NCCL, got ranks 0 and 1 on one device, FFFF:00:00.0; try --reduce auto\n"));
  const EmulatedCards two(2);
  const Ended narrow = train_plain("narrow", 2, 6, 1, {"--reduce", "nccl", "--wire", "bf16"});
  EXPECT_NE(narrow.code, 0);
  EXPECT_THAT(narrow.err, HasSubstr("got rank 0: --wire bf16; try --reduce auto\n"));
}

TEST_F(EmulatedRanks, log_names_the_communication_that_computing_does_not_hide) {
  must_train_plain("exposed", 2, 6, 1, {"--json", place_ / "exposed.json"});
  EXPECT_GT(read_json(place_ / "exposed.json").at("comm_exposed").as_double(), 0.0);
}

TEST_F(EmulatedRanks, clip_norms_and_loss_scales_are_those_of_all_ranks) {
  for (const auto& [name, more] : std::map<std::string, std::vector<std::string>>{
           {"clipped", {"--set", "train.clip_norm=0.1"}},
           {"scaled", {"--set", "train.dtype=f16", "--set", "train.loss_scale=1e8"}}}) {
    must_train_plain(name + "-nccl", 2, 6, 1, plus({"--reduce", "nccl"}, more));
    must_train_plain(name + "-host", 2, 6, 1, plus({"--reduce", "exchange"}, more));
    expect_equal_tensors(resume_file(name + "-nccl"), resume_file(name + "-host"));
  }
}

TEST_F(EmulatedRanks, servers_refuse_a_loss_scale_before_data_are_read) {
  const Ended refused = train_plain("no", 3, 4, 1, {"--update", "ps", "--set", "train.dtype=f16"});
  expect_stop(refused, {"train.dtype: expected gradients without a loss scale", "got f16; try --dtype bf16"});
  EXPECT_THAT(refused.out, testing::Not(HasSubstr("images, "))) << "the summary of the data";
  EXPECT_FALSE(fs::exists(place_ / "no"));
}

TEST_F(EmulatedRanks, wires_of_16_bits_pass_through_the_host_and_train_to_close_weights) {
  must_train_plain("f32", 3, 4, 1, {"--reduce", "exchange"});
  for (const auto& [wire, bound] : std::map<std::string, double>{{"bf16", 1e-3}, {"f16", 1e-4}}) {
    const Ended ended = must_train_plain(wire, 3, 4, 1, {"--wire", wire});
    EXPECT_EQ(ended.err.find("averaged by NCCL"), std::string::npos);
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

/// Faults on emulated cards whose gradients NCCL's twin averages.
class EmulatedStruck : public Struck {
 protected:
  std::vector<std::string> more() const override { return {"--device", "cuda", "--reduce", "nccl"}; }
  EmulatedCards cards_{4};
};

TEST_F(EmulatedStruck, a_rank_that_is_killed_is_named_and_the_rest_makes_the_same_bits) {
  for (const std::string place : {"gradient bucket 0", "optimizer"}) {
    SCOPED_TRACE(place);
    const std::string run = place.substr(0, place.find(' '));
    const Blow blow{.fault = Fault::Kill, .place = place};
    const Outcome outcome = strike(run, blow);
    EXPECT_THAT(outcome.ended.err, HasSubstr(", update 6, " + place + ": expected a normal exit, got signal 9"));
    expect_same_bits_after_resume(run, blow);
  }
}

TEST_F(EmulatedStruck, a_rank_that_stands_still_is_named_and_the_rest_makes_the_same_bits) {
  for (const std::string place : {"forward", "gradient bucket 0", "checkpoint"}) {
    SCOPED_TRACE(place);
    const std::string run = place.substr(0, place.find(' '));
    const Blow blow{.fault = Fault::Stop, .place = place, .rank = place == "checkpoint" ? 0 : 1};
    const Outcome outcome = strike(run, blow);
    EXPECT_THAT(outcome.ended.err, HasSubstr("no sign of rank " + std::to_string(blow.rank) + " ("));
    expect_same_bits_after_resume(run, blow);
  }
}

}  // namespace
}  // namespace roentgen::e2e
