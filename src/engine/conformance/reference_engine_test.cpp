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

}  // namespace
}  // namespace roentgen::engine::conformance
