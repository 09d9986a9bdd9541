// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/cnn_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/error.h"

namespace roentgen::bench {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr CnnMachine kCpu{};
constexpr CnnMachine kFourCards{.cuda_devices = 4};

/// Flags with texts for some options, as on a command line.
CnnFlags flags(const std::vector<std::pair<std::string, std::string>>& given) {
  CnnFlags all;
  const std::vector<Option> options = all.options();
  for (const auto& [name, text] : given) {
    for (const Option& option : options) {
      if (option.name != name) continue;
      if (auto* const* number = std::get_if<std::int64_t*>(&option.target)) **number = std::stoll(text);
      if (auto* const* value = std::get_if<std::string*>(&option.target)) **value = text;
      if (auto* const* list = std::get_if<std::vector<std::string>*>(&option.target)) (*list)->push_back(text);
    }
  }
  return all;
}

const std::vector<std::pair<std::string, std::string>> kOneNode{{"--device", "gpu"},
                                                                {"--data_format", "NCHW"},
                                                                {"--optimizer", "sgd"},
                                                                {"--distortions", "false"},
                                                                {"--use_fp16", "True"},
                                                                {"--local_parameter_device", "gpu"},
                                                                {"--variable_update", "replicated"},
                                                                {"--all_reduce_spec", "nccl"},
                                                                {"--data_dir", "/data/train"},
                                                                {"--data_name", "imagenet"},
                                                                {"--model", "resnet50"},
                                                                {"--batch_size", "256"},
                                                                {"--num_gpus", "4"},
                                                                {"--xla", "true"}};

TEST(CnnFlags, of_one_node_with_four_cards) {
  const CnnPlan plan = plan_of(flags(kOneNode), kFourCards);
  EXPECT_EQ(plan.network.device, "cuda");
  EXPECT_EQ(plan.network.dtype, "f16");
  EXPECT_EQ(plan.network.fuse, "on");
  EXPECT_EQ(plan.network.batch, 256);
  EXPECT_EQ(plan.network.labels, 1000);
  EXPECT_EQ(plan.network.warmup, 10);
  EXPECT_EQ(plan.network.steps, 100);
  EXPECT_EQ(plan.devices, 4);
  EXPECT_EQ(plan.reduce, "nccl");
  EXPECT_EQ(plan.data_dir, "/data/train");
  EXPECT_FALSE(plan.has_distortions);
  EXPECT_EQ(std::get<engine::Sgd>(plan.optimizer.rules).momentum, 0.0);
}

TEST(CnnFlags, of_one_node_run_on_a_cpu_and_say_what_changes) {
  const CnnPlan plan = plan_of(flags(kOneNode), kCpu);
  EXPECT_EQ(plan.network.device, "cpu");
  EXPECT_EQ(plan.network.dtype, "bf16");
  EXPECT_EQ(plan.devices, 1);
  EXPECT_EQ(plan.reduce, "auto");
  for (const char* begin : {"--device=gpu becomes cpu", "--num_gpus=4 becomes 1", "--data_format=NCHW has no effect",
                            "--use_fp16=True becomes --dtype bf16", "--local_parameter_device=gpu has no effect",
                            "--all_reduce_spec=nccl has no effect", "--xla=true becomes --fuse on",
                            "--data_dir=/data/train gives the images"}) {
    EXPECT_THAT(plan.notes, Contains(HasSubstr(begin)));
  }
}

TEST(CnnFlags, of_two_nodes) {
  auto given = kOneNode;
  std::erase_if(given,
                [](const auto& flag) { return flag.first == "--num_gpus" || flag.first == "--all_reduce_spec"; });
  for (auto& [name, value] : given) {
    if (name == "--variable_update") value = "horovod";
  }
  given.insert(given.end(), {{"--horovod_device", "gpu"}, {"--datasets_num_private_threads", "4"}});
  const CnnPlan cards = plan_of(flags(given), {.cuda_devices = 4, .processes = 8});
  EXPECT_EQ(cards.devices, 1);
  EXPECT_EQ(cards.reduce, "nccl");
  EXPECT_EQ(cards.workers, 4);
  const CnnPlan cpus = plan_of(flags(given), {.processes = 8});
  EXPECT_EQ(cpus.reduce, "allreduce");
  EXPECT_THAT(cpus.notes, Contains(HasSubstr("--horovod_device=gpu becomes --reduce allreduce")));
}

TEST(CnnFlags, of_ranks_of_one_command_give_the_algorithm_of_the_command) {
  std::vector<std::pair<std::string, std::string>> given{
      {"--num_gpus", "4"}, {"--all_reduce_spec", "xring"}, {"--horovod_device", "gpu"}};
  EXPECT_EQ(plan_of(flags(given), kFourCards).reduce, "ring");
  given.insert(given.end(), {{"--num_gpus", "1"}, {"--variable_update", "horovod"}, {"--horovod_device", "none"}});
  EXPECT_EQ(plan_of(flags(given), {.cuda_devices = 4, .processes = 4}).reduce, "ring");
}

TEST(CnnFlags, with_other_defaults_than_tensorflow_have_a_note) {
  const std::vector<std::pair<std::string, std::string>> given{
      {"--device", "cpu"}, {"--model", "resnet18"}, {"--optimizer", "sgd"}};
  EXPECT_THAT(plan_of(flags(given), kCpu).notes, testing::ElementsAre(HasSubstr("--xla was not given")));
  auto with_images = given;
  with_images.insert(with_images.end(), {{"--data_dir", "d"}, {"--xla", "false"}});
  const CnnPlan plan = plan_of(flags(with_images), kCpu);
  EXPECT_THAT(plan.notes, Contains(HasSubstr("--distortions was not given: images are not augmented")));
  EXPECT_THAT(plan.notes, testing::Not(Contains(HasSubstr("--xla was not given"))));
}

TEST(CnnFlags, without_effect_say_why) {
  const CnnPlan plan =
      plan_of(flags({{"--device", "cpu"}, {"--num_inter_threads", "2"}, {"--distortions", "true"}}), kCpu);
  EXPECT_THAT(plan.notes, Contains("--num_inter_threads=2 has no effect: operations of one network run one after "
                                   "another"));
  EXPECT_THAT(plan.notes, Contains("--distortions=true has no effect: images are random"));
}

TEST(CnnFlags, optimizers_have_the_meaning_of_tensorflow) {
  const CnnPlan momentum = plan_of(flags({{"--optimizer", "momentum"}}), kCpu);
  EXPECT_EQ(std::get<engine::Sgd>(momentum.optimizer.rules).momentum, 0.9);
  EXPECT_EQ(plan_of(flags({{"--optimizer", "adam"}}), kCpu).optimizer.name, "adam");
}

TEST(CnnFlags, epochs_replace_batches) {
  const CnnPlan plan = plan_of(flags({{"--num_epochs", "2"}, {"--data_dir", "d"}}), kCpu);
  EXPECT_EQ(plan.epochs, 2);
  EXPECT_EQ(plan.network.steps, 0);
}

TEST(CnnFlags, that_would_change_what_is_measured_are_refused) {
  using Given = std::vector<std::pair<std::string, std::string>>;
  for (const auto& [given, machine] : std::vector<std::pair<Given, CnnMachine>>{
           {{{"--device", "tpu"}}, kCpu},
           {{{"--num_gpus", "8"}}, kFourCards},
           {{{"--variable_update", "distributed_replicated"}}, kCpu},
           {{{"--variable_update", "replicated"}}, {.processes = 2}},
           {{{"--variable_update", "horovod"}, {"--num_gpus", "2"}}, kFourCards},
           {{{"--variable_update", "independent"}, {"--num_gpus", "2"}}, kFourCards},
           {{{"--all_reduce_spec", "nccl/xring"}}, kCpu},
           {{{"--optimizer", "rmsprop"}}, kCpu},
           {{{"--use_fp16", "maybe"}}, kCpu},
           {{{"--forward_only", "true"}}, kCpu},
           {{{"--eval", "1"}}, kCpu},
           {{{"--cross_replica_sync", "false"}}, kCpu},
           {{{"--data_name", "mnist"}}, kCpu},
           {{{"--data_format", "CHWN"}}, kCpu},
           {{{"--model", "no_such_model"}}, kCpu},
           {{{"--num_epochs", "1"}}, kCpu},
           {{{"--num_epochs", "1"}, {"--num_batches", "5"}, {"--data_dir", "d"}}, kCpu}}) {
    EXPECT_THROW(static_cast<void>(plan_of(flags(given), machine)), ConfigError) << given.front().first;
  }
}

TEST(CnnFlags, that_are_true_or_false_may_stand_alone) {
  CnnFlags all;
  std::vector<std::string> switches, others;
  for (const Option& option : all.options()) {
    EXPECT_TRUE(!option.is_switch || std::holds_alternative<std::string*>(option.target)) << option.name;
    (option.is_switch ? switches : others).push_back(option.name);
  }
  EXPECT_THAT(switches, testing::IsSupersetOf({"--use_fp16", "--distortions", "--xla", "--eval"}));
  EXPECT_EQ(switches.size(), 14U) << "every name in the list is the name of a flag";
  EXPECT_THAT(others, testing::IsSupersetOf({"--model", "--kmp_settings", "--variable_consistency"}));
}

TEST(CnnOutput, has_the_form_of_tf_cnn_benchmarks) {
  CnnOutput output(16, 2);
  EXPECT_EQ(output.add(0.1, 0.6931), "Step\tImg/sec\ttotal_loss\n1\timages/sec: 160.0 +/- 0.0 (jitter = 0.0)\t0.693\n");
  EXPECT_EQ(output.add(0.1, 0.6), "2\timages/sec: 160.0 +/- 0.0 (jitter = 0.0)\t0.600\n");
  EXPECT_EQ(output.add(0.1, 0.6), "") << "not a multiple of display_every";
  EXPECT_EQ(CnnOutput::end(362.123),
            std::string(64, '-') + "\ntotal images/sec: 362.12\n" + std::string(64, '-') + "\n");
}

TEST(CnnOutput, of_a_finished_group_counts_the_images_of_all_devices) {
  const Value result = Value::Table{{"batch", 8},
                                    {"ranks", 4},
                                    {"total_images_per_s", 300.0},
                                    {"losses", Value::Array{0.7, 0.6}},
                                    {"samples", Value::Table{{"step_s", Value::Array{0.1, 0.1}}}}};
  EXPECT_EQ(cnn_lines(result, 2),
            "Step\tImg/sec\ttotal_loss\n1\timages/sec: 320.0 +/- 0.0 (jitter = 0.0)\t0.700\n"
            "2\timages/sec: 320.0 +/- 0.0 (jitter = 0.0)\t0.600\n" +
                CnnOutput::end(300.0));
}

}  // namespace
}  // namespace roentgen::bench
