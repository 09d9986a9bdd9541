// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The conformance tests of an engine, for one source file of each test executable. An engine adds a line:
//   RG_CONFORMANCE(Cpu, [] { return make_engine("cpu"); }, {kF32, kBf16})
#pragma once

#include "engine/conformance/conformance_testing.h"

namespace roentgen::engine::conformance {

// Small buckets, so that there are several even here.
TEST_P(Conformance, training) { expect_passes({.form = Form::Training, .threads = 2, .bucket_bytes = 2048}); }

/// Cases in f32 alone: passes, recomputation and inference do the same in every precision.
class ConformanceVariants : public Conformance {};

TEST_P(ConformanceVariants, training_unfused) { expect_passes({.form = Form::Training, .threads = 1, .fuse = "off"}); }

TEST_P(ConformanceVariants, training_keeping_all) {
  expect_passes({.form = Form::Training, .threads = 1, .recompute = "none"});
}

TEST_P(ConformanceVariants, training_recomputing_all) {
  expect_passes({.form = Form::Training, .threads = 2, .recompute = "all"});
}

// Inference folds batch norms into weights: each weight carries one rounding more, less than the next bound's margin,
// which is for sums of many terms.
TEST_P(ConformanceVariants, inference) { expect_passes({.form = Form::Inference, .threads = 1}); }

TEST_P(ConformanceVariants, inference_unfused) {
  expect_passes({.form = Form::Inference, .threads = 1, .fuse = "off"});
}

/// All of the above for an engine: its name, how it is made, and a list of its precisions.
#define RG_CONFORMANCE(Name, make, ...)                                                                 \
  INSTANTIATE_TEST_SUITE_P(Name, Conformance, testing::ValuesIn(trials(make, __VA_ARGS__)), test_name); \
  INSTANTIATE_TEST_SUITE_P(Name, ConformanceVariants, testing::ValuesIn(trials(make, {kF32})), test_name)

}  // namespace roentgen::engine::conformance
