// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/ema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "engine/engine.h"
#include "train/flat_model_testing.h"

namespace roentgen::train {
namespace {

constexpr std::int64_t kSizePx = 2;

class EmaOfWeights : public testing::Test {
 protected:
  EmaOfWeights() { set(0.5F); }
  // Sets all weights to `value` and all biases to its negative.
  void set(float value) {
    executable_->load(0, std::vector<float>(static_cast<std::size_t>(3 * kSizePx * kSizePx), value));
    executable_->load(1, std::vector<float>(3, -value));
  }

  ReferenceEngine engine_;
  std::unique_ptr<engine::Executable> executable_ = engine_.compile(flat_model(2, kSizePx, 3), {});
};

TEST_F(EmaOfWeights, decays_less_at_first) {
  EXPECT_DOUBLE_EQ(ema_decay(0.999, 1), 2.0 / 11.0);
  EXPECT_DOUBLE_EQ(ema_decay(0.999, 90), 91.0 / 100.0);
  EXPECT_DOUBLE_EQ(ema_decay(0.999, 100000), 0.999);
  EXPECT_DOUBLE_EQ(ema_decay(0.1, 1), 0.1);
}

TEST_F(EmaOfWeights, follows_the_recurrence) {
  Ema ema(*executable_, 0.25);
  // Expected values, computed by hand for decay = 0.5. Update 1: d = 2/11, so the new value has the share 1 - 2/11 =
  // 9/11. Update 2: d = 3/12 = 0.25, share 0.75.
  double e = 0.5;
  const double shares[] = {9.0 / 11.0, 0.75, 0.75};
  const float weights[] = {1.0F, -2.0F, 4.0F};
  for (int t = 1; t <= 3; ++t) {
    set(weights[t - 1]);
    ema.update(t);
    e += shares[t - 1] * (static_cast<double>(weights[t - 1]) - e);
    for (const NamedTensor& tensor : ema.weights()) {
      for (const float value : tensor.values) {
        EXPECT_NEAR(value, tensor.name == "fc.bias" ? -e : e, 1e-6) << tensor.name << " after update " << t;
      }
    }
  }
  EXPECT_EQ(executable_->store(0)[0], 4.0F) << "training goes on from its own weights";
}

TEST_F(EmaOfWeights, is_restored_bit_for_bit) {
  Ema ema(*executable_, 0.9);
  set(0.1F);
  ema.update(1);
  const std::vector<NamedTensor> state = ema.state();
  EXPECT_EQ(state[0].name, "optimizer.ema.fc.weight");
  set(7.0F);
  Ema other(*executable_, 0.9);
  other.restore(state, "resume.safetensors");
  set(0.2F);
  ema.update(2);
  other.update(2);
  for (std::size_t i = 0; i < state.size(); ++i) EXPECT_EQ(ema.weights()[i].values, other.weights()[i].values);
}

TEST_F(EmaOfWeights, refuses_a_state_that_does_not_fit) {
  Ema ema(*executable_, 0.9);
  std::vector<NamedTensor> state = ema.state();
  state.pop_back();
  try {
    ema.restore(state, "resume.safetensors");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(),
                testing::HasSubstr("resume.safetensors: expected the moving averages of train.ema, got 1 missing"));
  }
}

}  // namespace
}  // namespace roentgen::train
