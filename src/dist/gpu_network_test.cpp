// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "dist/gpu_network.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/folder_testing.h"
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

TEST(NcclInterfaces, follow_names_of_open_mpi_only) {
  EXPECT_EQ(nccl_interfaces("lo"), "=lo");
  EXPECT_EQ(nccl_interfaces("no-such.0,lo"), "=no-such.0,lo");
  for (const char* text : {"", ",", "lo,", "no-such.0", "127.0.0.0/8", "127.0.0.1", "lo,127.0.0.0/8", "lo, lo", "^lo",
                           "=lo", "lo:1", "fe80::1", "sppp,127"}) {
    EXPECT_EQ(nccl_interfaces(text), "") << text;
  }
}

TEST(NcclInterfaces, are_set_unless_the_user_or_a_file_of_nccl_names_them) {
  const TemporaryFolder folder;
  const std::string file = folder.path() / "nccl.conf";
  std::ofstream(file) << "# NCCL_SOCKET_IFNAME=eth0\nNCCL_DEBUG=WARN\n";
  const auto interfaces = [] {
    follow_mpi_interfaces();
    const char* set = std::getenv("NCCL_SOCKET_IFNAME");
    return std::string(set == nullptr ? "" : set);
  };
  ASSERT_EQ(::setenv("NCCL_CONF_FILE", file.c_str(), 1), 0);
  ASSERT_EQ(::unsetenv("NCCL_SOCKET_IFNAME"), 0);
  ASSERT_EQ(::unsetenv("OMPI_MCA_btl_tcp_if_include"), 0);
  EXPECT_EQ(interfaces(), "") << "MPI is not limited";
  ASSERT_EQ(::setenv("OMPI_MCA_btl_tcp_if_include", "lo", 1), 0);
  EXPECT_EQ(interfaces(), "=lo");
  ASSERT_EQ(::setenv("NCCL_SOCKET_IFNAME", "eth1", 1), 0);
  EXPECT_EQ(interfaces(), "eth1");
  ASSERT_EQ(::unsetenv("NCCL_SOCKET_IFNAME"), 0);
  std::ofstream(file, std::ios::app) << "NCCL_SOCKET_IFNAME=eth0\n";
  EXPECT_EQ(interfaces(), "") << "NCCL reads its file";
  ASSERT_EQ(::unsetenv("NCCL_CONF_FILE"), 0);
  ASSERT_EQ(::unsetenv("OMPI_MCA_btl_tcp_if_include"), 0);
}

TEST(NcclMessages, go_to_stderr_unless_that_is_a_file) {
  const TemporaryFolder folder;
  const int before = ::dup(STDERR_FILENO);
  const auto file_of_messages = [&](int target) {
    ::dup2(target, STDERR_FILENO);
    send_nccl_messages_to_stderr();
    ::dup2(before, STDERR_FILENO);
    const char* set = std::getenv("NCCL_DEBUG_FILE");
    const std::string file = set == nullptr ? "" : set;
    ::unsetenv("NCCL_DEBUG_FILE");
    return file;
  };
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const int file = ::open((folder.path() / "log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(::unsetenv("NCCL_DEBUG"), 0);
  EXPECT_EQ(file_of_messages(pipe[1]), "") << "there are no messages";
  ASSERT_EQ(::setenv("NCCL_DEBUG", "WARN", 1), 0);
  EXPECT_EQ(file_of_messages(pipe[1]), "/dev/stderr");
  EXPECT_EQ(file_of_messages(file), "");
  ASSERT_EQ(::setenv("NCCL_DEBUG_FILE", "mine", 1), 0);
  EXPECT_EQ(file_of_messages(pipe[1]), "mine");
  ASSERT_EQ(::unsetenv("NCCL_DEBUG"), 0);
  for (const int each : {pipe[0], pipe[1], file, before}) ::close(each);
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

TEST(Nccl, is_refused_by_its_version_before_its_functions_are_looked_up) {
  if (least_nccl_version().empty()) GTEST_SKIP() << "a build without nccl.h";
  ASSERT_EQ(least_nccl_version(), "2.19.1");
  ASSERT_EQ(::setenv("ROENTGEN_NCCL", RG_FAKE_NCCL, 1), 0);
  const auto refusal = [](const char* version) -> std::string {
    ::setenv("FAKE_NCCL_VERSION", version, 1);
    try {
      static_cast<void>(make_nccl_calls());
    } catch (const CommError& error) {
      return error.what();
    }
    return "no error";
  };
  for (const auto& [number, version] :
       {std::pair("2708", "2.7.8"), std::pair("21806", "2.18.6"), std::pair("21900", "2.19.0")}) {
    EXPECT_EQ(refusal(number), std::string("[dist.nccl] NCCL: expected NCCL 2.19.1 or newer, got NCCL ") + version +
                                   "; try pip install nvidia-nccl-cu13, ROENTGEN_NCCL=FILE with another libnccl.so.2, "
                                   "or --reduce auto");
  }
  // Accepted versions, also newer ones than the header's; but the fake has no more functions.
  for (const char* number : {"21901", "22809", "23100"}) {
    EXPECT_NE(refusal(number).find("expected a library with the function ncclGetUniqueId"), std::string::npos)
        << number;
  }
  ASSERT_EQ(::unsetenv("FAKE_NCCL_VERSION"), 0);
  ASSERT_EQ(::unsetenv("ROENTGEN_NCCL"), 0);
}

}  // namespace
}  // namespace roentgen::dist
