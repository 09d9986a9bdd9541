// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Times decide, those that were kept as those that are taken; without tiles nobody is asked.
#include "engine/cpu/dtype_choice.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "core/error.h"
#include "core/folder_testing.h"
#include "engine/conformance/cases.h"
#include "engine/cpu/simd/tiles.h"
#include "engine/cpu/timing_store.h"

namespace roentgen::engine::cpu {
namespace {

// A cache folder of the test's own.
class DtypeChoice : public testing::Test {
 protected:
  void SetUp() override {
    if (const char* before = std::getenv("XDG_CACHE_HOME")) before_ = before;
    ::setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);
  }
  void TearDown() override { before_ ? ::setenv("XDG_CACHE_HOME", before_->c_str(), 1) : ::unsetenv("XDG_CACHE_HOME"); }
  void keep(double f32_s, double bf16_s) const {
    TimingStore store(timing_file(), timing_machine());
    store.put(dtype_key(graph_, options_), {{"f32", f32_s}, {"bf16", bf16_s}});
  }
  std::string planned() const { return engine_->plan(graph_, options_).dtype(); }
  std::string compiled() const { return engine_->compile(graph_, options_)->plan().dtype(); }

  const TemporaryFolder folder_;
  std::optional<std::string> before_;
  const graph::Graph graph_ = conformance::network_cases().front().graph;
  const CompileOptions options_{.threads = 1, .dtype = "auto"};
  const std::unique_ptr<Engine> engine_ = make_engine("cpu");
};

TEST_F(DtypeChoice, follows_what_was_measured) {
  if (!simd::bf16_unit()) {
    EXPECT_EQ(planned(), "f32");
    EXPECT_EQ(compiled(), "f32");
    GTEST_SKIP() << "SKIPPED: this machine has no bf16 products (AMX or AVX-512)";
  }
  EXPECT_THROW(static_cast<void>(planned()), ConfigError) << "a plan takes no time of its own";
  for (const auto& [f32_s, bf16_s, expected] :
       {std::tuple{1.0, 0.5, "bf16"}, std::tuple{1.0, 0.97, "f32"}, std::tuple{1.0, 1.5, "f32"}}) {
    keep(f32_s, bf16_s);
    EXPECT_EQ(planned(), expected) << bf16_s;
    EXPECT_EQ(compiled(), expected) << bf16_s;
  }
}

TEST_F(DtypeChoice, measures_once_and_keeps_it) {
  if (!simd::bf16_unit()) GTEST_SKIP() << "SKIPPED: this machine has no bf16 products (AMX or AVX-512)";
  const std::string first = compiled();
  const auto kept = TimingStore(timing_file(), timing_machine()).find(dtype_key(graph_, options_), {"f32", "bf16"});
  ASSERT_TRUE(kept.has_value());
  EXPECT_GT(kept->at("f32"), 0.0);
  EXPECT_GT(kept->at("bf16"), 0.0);
  EXPECT_EQ(planned(), first);
  EXPECT_EQ(compiled(), first);
}

TEST_F(DtypeChoice, is_f32_for_inference_and_refuses_what_it_does_not_know) {
  CompileOptions options = options_;
  options.form = Form::Inference;
  EXPECT_EQ(engine_->compile(graph_, options)->plan().dtype(), "f32");
  options = options_;
  options.dtype = "f16";
  EXPECT_THROW(static_cast<void>(engine_->compile(graph_, options)), ConfigError);
}

}  // namespace
}  // namespace roentgen::engine::cpu
