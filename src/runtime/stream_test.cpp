// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "runtime/stream.h"

#include "runtime/stream_testing.h"

namespace roentgen::runtime {
namespace {

TEST(CpuDevice, is_called_cpu) { EXPECT_EQ(make_cpu_device()->name(), "cpu"); }
TEST(CpuDevice, memory_is_zeroed_and_aligned) { expect_memory_is_zeroed_and_aligned(*make_cpu_device()); }
TEST(CpuDevice, bytes_come_back) { expect_bytes_come_back(*make_cpu_device()); }
TEST(CpuDevice, parts_come_back) { expect_parts_come_back(*make_cpu_device()); }
TEST(CpuDevice, second_stream_waits_for_event) { expect_second_stream_waits_for_event(*make_cpu_device()); }
TEST(CpuDevice, event_counts_as_reached_before_its_first_record) {
  expect_event_counts_as_reached_before_its_first_record(*make_cpu_device());
}
TEST(CpuDevice, host_may_write_after_event) { expect_host_may_write_after_event(*make_cpu_device()); }
TEST(CpuDevice, copies_into_too_little_are_refused) { expect_copies_into_too_little_are_refused(*make_cpu_device()); }
TEST(CpuDevice, no_bytes_are_fine) { expect_no_bytes_are_fine(*make_cpu_device()); }
TEST(CpuDevice, absurd_sizes_are_refused) { expect_absurd_sizes_are_refused(*make_cpu_device()); }

TEST(CudaInventory, has_devices_or_a_reason_on_one_line) {
  const CudaInventory inventory = find_cuda_devices();
  EXPECT_EQ(inventory.devices.empty(), !inventory.why_none.empty());
  EXPECT_EQ(inventory.why_none.find('\n'), std::string::npos) << inventory.why_none;
}

TEST(CudaInventory, a_device_beyond_it_is_refused_in_one_line) {
  const auto count = static_cast<int>(find_cuda_devices().devices.size());
  for (const int index : {-1, count}) {
    try {
      static_cast<void>(make_cuda_device(index));
      FAIL() << "cuda:" << index << " was made";
    } catch (const DeviceError& error) {
      const std::string_view text = error.what();
      EXPECT_TRUE(text.starts_with("[runtime.cuda] device cuda")) << text;
      EXPECT_EQ(text.find('\n'), std::string_view::npos) << text;
    }
  }
}

std::string refusal(const CudaInventory& inventory, int index) {
  try {
    static_cast<void>(pick_cuda_device(inventory, index));
  } catch (const DeviceError& error) {
    return error.what();
  }
  return "";
}

TEST(CudaInventory, of_one_or_more_devices_says_which_there_are) {
  const CudaInventory one{.devices = {{.index = 0, .name = "A"}}};
  const CudaInventory two{.devices = {{.index = 0, .name = "A"}, {.index = 1, .name = "B"}}};
  EXPECT_EQ(pick_cuda_device(two, 1).name, "B");
  EXPECT_EQ(refusal(one, 7),
            "[runtime.cuda] device cuda:7: expected cuda:0, the only CUDA device, got cuda:7; try the device cpu");
  EXPECT_EQ(refusal(two, 7),
            "[runtime.cuda] device cuda:7: expected one of cuda:0 to cuda:1, got cuda:7; try the device cpu");
  EXPECT_EQ(refusal({.why_none = "no driver"}, 0),
            "[runtime.cuda] device cuda:0: expected a CUDA device, got none: no driver; try the device cpu");
}

}  // namespace
}  // namespace roentgen::runtime
