// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests several ranks on emulated GPUs. Gradients are averaged on the GPUs by a replacement of NCCL, or through the
// host. Covers results, resumed runs, and faults.
#include <fmt/format.h>

#include <cmath>
#include <csignal>
#include <map>
#include <numeric>
#include <sstream>

#include "io/json.h"
#include "io/safetensors.h"
#include "tests/emulated_program/emulated_cards.h"
#include "tests/parallel/fault_injection.h"

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

  /// Arguments of a run of five updates of 12 images, with several gradient buckets.
  std::vector<std::string> plain_words(const std::string& run, int ranks, int batch, int accumulate,
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
    return plus(words, more);
  }
  Ended train_plain(const std::string& run, int ranks, int batch, int accumulate,
                    const std::vector<std::string>& more = {}) {
    return run_it(plain_words(run, ranks, batch, accumulate, more));
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
  /// One GPU for each of up to four ranks.
  EmulatedCards cards_{4};

  fs::path resume_file(const std::string& run) { return place_ / run / "checkpoints/resume.safetensors"; }

  /// Values of a key for all updates in the log of a run.
  std::vector<double> logged(const std::string& run, std::string_view key) {
    std::vector<double> values;
    std::istringstream lines(read_all(place_ / run / "log.jsonl"));
    for (std::string line; std::getline(lines, line);) {
      const Value entry = io::parse_json(line, "log").or_throw();
      if (const Value* value = entry.find(key)) values.push_back(value->as_double());
    }
    return values;
  }

  /// L2 distance between the weights of two runs, divided by their norm.
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

TEST_F(EmulatedRanks, auto_takes_nccl_on_cards_of_their_own) {
  EXPECT_THAT(must_train_plain("own", 2, 6, 1).err, HasSubstr("gradients are averaged by NCCL twin"));
  const EmulatedCards one(1);
  const Ended shared = must_train_plain("shared", 2, 6, 1, {"--allow-shared-gpu"});
  const Ended refused = train_plain("refused", 2, 6, 1, {"--allow-shared-gpu", "--reduce", "nccl"});
  EXPECT_THAT(shared.err,
              HasSubstr("gradients pass through the host, not NCCL: ranks 0 and 1 on the same GPU, FFFF:00:00.0"));
  EXPECT_NE(refused.code, 0);
  EXPECT_THAT(refused.err, HasSubstr("[dist.nccl] --reduce nccl: expected NCCL, and gradients on one GPU per rank, "
                                     "got ranks 0 and 1 on the same GPU, FFFF:00:00.0; try --reduce auto\n"));
}

TEST_F(EmulatedRanks, cards_that_no_rank_uses_are_named) {
  for (const int ranks : {0, 2}) {
    const Ended ended = must_train_plain("idle" + std::to_string(ranks), ranks, 6, 1);
    const std::string used = ranks == 0 ? "only 1 of 4 GPUs of [^ ]+" : "only 2 of 4 GPUs of [^ ]+";
    EXPECT_THAT(ended.err,
                testing::ContainsRegex("warning: " + used + " are used; --ranks auto, or more processes of "));
    EXPECT_EQ(ended.err.find("only "), ended.err.rfind("only ")) << "named once";
    const bool are_equal = ended.err.find("cores are divided equally, not by GPU: ") != std::string::npos;
    EXPECT_EQ(are_equal, ranks > 0) << "the place of emulated cards is unknown";
  }
  const auto expect_none = [&](const std::string& run, int ranks, const std::vector<std::string>& more) {
    EXPECT_THAT(must_train_plain(run, ranks, 3, 1, more).err, testing::Not(HasSubstr("GPUs of "))) << run;
  };
  expect_none("auto", 0, {"--ranks", "auto", "--oversubscribe"});
  expect_none("chosen", 0, {"--device", "cuda:1"});
  expect_none("chosen-ranks", 2, {"--device", "cuda:1", "--allow-shared-gpu"});
  expect_none("devices", 0, {"--devices", "cuda:0,1"});
}

TEST_F(EmulatedRanks, auto_is_refused_where_mpirun_started_one_process_for_several_cards) {
  const std::vector<std::string> mpirun{
      "/usr/bin/env", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "mpirun", "-np", "1"};
  const auto train = [&](const std::string& run, const std::vector<std::string>& more) {
    return Process(plain_words(run, 0, 6, 1, more), place_.root(), mpirun, RG_HELD_PROGRAM).wait();
  };
  const Ended refused = train("no", {"--ranks", "auto"});
  EXPECT_NE(refused.code, 0);
  EXPECT_THAT(refused.err, HasSubstr("[cli.launch] --ranks auto: expected 4 processes on "));
  EXPECT_THAT(refused.err, HasSubstr(", one per GPU, got 1, as mpirun or srun started; try mpirun -np 4, srun "
                                     "--ntasks-per-node=4, or --ranks 1\n"));
  EXPECT_FALSE(fs::exists(place_ / "no"));
  const Ended one = train("one", {"--ranks", "1"});
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_THAT(one.err, HasSubstr("warning: only 1 of 4 GPUs of "));
  const EmulatedCards single(1);
  EXPECT_EQ(train("single", {"--ranks", "auto"}).code, 0);
}

TEST_F(EmulatedRanks, log_names_the_cores_that_nccl_inherits) {
  EXPECT_THAT(must_train_plain("free", 2, 6, 1).err, testing::Not(HasSubstr("NCCL's threads")));
  const Ended bound = must_train_plain("bound", 2, 6, 1, {"--comm-cores", "1"});
  EXPECT_THAT(bound.err, HasSubstr("averaged by NCCL twin, sent as f32, with NCCL's threads on cores 1\n"));
}

// Tests NCCL with one card, like tools/gpu/check_ranks.sh.
TEST_F(EmulatedRanks, share_a_card_by_nccl_if_each_names_another_host) {
  must_train_plain("own", 2, 6, 1, {"--reduce", "nccl"});
  const EmulatedCards one(1);
  const std::vector<std::string> mpirun{"/usr/bin/env",
                                        "OMPI_ALLOW_RUN_AS_ROOT=1",
                                        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                                        "OMPI_MCA_rmaps_base_oversubscribe=1",
                                        "mpirun",
                                        "-np",
                                        "2"};
  const auto train = [&](const std::string& run, const std::string& script) {
    const std::vector<std::string> words =
        plain_words(run, 0, 6, 1, {"--reduce", "nccl", "--allow-shared-gpu", "--oversubscribe"});
    return Process(words, place_.root(), plus(mpirun, {"bash", "-c", script, "bash"}), RG_HELD_PROGRAM).wait();
  };
  // OMPI_COMM_WORLD_RANK is the number of the rank.
  const Ended shared = train("shared", R"(export NCCL_HOSTID=host$OMPI_COMM_WORLD_RANK; "$@")");
  EXPECT_EQ(shared.code, 0) << shared.err;
  EXPECT_THAT(shared.err, HasSubstr("gradients are averaged by NCCL twin"));
  expect_equal_tensors(resume_file("shared"), resume_file("own"));
  const Ended refused = train("refused", R"(export NCCL_HOSTID=host; "$@")");
  EXPECT_NE(refused.code, 0);
  EXPECT_THAT(refused.err, HasSubstr("got ranks 0 and 1 on the same GPU, FFFF:00:00.0; try --reduce auto\n"));
}

// A rank that sees all MIG instances would get the first one from CUDA.
TEST_F(EmulatedRanks, ranks_of_mpirun_take_different_mig_instances) {
  const auto start = [this](const std::string& run, const std::string& instances) {
    const std::vector<std::string> starter{"/usr/bin/env",
                                           "-u",
                                           "ROENTGEN_MPI",  // the library must be that of mpirun
                                           "CUDA_VISIBLE_DEVICES=" + instances,
                                           "OMPI_ALLOW_RUN_AS_ROOT=1",
                                           "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                                           "OMPI_MCA_rmaps_base_oversubscribe=1",
                                           "mpirun",
                                           "-np",
                                           "2"};
    const std::vector<std::string> words = plain_words(run, 0, 6, 1, {"--oversubscribe"});
    return Process(words, place_.root(), starter, RG_HELD_PROGRAM).wait();
  };
  const Ended ended = start("two", "MIG-1f,MIG-2a");
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("cuda:0 emulated instance"));
  EXPECT_THAT(start("one", "MIG-1f").err, HasSubstr("got MIG-1f, which rank 0 uses"));
}

// The lesson of PyTorch's DataParallel, whose first GPU held 15.5 GB and the others 12 GB (FutureGAN, 8 P100). Rank 0
// alone validates the figures, writes checkpoints and receives what the others gather: all of it in the host's memory.
TEST_F(EmulatedRanks, first_rank_allocates_no_more_card_memory_than_the_others) {
  const std::vector<std::string> threads{"--devices", "cuda:0,1,2,3"};
  for (const std::vector<std::string>& way : {std::vector<std::string>{"--reduce", "nccl"},
                                              {"--reduce", "nccl", "--wire", "bf16"},
                                              {"--reduce", "exchange"},
                                              threads}) {
    SCOPED_TRACE(way.back());
    const fs::path folder = place_ / ("memory-" + way.back());
    fs::create_directories(folder);
    ::setenv("ROENTGEN_EMULATED_MEMORY", folder.c_str(), 1);
    must_train_plain("peak-" + way.back(), way == threads ? 0 : 4, 3, 1,
                     plus(way, {"--set", "train.ema=0.9", "--set", "train.keep_best=2"}));
    ::unsetenv("ROENTGEN_EMULATED_MEMORY");
    const std::string first = read_all(folder / "cuda-0");
    EXPECT_GT(std::stoll(first), 100'000) << "weights, gradients, optimizer and activations";
    for (const std::string other : {"cuda-1", "cuda-2", "cuda-3"}) EXPECT_EQ(read_all(folder / other), first) << other;
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

TEST_F(EmulatedRanks, devices_that_cannot_be_had_are_named_once) {
  const Ended missing = train_plain("no", 0, 6, 1, {"--devices", "cuda:0,9"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_EQ(missing.err,
            "[runtime.cuda] device cuda:9: expected one of cuda:0 to cuda:3, got cuda:9; try --device cpu\n");
  expect_stop(train_plain("no", 0, 6, 1, {"--devices", "cuda:1,1"}), {"device of rank 1", "which rank 0 uses"});
  expect_refusal(train_plain("no", 2, 6, 1, {"--devices", "cuda:0,1"}),
                 {"--devices: expected a single process, which uses several GPUs"});
  expect_refusal(train_plain("no", 0, 6, 1, {"--devices", "0,1"}), {"--devices: expected a list such as cuda:0,1"});
  EXPECT_FALSE(fs::exists(place_ / "no"));
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
