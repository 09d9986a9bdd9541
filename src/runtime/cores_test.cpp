// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "runtime/cores.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <limits>
#include <string>
#include <thread>

namespace roentgen::runtime {
namespace {

TEST(AvailableCores, are_at_least_one_and_at_most_the_affinity_mask) {
  cpu_set_t mask;
  ASSERT_EQ(sched_getaffinity(0, sizeof(mask), &mask), 0);
  EXPECT_GE(available_cores(), 1);
  EXPECT_LE(available_cores(), CPU_COUNT(&mask));
}

TEST(AvailableHardwareThreads, are_those_of_the_affinity_mask) {
  cpu_set_t mask;
  ASSERT_EQ(sched_getaffinity(0, sizeof(mask), &mask), 0);
  EXPECT_EQ(available_hardware_threads(), CPU_COUNT(&mask));
}

TEST(AvailableCores, are_one_in_a_process_bound_to_one) {
  // runs in a child process, because the number is determined once per process
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        cpu_set_t mask;
        bool is_bound = sched_getaffinity(0, sizeof(mask), &mask) == 0;
        for (int cpu = 0, kept = 0; cpu < CPU_SETSIZE; ++cpu) {
          if (CPU_ISSET(cpu, &mask) != 0 && ++kept > 1) CPU_CLR(cpu, &mask);
        }
        is_bound = is_bound && sched_setaffinity(0, sizeof(mask), &mask) == 0;
        _exit(is_bound ? available_cores() : 100);
      },
      testing::ExitedWithCode(1), "");
}

TEST(DefaultComputeThreads, are_what_omp_num_threads_says_when_it_is_a_number) {
  const char* old = std::getenv("OMP_NUM_THREADS");
  const std::string before = old == nullptr ? "" : old;
  ASSERT_EQ(::setenv("OMP_NUM_THREADS", "1", 1), 0);
  EXPECT_EQ(default_compute_threads(), 1);
  for (const char* too_many : {"100000", "99999999999999999999", "100000,2"}) {
    ASSERT_EQ(::setenv("OMP_NUM_THREADS", too_many, 1), 0);
    EXPECT_EQ(default_compute_threads(), available_hardware_threads()) << too_many;
  }
  for (const char* useless : {"0", "-3", "many", ""}) {
    ASSERT_EQ(::setenv("OMP_NUM_THREADS", useless, 1), 0);
    EXPECT_EQ(default_compute_threads(), available_cores()) << useless;
  }
  ASSERT_EQ(::unsetenv("OMP_NUM_THREADS"), 0);
  EXPECT_EQ(default_compute_threads(), available_cores());
  if (old != nullptr) {
    ASSERT_EQ(::setenv("OMP_NUM_THREADS", before.c_str(), 1), 0);
  }
}

/// Computes half of the smallest normal float: a denormal, or 0 if results are flushed to zero.
float half_of_smallest_normal() {
  volatile float smallest = std::numeric_limits<float>::min();
  volatile float half = smallest * 0.5F;
  return half;
}

/// Doubles a denormal: a normal number, or 0 if denormal inputs count as zero.
float twice_a_denormal() {
  volatile float denormal = std::numeric_limits<float>::denorm_min();
  volatile float twice = denormal * 0x1p100F;
  return twice;
}

TEST(Denormals, become_zero_as_results_and_as_inputs_in_the_calling_thread) {
  float result = 1.0F;
  float from_input = 1.0F;
  std::jthread([&] {
    flush_denormals_to_zero();
    result = half_of_smallest_normal();
    from_input = twice_a_denormal();
  }).join();
  EXPECT_EQ(result, 0.0F);
  EXPECT_EQ(from_input, 0.0F);
}

TEST(Denormals, stay_in_threads_that_did_not_ask) {
  float result = 0.0F;
  std::jthread([] { flush_denormals_to_zero(); }).join();
  std::jthread([&] { result = half_of_smallest_normal(); }).join();
  EXPECT_GT(result, 0.0F);
}

TEST(Denormals, flushing_leaves_normal_numbers_alone) {
  float result = 0.0F;
  std::jthread([&] {
    flush_denormals_to_zero();
    volatile float smallest = std::numeric_limits<float>::min();
    result = smallest * 2.0F;
  }).join();
  EXPECT_EQ(result, 2.0F * std::numeric_limits<float>::min());
}

}  // namespace
}  // namespace roentgen::runtime
