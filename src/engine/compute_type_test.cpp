// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "engine/compute_type.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "core/error.h"

namespace roentgen::engine {
namespace {

std::string refusal(const std::function<void()>& work) {
  try {
    work();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(ComputeType, is_read_by_the_name_that_it_prints) {
  for (const ComputeType type :
       {ComputeType(DType::F32), ComputeType::tf32(), ComputeType(DType::Bf16), ComputeType(DType::F16)}) {
    EXPECT_EQ(parse_dtype(name_of(type)), type) << name_of(type);
  }
  EXPECT_EQ(parse_dtype("auto"), std::nullopt);
  EXPECT_NE(parse_dtype("tf32"), parse_dtype("f32"));
  EXPECT_EQ(parse_dtype("tf32")->values, DType::F32);
  EXPECT_EQ(refusal([] { static_cast<void>(parse_dtype("f64")); }),
            "[engine.options] dtype: expected f32, tf32, bf16, f16 or auto, got f64; try f32");
}

TEST(ComputeType, of_cuda_devices_is_refused_on_the_host_by_name) {
  for (const char* name : {"f32", "bf16", "auto"}) EXPECT_NO_THROW(require_host_type(parse_dtype(name))) << name;
  EXPECT_EQ(refusal([] { require_host_type(parse_dtype("tf32")); }),
            "[engine.cpu] dtype: expected f32, bf16 or auto on a CPU, got tf32; try --dtype f32, or --device cuda");
  EXPECT_EQ(refusal([] { require_host_type(parse_dtype("f16")); }),
            "[engine.cpu] dtype: expected f32, bf16 or auto on a CPU, got f16; try --dtype f32, or --device cuda");
}

}  // namespace
}  // namespace roentgen::engine
