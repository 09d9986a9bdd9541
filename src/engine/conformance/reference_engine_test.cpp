// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The reference interpreter as an engine: the same cases through the border of an engine whose memory is not the
// host's.
#include "engine/reference/reference_engine_testing.h"

#include <gtest/gtest.h>

#include "engine/conformance/suite_testing.h"

namespace roentgen::engine::conformance {
namespace {

RG_CONFORMANCE(Reference, [] { return std::make_unique<reference::ReferenceEngine>(); }, {kF32});

TEST(ReferenceEngine, has_memory_that_the_host_cannot_reach) {
  const auto executable = reference::ReferenceEngine().compile(network_cases().front().graph, {});
  for (const Arena* arena : {&executable->parameters(), &executable->gradients(), &executable->state()}) {
    EXPECT_NE(arena->device().copies, nullptr);
  }
}

// Weights that count never come of a step whose loss is not finite, although the update is queued before it is known.
TEST(ReferenceEngine, makes_no_update_by_a_loss_that_is_not_finite) {
  reference::ReferenceEngine engine;
  for (const bool is_nan : {false, true}) {
    engine.form.makes_nan_loss = is_nan;
    const auto executable = engine.compile(network_cases().front().graph, {});
    initialise(*executable, 1);
    for (std::int64_t input = 0; input < std::ssize(executable->inputs()); ++input) {
      const std::span<std::byte> bytes = executable->slot(input, 0);
      const std::vector<float> ones(bytes.size() / sizeof(float), 1.0F);
      std::ranges::copy(std::as_bytes(std::span(ones)), bytes.begin());
    }
    const std::vector<float> before = executable->parameters().values();
    const UpdateRange all{.begin = 0, .count = executable->parameters().elements()};
    executable->begin_update();
    executable->forward();
    executable->backward({});
    executable->update(
        Sgd{.momentum = 0.0},
        {.target = executable->parameters(), .source = executable->gradients(), .ranges = {&all, 1}, .lr = 1.0});
    EXPECT_EQ(executable->parameters().values() == before, is_nan);
  }
}

}  // namespace
}  // namespace roentgen::engine::conformance
