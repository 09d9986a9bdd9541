// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "dist/gpu_network.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "core/error.h"
#include "dist/nccl_calls.h"

namespace roentgen::dist {
namespace {

TEST(Gdr, words_stand_for_levels_of_nccl) {
  EXPECT_EQ(gdr_level("auto"), "");
  EXPECT_EQ(gdr_level("on"), "SYS");
  EXPECT_EQ(gdr_level("off"), "LOC");
  for (const char* level : {"LOC", "PIX", "PXB", "PHB", "SYS"}) EXPECT_EQ(gdr_level(level), level);
  try {
    set_gdr("maybe");
    FAIL() << "a level";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(
        error.what(),
        "[dist.gdr] --gdr: expected auto, on, off, LOC, PIX, PXB, PHB or SYS, got maybe; try one of these values");
  }
}

TEST(Gdr, auto_leaves_what_the_user_has_set) {
  ASSERT_EQ(::setenv("NCCL_NET_GDR_LEVEL", "PXB", 1), 0);
  set_gdr("auto");
  EXPECT_STREQ(std::getenv("NCCL_NET_GDR_LEVEL"), "PXB");
  set_gdr("off");
  EXPECT_STREQ(std::getenv("NCCL_NET_GDR_LEVEL"), "LOC");
  ASSERT_EQ(::unsetenv("NCCL_NET_GDR_LEVEL"), 0);
}

TEST(GpuNetwork, of_this_machine_is_named_or_absent) {
  const std::string ucx = ucx_version();
  EXPECT_TRUE(ucx.empty() || ucx.starts_with("UCX")) << ucx;
  MpiLibrary nobody{.family = kMpich, .file = "none", .version = "none"};
  EXPECT_FALSE(is_cuda_aware(nobody).has_value()) << "this process has no such function";
}

TEST(GpuNetwork, a_cuda_aware_mpi_is_known_by_its_answer) {
  MpiLibrary aware{.family = kOpenMpi, .file = RG_CUDA_AWARE_MPI, .version = "none"};
  aware.handle = ::dlopen(RG_CUDA_AWARE_MPI, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(aware.handle, nullptr) << ::dlerror();
  EXPECT_EQ(is_cuda_aware(aware), std::optional(true));
}

TEST(Nccl, that_cannot_be_loaded_is_refused_with_the_reason) {
  ASSERT_EQ(::setenv("ROENTGEN_NCCL", "/nowhere/libnccl.so.2", 1), 0);
  try {
    static_cast<void>(make_nccl_calls());
    ADD_FAILURE() << "a library";
  } catch (const CommError& error) {
    const std::string said = error.what();
    const std::string needed = least_nccl_version();
    if (needed.empty()) {
      EXPECT_NE(said.find("nccl.h"), std::string::npos) << said;
    } else {
      EXPECT_NE(said.find("/nowhere/libnccl.so.2"), std::string::npos) << said;
      EXPECT_NE(said.find("NCCL " + needed + " or newer"), std::string::npos) << said;
    }
  }
  ASSERT_EQ(::unsetenv("ROENTGEN_NCCL"), 0);
}

}  // namespace
}  // namespace roentgen::dist
