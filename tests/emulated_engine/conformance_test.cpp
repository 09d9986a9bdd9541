// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The CUDA engine, emulated, against the double reference, over every case of every op (engine/conformance).
#include <gtest/gtest.h>

#include "engine/conformance/conformance.h"
#include "engine/cuda/tolerances_testing.h"
#include "graph/text.h"
#include "tests/emulated_engine/emulated_engine.h"

namespace roentgen::emulated {
namespace {
using engine::CompileOptions;
using engine::Form;
using engine::conformance::Case;

void expect_all_pass(const CompileOptions& compile) {
  EmulatedEngine engine;
  for (const Case& tested : engine::conformance::all_cases()) {
    const auto report = engine::conformance::run_case(engine, tested, engine::cuda::run_options(tested, compile));
    EXPECT_TRUE(report.passed()) << tested.name << "\n" << report.failures() << graph::print_graph(tested.graph);
  }
}

TEST(EmulatedCuda, engine_conforms_in_training) { expect_all_pass({.form = Form::Training, .bucket_bytes = 2048}); }

TEST(EmulatedCuda, engine_conforms_in_training_without_fusions) {
  expect_all_pass({.form = Form::Training, .fuse = "off"});
}

TEST(EmulatedCuda, engine_conforms_in_training_in_bf16) {
  expect_all_pass({.form = Form::Training, .bucket_bytes = 2048, .dtype = DType::Bf16});
}

TEST(EmulatedCuda, engine_conforms_in_inference) {
  for (const char* fuse : {"on", "off"}) expect_all_pass({.form = Form::Inference, .fuse = fuse});
}

}  // namespace
}  // namespace roentgen::emulated
