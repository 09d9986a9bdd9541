// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests streams, events and graphs of the emulated device: one of the schedules reveals a missing wait, and a graph
// keeps the arguments of its capture.
#include "tests/emulated_cuda/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <limits>
#include <span>
#include <thread>

#include "core/error.h"
#include "engine/cuda/launch.h"

namespace roentgen::engine::cuda {
namespace {
__global__ void copy_number(const float* src, float* dst) { *dst = *src; }
__global__ void add_scaled(float* weight, const float* gradient, const float* rate) { *weight += *rate * *gradient; }
__global__ void add_scaled_by_value(float* weight, const float* gradient, float rate) { *weight += rate * *gradient; }
}  // namespace
}  // namespace roentgen::engine::cuda

namespace roentgen::emulated {
namespace {

using engine::cuda::launch;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

float* number_of(const runtime::DeviceBuffer& buffer) { return reinterpret_cast<float*>(buffer.address()); }
std::unique_ptr<runtime::DeviceBuffer> make_number(runtime::Device& device, runtime::Stream& stream, float value) {
  auto buffer = device.make_device_buffer(sizeof(float));
  stream.upload(std::as_bytes(std::span(&value, 1)), *buffer, 0);
  return buffer;
}
float read(runtime::Stream& stream, const runtime::DeviceBuffer& buffer) {
  float value = kNan;
  stream.download(buffer, 0, std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

/// Planted bug: the wait that a training loop omits.
enum class Missing { Nothing, UploadBeforeStep, SlotFree, BufferFree };

/// Three steps: upload on one stream from one pinned slot, weight += rate * gradient on another, two gradient buffers.
float train(const DeviceOptions& options, Missing missing) {
  EmulatedDevice device(options);
  const auto upload = device.make_stream(), compute = device.make_stream();
  const auto slot = device.make_pinned_buffer(sizeof(float));
  const auto weight = make_number(device, *compute, 0), rate = make_number(device, *compute, 10);
  const std::array gradients{make_number(device, *compute, kNan), make_number(device, *compute, kNan)};
  const std::array uploaded{device.make_event(), device.make_event()}, used{device.make_event(), device.make_event()};
  for (std::size_t step = 0; step < 4; ++step) {
    const std::size_t i = step % 2;
    if (missing != Missing::SlotFree) uploaded[1 - i]->wait();
    const auto value = static_cast<float>(step + 1);
    std::memcpy(slot->bytes().data(), &value, sizeof value);
    if (missing != Missing::BufferFree) upload->wait_for(*used[i]);
    upload->upload(*slot, *gradients[i]);
    upload->record(*uploaded[i]);
    if (missing != Missing::UploadBeforeStep) compute->wait_for(*uploaded[i]);
    launch(*compute, "add", {}, &engine::cuda::add_scaled, number_of(*weight), number_of(*gradients[i]),
           number_of(*rate));
    compute->record(*used[i]);
  }
  compute->synchronize();
  return read(*compute, *weight);
}

bool some_schedule_is_wrong(Missing missing) {
  bool is_wrong = false;
  for (const Schedule schedule : kSchedules) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      is_wrong = is_wrong || train({.schedule = schedule, .seed = seed}, missing) != 100.0F;
    }
  }
  return is_wrong;
}

TEST(EmulatedCuda, every_schedule_gives_the_result_of_a_loop_that_waits) {
  EXPECT_FALSE(some_schedule_is_wrong(Missing::Nothing));
}

TEST(EmulatedCuda, missing_waits_show_in_some_schedule) {
  EXPECT_TRUE(some_schedule_is_wrong(Missing::UploadBeforeStep));
  EXPECT_TRUE(some_schedule_is_wrong(Missing::SlotFree));
  EXPECT_TRUE(some_schedule_is_wrong(Missing::BufferFree));
}

TEST(EmulatedCuda, work_runs_only_when_the_host_waits) {
  EmulatedDevice device;
  const auto stream = device.make_stream();
  const auto src = make_number(device, *stream, 3), dst = make_number(device, *stream, 0);
  const auto event = device.make_event();
  EXPECT_TRUE(event->is_reached());
  launch(*stream, "copy", {}, &engine::cuda::copy_number, number_of(*src), number_of(*dst));
  stream->record(*event);
  EXPECT_EQ(*number_of(*dst), 0.0F);
  event->wait();
  EXPECT_EQ(*number_of(*dst), 3.0F);
  EXPECT_TRUE(event->is_reached());
}

TEST(EmulatedCuda, polling_an_event_makes_progress) {
  EmulatedDevice device;
  const auto stream = device.make_stream();
  const auto src = make_number(device, *stream, 3), dst = make_number(device, *stream, 0);
  const auto event = device.make_event();
  launch(*stream, "copy", {}, &engine::cuda::copy_number, number_of(*src), number_of(*dst));
  launch(*stream, "copy", {}, &engine::cuda::copy_number, number_of(*src), number_of(*dst));
  stream->record(*event);
  EXPECT_FALSE(event->is_reached());
  EXPECT_TRUE(event->is_reached());
}

TEST(EmulatedCuda, only_needed_work_runs_in_that_schedule) {
  EmulatedDevice device({.schedule = Schedule::OnlyNeeded});
  const auto one = device.make_stream(), other = device.make_stream();
  const auto src = make_number(device, *one, 3), dst = make_number(device, *one, 0);
  launch(*other, "copy", {}, &engine::cuda::copy_number, number_of(*src), number_of(*dst));
  one->synchronize();
  EXPECT_EQ(*number_of(*dst), 0.0F);
  other->synchronize();
  EXPECT_EQ(*number_of(*dst), 3.0F);
}

/// Weight after three replays of a graph with rates 1, 2 and 4 and gradient 1.
float replay(Schedule schedule, bool is_rate_in_memory) {
  EmulatedDevice device({.schedule = schedule});
  const auto owner = device.make_stream();
  EmulatedStream& stream = as_emulated(*owner);
  const auto weight = make_number(device, stream, 0), gradient = make_number(device, stream, 1);
  const auto rate = make_number(device, stream, 1);
  const auto pinned = device.make_pinned_buffer(sizeof(float));
  float current_rate = 1;
  stream.begin_capture();
  if (is_rate_in_memory) {
    launch(stream, "add", {}, &engine::cuda::add_scaled, number_of(*weight), number_of(*gradient), number_of(*rate));
  } else {
    launch(stream, "add", {}, &engine::cuda::add_scaled_by_value, number_of(*weight), number_of(*gradient),
           current_rate);
  }
  const std::shared_ptr<const Graph> graph = stream.end_capture();
  for (; current_rate <= 4; current_rate *= 2) {
    std::memcpy(pinned->bytes().data(), &current_rate, sizeof current_rate);
    stream.upload(*pinned, *rate);
    stream.replay(graph);
    stream.synchronize();
  }
  return read(stream, *weight);
}

TEST(EmulatedCuda, graph_reads_device_memory_at_each_replay_and_keeps_arguments) {
  for (const Schedule schedule : kSchedules) {
    EXPECT_EQ(replay(schedule, true), 7.0F);
    EXPECT_EQ(replay(schedule, false), 3.0F) << "a rate passed by value is baked in";
  }
}

TEST(EmulatedCuda, capture_takes_streams_that_fork_from_it_and_refuses_those_that_do_not_join) {
  EmulatedDevice device({.schedule = Schedule::LatestFirst});
  const auto owner = device.make_stream(), side = device.make_stream();
  EmulatedStream& stream = as_emulated(*owner);
  const auto src = make_number(device, stream, 5), half = make_number(device, stream, 0);
  const auto dst = make_number(device, stream, 0);
  const auto fork = device.make_event(), join = device.make_event();
  const auto capture = [&](bool joins) {
    stream.begin_capture();
    launch(stream, "first", {}, &engine::cuda::copy_number, number_of(*src), number_of(*half));
    stream.record(*fork);
    side->wait_for(*fork);
    launch(*side, "on the side", {}, &engine::cuda::copy_number, number_of(*half), number_of(*dst));
    side->record(*join);
    if (joins) stream.wait_for(*join);
    return stream.end_capture();
  };
  const auto graph = capture(true);
  EXPECT_EQ(*number_of(*dst), 0.0F);
  stream.replay(graph);
  EXPECT_EQ(read(stream, *dst), 5.0F);
  EXPECT_THAT([&] { static_cast<void>(capture(false)); }, ThrowsMessage<DeviceError>(HasSubstr("on the side")));
}

TEST(EmulatedCuda, capture_refuses_waits_of_the_host_and_new_memory) {
  EmulatedDevice device;
  const auto owner = device.make_stream();
  EmulatedStream& stream = as_emulated(*owner);
  const auto event = device.make_event();
  const auto buffer = make_number(device, stream, 1);
  stream.begin_capture();
  launch(stream, "copy", {}, &engine::cuda::copy_number, number_of(*buffer), number_of(*buffer));
  stream.record(*event);
  EXPECT_THROW(stream.synchronize(), DeviceError);
  EXPECT_THROW(event->wait(), DeviceError);
  EXPECT_THROW(static_cast<void>(device.make_device_buffer(4)), DeviceError);
  EXPECT_THROW(static_cast<void>(read(stream, *buffer)), DeviceError) << "other memory than pinned";
  static_cast<void>(stream.end_capture());
}

TEST(EmulatedCuda, errors_of_kernels_come_with_every_later_wait) {
  EmulatedDevice device;
  const auto stream = device.make_stream();
  const auto buffer = make_number(device, *stream, 1);
  launch(*stream, "no device", {.threads = 2000}, &engine::cuda::copy_number, number_of(*buffer), number_of(*buffer));
  EXPECT_THROW(stream->synchronize(), DeviceError);
  EXPECT_THROW(stream->synchronize(), DeviceError);
}

TEST(EmulatedCuda, streams_of_other_devices_are_refused) {
  const auto cpu = runtime::make_cpu_device();
  const auto stream = cpu->make_stream();
  EXPECT_THROW(static_cast<void>(as_emulated(*stream)), DeviceError);
}

TEST(EmulatedDevice, work_that_waits_for_others_is_tried_again_while_other_streams_go_on) {
  for (const Schedule schedule : kSchedules) {
    EmulatedDevice device({.schedule = schedule});
    const auto waiting = device.make_stream(), computing = device.make_stream();
    const auto begun = device.make_event(), after = device.make_event();
    std::atomic<bool> is_open = false;
    std::atomic<int> tries = 0;
    as_emulated(*waiting).attempt("waits for another", [&] {
      ++tries;
      return is_open.load();
    });
    waiting->record(*after);
    const auto number = make_number(device, *computing, 3);
    computing->record(*begun);
    begun->wait();
    EXPECT_FALSE(after->is_reached());
    EXPECT_EQ(read(*computing, *number), 3);
    const std::jthread other([&] {  // polls like a communication thread
      while (tries < 3) static_cast<void>(after->is_reached());
      is_open = true;
    });
    computing->wait_for(*after);
    EXPECT_EQ(read(*computing, *number), 3);
    EXPECT_TRUE(after->is_reached());
  }
}

TEST(EmulatedDevice, another_thread_may_wait_while_one_captures) {
  EmulatedDevice device;
  const auto captured = device.make_stream(), other = device.make_stream();
  const auto number = device.make_device_buffer(sizeof(float));
  const auto event = device.make_event();
  const float one = 1;
  other->upload(std::as_bytes(std::span(&one, 1)), *number, 0);
  other->record(*event);
  as_emulated(*captured).begin_capture();
  {
    const std::jthread polling([&] {
      event->wait();
      EXPECT_TRUE(event->is_reached());
    });
  }
  EXPECT_THROW(event->wait(), DeviceError) << "this thread captures";
  static_cast<void>(as_emulated(*captured).end_capture());
  event->wait();
}

}  // namespace
}  // namespace roentgen::emulated
