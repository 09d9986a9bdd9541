// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "engine/conformance/cases.h"
#include "engine/cpu/plan/executable.h"
#include "engine/cpu/plan/step_bits_testing.h"

namespace roentgen::engine::cpu {
namespace {

std::unique_ptr<Executable> ready() {
  auto executable = make_executable(conformance::network_cases().front().graph, {});
  initialise(*executable, 7);
  fill_inputs(*executable);
  return executable;
}

std::vector<float> gradients_of_one_step(Executable& executable) {
  executable.forward();
  executable.backward({});
  return executable.gradients().values();
}

TEST(CpuExecutableUpdate, changes_nothing_after_a_loss_that_is_not_finite) {
  const auto executable = ready();
  const auto image = executable->slot(0, 0);
  const std::vector<float> weights = executable->parameters().values();
  const UpdateRange all{.begin = 0, .count = executable->parameters().elements()};
  const UpdateWork work{
      .target = executable->parameters(), .source = executable->gradients(), .ranges = {&all, 1}, .lr = 0.1};
  const float nan = std::nanf("");
  std::vector<std::byte> kept(image.begin(), image.end());
  std::memcpy(image.data(), &nan, sizeof nan);
  executable->begin_update();
  static_cast<void>(gradients_of_one_step(*executable));
  EXPECT_TRUE(std::isnan(executable->read("loss")[0]));
  std::ranges::copy(kept, image.begin());
  static_cast<void>(gradients_of_one_step(*executable));  // a batch of the same update
  EXPECT_TRUE(executable->update(Sgd{.momentum = 0.0}, work).is_reached());
  EXPECT_EQ(executable->parameters().values(), weights);
}

TEST(CpuExecutableUpdate, clips_by_the_norm_of_all_gradients) {
  const auto executable = ready();
  executable->begin_update();
  const std::vector<float> gradients = gradients_of_one_step(*executable);
  double squares = 0.0;
  for (const float value : gradients) squares += static_cast<double>(value) * static_cast<double>(value);
  const double norm = 0.5 * std::sqrt(squares);
  const std::vector<float> weights = executable->parameters().values();
  const UpdateRange all{.begin = 0, .count = executable->parameters().elements()};
  executable->update(Sgd{.momentum = 0.0}, {.target = executable->parameters(),
                                            .source = executable->gradients(),
                                            .ranges = {&all, 1},
                                            .lr = 1.0,
                                            .scale = 0.5,
                                            .clip_norm = norm / 4.0});
  EXPECT_NEAR(executable->read_norm(), norm, 1e-9 * norm);
  const std::vector<float> got = executable->parameters().values();
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], weights[i] - 0.125F * gradients[i], 1e-6F * (1.0F + std::abs(weights[i]))) << i;
  }
}

}  // namespace
}  // namespace roentgen::engine::cpu
