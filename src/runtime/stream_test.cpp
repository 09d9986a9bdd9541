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

TEST(CudaInventory, of_a_machine_without_driver_or_with_an_old_one_says_so) {
  EXPECT_EQ(why_no_cuda_devices("words", 0, 13000), "no NVIDIA driver: words");
  EXPECT_EQ(why_no_cuda_devices("words", 12040, 13000),
            "the NVIDIA driver knows CUDA 12.4, this program needs 13.0: words");
  EXPECT_EQ(why_no_cuda_devices("no CUDA-capable device is detected", 13010, 13000),
            "no CUDA-capable device is detected");
  // CUDA versions with the same major number are compatible.
  EXPECT_EQ(why_no_cuda_devices("words", 13000, 13010), "words");
}

TEST(CudaInventory, of_a_device_that_is_too_old_refuses_it_by_name) {
  const CudaInventory turing{.devices = {{.index = 0, .name = "T4", .compute_capability = 75}}};
  EXPECT_EQ(refusal(turing, 0),
            "[runtime.cuda] device cuda:0: expected compute capability 8.0 or later, got 7.5, T4; try --device cpu");
  const CudaInventory ampere{.devices = {{.index = 0, .name = "A100", .compute_capability = 80}}};
  EXPECT_EQ(pick_cuda_device(ampere, 0).name, "A100");
}

TEST(DeviceMemory, that_does_not_suffice_is_refused_with_both_numbers) {
  EXPECT_NO_THROW(require_device_memory("cuda:0", "the plan", 100, 100));
  try {
    require_device_memory("cuda:0", "the plan", 3U << 20, 1U << 20);
    FAIL() << "more than there is";
  } catch (const DeviceError& error) {
    EXPECT_STREQ(error.what(),
                 "[runtime.device] memory of cuda:0: expected at most 1.0 MiB (free memory), got 3.0 MiB for the plan; "
                 "try a smaller batch, or recompute=all");
  }
}

TEST(CudaInventory, of_one_or_more_devices_says_which_there_are) {
  const CudaInventory one{.devices = {{.index = 0, .name = "A", .compute_capability = 80}}};
  const CudaInventory two{.devices = {{.index = 0, .name = "A", .compute_capability = 80},
                                      {.index = 1, .name = "B", .compute_capability = 90}}};
  EXPECT_EQ(pick_cuda_device(two, 1).name, "B");
  EXPECT_EQ(refusal(one, 7),
            "[runtime.cuda] device cuda:7: expected cuda:0, the only CUDA device, got cuda:7; try --device cpu");
  EXPECT_EQ(refusal(two, 7),
            "[runtime.cuda] device cuda:7: expected one of cuda:0 to cuda:1, got cuda:7; try --device cpu");
  EXPECT_EQ(refusal({.why_none = "no driver"}, 0),
            "[runtime.cuda] device cuda:0: expected a CUDA device, got none: no driver; try --device cpu");
}

}  // namespace
}  // namespace roentgen::runtime
