// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Counts heap allocations inside a step. Ours must be none; those that oneDNN makes inside its own library are counted
// apart, by the library the call came from.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string_view>

#include "core/random.h"
#include "engine/cpu/executable.h"
#include "graph/loss.h"
#include "models/model.h"

namespace {
std::atomic<bool> is_counting{false};
std::atomic<int> ours{0};
std::atomic<int> library{0};

[[maybe_unused]] void count(void* caller) {
  if (!is_counting.load(std::memory_order_relaxed)) return;
  Dl_info info{};
  const bool is_library = dladdr(caller, &info) != 0 && info.dli_fname != nullptr &&
                          (std::string_view(info.dli_fname).find("libdnnl") != std::string_view::npos ||
                           std::string_view(info.dli_fname).find("libgomp") != std::string_view::npos);
  ++(is_library ? library : ours);
}
}  // namespace

// Replaced for the whole test program. Sanitizers bring their own; there the count is skipped.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void* operator new(std::size_t size) {
  count(__builtin_return_address(0));
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
constexpr bool kCanCount = true;
#else
constexpr bool kCanCount = false;
#endif

namespace roentgen::engine::cpu {
namespace {

TEST(Allocation, a_step_allocates_nothing_of_ours) {
  if (!kCanCount) GTEST_SKIP() << "SKIPPED: the sanitizer owns operator new; the release build counts allocations";
  for (const char* name : {"resnet18", "densenet121"}) {
    models::ModelConfig config;
    config.name = name;
    config.labels = 3;
    config.channels = 1;
    config.image_px = 32;
    config.batch = 2;
    auto executable = make_executable(graph::with_loss(models::build_model(config), {}), {});
    initialise(*executable, 1);
    const BucketCallback on_bucket = [](std::int64_t) {};
    executable->forward();
    executable->backward(on_bucket);
    ours = 0;
    library = 0;
    is_counting = true;
    for (int step = 0; step < 3; ++step) {
      executable->bind_slot(step % 2);
      executable->set_step(step);
      executable->forward();
      executable->backward(on_bucket);
    }
    is_counting = false;
    EXPECT_EQ(ours.load(), 0) << name;
    RecordProperty(std::string(name) + "_onednn_allocations_per_step", library.load() / 3);
    std::printf("%s: oneDNN's own allocations per step: %d\n", name, library.load() / 3);
  }
}

TEST(Allocation, the_counter_sees_an_allocation) {
  if (!kCanCount) GTEST_SKIP() << "SKIPPED: the sanitizer owns operator new";
  ours = 0;
  is_counting = true;
  int* volatile leak = new int(3);
  is_counting = false;
  delete leak;
  EXPECT_EQ(ours.load(), 1);
}

}  // namespace
}  // namespace roentgen::engine::cpu
