// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests NCCL on a GPU with a group of one rank. Skipped if there is no GPU.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "core/error.h"
#include "dist/comm_thread.h"
#include "dist/nccl_averages.h"
#include "runtime/stream.h"

namespace roentgen::dist {
namespace {

class NcclOnACard : public testing::Test {
 protected:
  void SetUp() override {
    const runtime::CudaInventory inventory = runtime::find_cuda_devices();
    if (inventory.devices.empty()) GTEST_SKIP() << "NO CUDA DEVICE, NOTHING TESTED: " << inventory.why_none;
    device_ = runtime::make_cuda_device(0);
  }
  std::unique_ptr<runtime::Device> device_;
};

TEST_F(NcclOnACard, a_group_of_one_gives_back_its_values_many_times_over) {
  constexpr std::size_t kCount = 1'000'003;
  CommThread comm([] { return make_communicator("single"); }, std::chrono::minutes(1), {.algorithm = "nccl"});
  comm.use_device({.device = *device_, .id = "card"});
  EXPECT_TRUE(comm.device_way().starts_with("NCCL 2.")) << comm.device_way();
  {
    const auto stream = device_->make_stream();
    const auto memory = device_->make_device_buffer(kCount * sizeof(float));
    const auto ready = device_->make_event(), done = device_->make_event();
    std::vector<float> values(kCount), averaged(kCount);
    for (int update = 0; update < 20; ++update) {
      std::iota(values.begin(), values.end(), static_cast<float>(update));
      stream->upload(std::as_bytes(std::span(values)), *memory, 0);
      stream->record(*ready);
      const runtime::DeviceSpan<float> span{reinterpret_cast<float*>(memory->address()), kCount, memory->copies()};
      comm.wait(comm.queue_mean(span, *ready, *done, true, {"gradient bucket", update}));
      stream->wait_for(*done);
      stream->download(*memory, 0, std::as_writable_bytes(std::span(averaged)));
      stream->synchronize();
      ASSERT_EQ(averaged, values) << update;
    }
    comm.settle();
  }
  EXPECT_GT(comm.exposed_s(), 0.0);
  comm.leave_device();
}

TEST_F(NcclOnACard, messages_to_the_own_rank_arrive_in_order) {
  const auto nccl = make_nccl_calls();
  const auto stream = device_->make_stream();
  const auto wait = [&] {
    while (!nccl->is_idle()) std::this_thread::yield();
  };
  nccl->join(nccl->make_id(), 0, 1, *stream);
  wait();
  // Two messages of different sizes, at an address that is not a multiple of 16 bytes.
  constexpr std::size_t kFirst = 100'001, kSecond = 37, kCount = kFirst + kSecond;
  const auto from = device_->make_device_buffer(kCount * sizeof(std::uint16_t));
  const auto to = device_->make_device_buffer(kCount * sizeof(std::uint16_t));
  std::vector<std::uint16_t> values(kCount), got(kCount);
  std::iota(values.begin(), values.end(), std::uint16_t{0});
  const auto part = [](const runtime::DeviceBuffer& memory, std::size_t begin, std::size_t count) {
    return runtime::DeviceSpan<std::uint16_t>{reinterpret_cast<std::uint16_t*>(memory.address()) + begin, count,
                                              memory.copies()};
  };
  stream->upload(std::as_bytes(std::span(values)), *from, 0);
  const NcclMessage sends[] = {{0, part(*from, 0, kFirst)}, {0, part(*from, kFirst, kSecond)}};
  const NcclMessage receives[] = {{0, part(*to, 0, kFirst)}, {0, part(*to, kFirst, kSecond)}};
  nccl->exchange(sends, receives, *stream);
  wait();
  stream->download(*to, 0, std::as_writable_bytes(std::span(got)));
  stream->synchronize();
  EXPECT_EQ(got, values);
  nccl->end();
  wait();
}

TEST_F(NcclOnACard, a_group_may_end_while_an_average_waits_for_its_gradients) {
  CommThread comm([] { return make_communicator("single"); }, std::chrono::minutes(1), {.algorithm = "nccl"});
  comm.use_device({.device = *device_, .id = "card"});
  const auto memory = device_->make_device_buffer(64);
  const auto ready = device_->make_event(), done = device_->make_event();
  const runtime::DeviceSpan<float> span{reinterpret_cast<float*>(memory->address()), 16, memory->copies()};
  comm.wait(comm.queue_mean(span, *ready, *done, true, {"gradient bucket", 0}));
  EXPECT_TRUE(comm.fail());
  done->wait();
  EXPECT_THROW(comm.settle(), CommError);
}

}  // namespace
}  // namespace roentgen::dist
