// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "engine/cuda/input_slots.h"

#include <set>

#include "core/error.h"
#include "engine/cuda/input_slots_testing.h"

namespace roentgen::engine::cuda {
namespace {

TEST(InputSlots, every_batch_arrives_whole_on_the_cpu) {
  expect_every_batch_arrives_whole(*runtime::make_cpu_device());
}

TEST(InputSlots, slots_have_the_size_asked_for_and_memory_of_their_own) {
  const auto device = runtime::make_cpu_device();
  const InputSlots slots(*device, two_inputs(), 3);
  std::set<const std::byte*> addresses;
  for (int slot = 0; slot < 3; ++slot) {
    for (std::int64_t input = 0; input < 2; ++input) {
      EXPECT_EQ(slots.slot(input, slot).size(), two_inputs()[static_cast<std::size_t>(input)].bytes);
      addresses.insert(slots.slot(input, slot).data());
    }
  }
  EXPECT_EQ(addresses.size(), 6U);
}

TEST(InputSlots, one_slot_is_enough_and_none_is_refused) {
  const auto device = runtime::make_cpu_device();
  const auto compute = device->make_stream();
  InputSlots slots(*device, two_inputs(), 1);
  for (const std::byte value : {std::byte{1}, std::byte{2}, std::byte{3}}) {
    std::ranges::fill(slots.slot(1, 0), value);
    slots.bind(0, *compute);
    EXPECT_EQ(*slots.bound(1).address(), value);
  }
  EXPECT_THROW(InputSlots(*device, two_inputs(), 0), ConfigError);
}

}  // namespace
}  // namespace roentgen::engine::cuda
