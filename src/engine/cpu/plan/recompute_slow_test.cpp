// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Values that are recomputed in backward must have the same bits as the dropped ones, in every family of networks.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "engine/cpu/plan/executable.h"
#include "engine/cpu/plan/plan_testing.h"
#include "engine/cpu/plan/step_bits_testing.h"
#include "graph/loss.h"
#include "models/model.h"

namespace roentgen::engine::cpu {
namespace {

struct Tested {
  const char* name;
  std::int64_t image_px = 32;
  /// True if "all" drops more values than "auto".
  bool has_more = true;
};

class RecomputedNetwork : public testing::TestWithParam<std::tuple<const char*, Tested>> {};

TEST_P(RecomputedNetwork, has_the_bits_of_the_kept_one_in_less_memory) {
  const auto& [algorithms, tested] = GetParam();
  const auto& [name, image_px, has_more] = tested;
  const bool is_direct = std::string(algorithms) == "direct";
  if (const std::string what = lacking_for(algorithms); !what.empty()) GTEST_SKIP() << what;
  const graph::Graph graph = graph::with_loss(
      models::build_model(
          {.name = name, .labels = 3, .image_px = image_px, .batch = 2, .width = 32, .auxiliary = false}),
      {});
  std::map<std::string, std::size_t> bytes;
  std::map<std::string, std::vector<std::vector<float>>> bits;
  for (const char* recompute : {"none", "auto", "all"}) {
    const auto executable =
        make_executable(graph, {.slots = 1, .algorithms = parse_algorithms(algorithms), .recompute = recompute});
    bytes[recompute] = executable->plan().memory.activations;
    bits[recompute] = bits_of_one_step(*executable);
  }
  // Our convolutions normalise their input themselves, so fewer values are left to drop.
  EXPECT_LE(bytes["auto"], bytes["none"]);
  if (is_direct) {
    EXPECT_LT(bytes["auto"], bytes["none"]);
  }
  EXPECT_LE(bytes["all"], bytes["auto"]);
  if (has_more && is_direct) {
    EXPECT_LT(bytes["all"], bytes["auto"]);
  }
  EXPECT_EQ(bits["auto"], bits["none"]);
  EXPECT_EQ(bits["all"], bits["none"]);
}

std::string name_of_test(const testing::TestParamInfo<std::tuple<const char*, Tested>>& info) {
  return std::string(std::get<1>(info.param).name) + "_" + std::get<0>(info.param);
}

INSTANTIATE_TEST_SUITE_P(Cpu, RecomputedNetwork,
                         testing::Combine(testing::Values("direct", "winograd", "split", "split2", "pointwise"),
                                          testing::Values(Tested{"resnet34"}, Tested{"resnet50"},
                                                          Tested{"densenet121", 32, false},
                                                          Tested{"vgg16_bn", 32, false}, Tested{"googlenet", 64},
                                                          Tested{"inception_v3", 96}, Tested{"inception_v4", 96})),
                         name_of_test);

}  // namespace
}  // namespace roentgen::engine::cpu
