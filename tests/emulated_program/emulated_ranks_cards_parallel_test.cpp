// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests which emulated GPU each rank uses, and what the program says about GPUs.
#include "tests/emulated_program/emulated_ranks.h"

namespace roentgen::e2e {
namespace {

using testing::HasSubstr;

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

}  // namespace
}  // namespace roentgen::e2e
