// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests CommThread on a communicator whose collectives end only when the test allows it.
#include "dist/comm_thread.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <string>

#include "core/error.h"
#include "runtime/twin_device_testing.h"

namespace roentgen::dist {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAnHour{3'600'000};

/// Controls when collectives end or fail, and counts those that started.
struct Script {
  /// Collectives with a lower number may end.
  std::atomic<std::int64_t> allowed = 1'000'000;
  /// Number of the collective that fails; -1: none.
  std::atomic<std::int64_t> failing = -1;
  std::atomic<std::int64_t> started = 0;
  std::atomic<bool> is_abandoned = false;
  std::atomic<bool> is_gone = false;
  std::thread::id owner{};
  std::atomic<bool> has_strayed = false;
};

/// Communicator whose average doubles the values when it ends, so that the test can see the end.
class Doubling final : public Communicator {
 public:
  explicit Doubling(Script& script) : script_(script) { script_.owner = std::this_thread::get_id(); }
  Doubling(const Doubling&) = delete;
  Doubling& operator=(const Doubling&) = delete;
  ~Doubling() override {
    look();
    script_.is_gone = true;
  }
  [[nodiscard]] std::string_view name() const override { return "doubling"; }
  [[nodiscard]] int rank() const override { return 3; }
  [[nodiscard]] int size() const override { return 5; }
  [[nodiscard]] int local_rank() const override { return 0; }
  [[nodiscard]] int local_size() const override { return 1; }
  [[nodiscard]] std::string_view host(int /*rank*/) const override { return "node"; }
  Pending broadcast(std::span<std::byte>, int, Phase phase) override { return start({}, phase); }
  Pending all_reduce_sum(std::span<float> data, Phase phase) override { return start(data, phase); }
  Pending all_reduce_sum(std::span<double>, Phase phase) override { return start({}, phase); }
  Pending all_reduce_mean(std::span<float> data, Phase phase) override { return start(data, phase); }
  Pending all_gather(std::span<const std::byte>, std::span<std::byte>, Phase phase) override {
    return start({}, phase);
  }
  Pending reduce_sum(std::span<float> data, int, Phase phase) override { return start(data, phase); }
  Pending scatter(std::span<const std::byte>, std::span<std::byte>, int, Phase phase) override {
    return start({}, phase);
  }
  Pending gather(std::span<const std::byte>, std::span<std::byte>, int, Phase phase) override {
    return start({}, phase);
  }
  Pending all_to_all(std::span<const std::byte>, std::span<std::byte>, Phase phase) override {
    return start({}, phase);
  }
  Pending barrier(Phase phase) override { return start({}, phase); }
  void abandon() noexcept override { script_.is_abandoned = true; }

 protected:
  [[nodiscard]] bool poll(std::int64_t ticket) override {
    look();
    if (ticket == script_.failing) throw CommError("[dist.doubling] link down");
    if (ticket >= script_.allowed) return false;
    for (float& value : data_[static_cast<std::size_t>(ticket)]) value *= 2.0F;
    return true;
  }
  [[nodiscard]] std::vector<int> missing(std::int64_t) const override { return {1}; }

 private:
  Pending start(std::span<float> data, Phase phase) {
    look();
    data_.push_back(data);
    ++script_.started;
    return {*this, std::ssize(data_) - 1, phase};
  }
  void look() { script_.has_strayed = script_.has_strayed || script_.owner != std::this_thread::get_id(); }

  Script& script_;
  std::vector<std::span<float>> data_;
};

class CommThreadCase : public testing::Test {
 protected:
  ~CommThreadCase() override { EXPECT_FALSE(script_.has_strayed) << "another thread called the communicator"; }
  CommThread::Make make() {
    return [this] { return std::make_unique<Doubling>(script_); };
  }
  void wait_for_start(std::int64_t count) const {
    while (script_.started < count) std::this_thread::yield();
  }
  Script script_;
};

TEST_F(CommThreadCase, knows_its_place_and_ends_the_communicator_where_it_began) {
  {
    const CommThread thread(make(), kAnHour);
    EXPECT_EQ(thread.rank(), 3);
    EXPECT_EQ(thread.size(), 5);
  }
  EXPECT_TRUE(script_.is_gone);
  EXPECT_FALSE(script_.is_abandoned);
}

TEST_F(CommThreadCase, throws_what_making_the_communicator_throws) {
  EXPECT_THROW(CommThread([]() -> std::unique_ptr<Communicator> { throw CommError("[dist.x] none"); }, kAnHour),
               CommError);
}

TEST_F(CommThreadCase, works_on_what_it_was_given_while_the_caller_goes_on) {
  script_.allowed = 1;
  CommThread thread(make(), kAnHour);
  std::array<float, 2> first{1.0F, 2.0F}, second{3.0F, 4.0F};
  const std::int64_t one =
      thread.all_reduce_mean(runtime::host_span(first), runtime::reached_event(), {"gradient bucket", 0});
  const std::int64_t two =
      thread.all_reduce_mean(runtime::host_span(second), runtime::reached_event(), {"gradient bucket", 1});
  thread.wait(one);
  EXPECT_EQ(first[1], 4.0F);
  wait_for_start(2);  // the second one runs at the same time
  script_.allowed = 2;
  thread.wait(two);
  thread.wait(one);  // waiting a second time is allowed
  EXPECT_EQ(second[0], 6.0F);
}

/// Event that the test sets to reached. Counts calls of is_reached() and wait().
class TestEvent final : public runtime::Event {
 public:
  [[nodiscard]] bool is_reached() const override {
    ++asked;
    return is_set_;
  }
  void wait() const override {
    ++waits;
    is_set_.wait(false);
  }
  void reach() {
    is_set_ = true;
    is_set_.notify_all();
  }
  mutable std::atomic<std::int64_t> asked = 0;
  mutable std::atomic<std::int64_t> waits = 0;

 private:
  std::atomic<bool> is_set_ = false;
};

TEST_F(CommThreadCase, starts_gradients_once_they_are_ready_and_in_their_order) {
  CommThread thread(make(), kAnHour);
  TestEvent ready;
  std::array<float, 1> first{1.0F}, second{2.0F};
  const std::int64_t one = thread.all_reduce_mean(runtime::host_span(first), ready, {"gradient bucket", 0});
  const std::int64_t two =
      thread.all_reduce_mean(runtime::host_span(second), runtime::reached_event(), {"gradient bucket", 1});
  while (ready.waits == 0 && ready.asked < 1000) std::this_thread::yield();
  EXPECT_EQ(ready.asked, 1) << "the thread blocks instead of asking again and again";
  EXPECT_EQ(script_.started, 0) << "the second waits for the first";
  ready.reach();
  thread.wait(one);
  thread.wait(two);
  EXPECT_EQ(first[0], 2.0F);
  EXPECT_EQ(second[0], 4.0F);
}

TEST_F(CommThreadCase, ends_collectives_in_flight_while_the_next_gradients_are_not_ready) {
  script_.allowed = 0;
  CommThread thread(make(), kAnHour);
  TestEvent ready;
  std::array<float, 1> first{1.0F}, second{2.0F};
  const std::int64_t one =
      thread.all_reduce_mean(runtime::host_span(first), runtime::reached_event(), {"gradient bucket", 0});
  const std::int64_t two = thread.all_reduce_mean(runtime::host_span(second), ready, {"gradient bucket", 1});
  while (ready.asked < 3) std::this_thread::yield();
  EXPECT_EQ(ready.waits, 0) << "the first must be polled";
  script_.allowed = 2;
  thread.wait(one);
  EXPECT_EQ(first[0], 2.0F);
  ready.reach();
  thread.wait(two);
  EXPECT_EQ(second[0], 4.0F);
}

TEST_F(CommThreadCase, averages_memory_that_the_host_cannot_reach_by_way_of_copies) {
  runtime::TwinDevice device;
  const auto stream = device.make_twin_stream();
  const auto buffer = device.make_device_buffer(6 * sizeof(float));
  const auto span = [&](std::size_t begin, std::size_t count) {
    auto* const address = reinterpret_cast<float*>(buffer->address()) + begin;
    return runtime::DeviceSpan<float>{.address = address, .count = count, .copies = buffer->copies()};
  };
  const auto ready = device.make_event();
  CommThread thread(make(), kAnHour);
  for (const float sent : {1.0F, 3.0F}) {  // the second round reuses buffers of the first
    stream->run([&] { std::ranges::fill(device.memory().behind(span(0, 6)), sent); });
    stream->record(*ready);
    const std::int64_t one = thread.all_reduce_mean(span(0, 2), *ready, {"gradient bucket", 0});
    const std::int64_t two = thread.all_reduce_mean(span(2, 3), *ready, {"gradient bucket", 1});
    thread.wait(one);
    thread.wait(two);
    std::array<float, 6> values{};
    stream->download(*buffer, 0, std::as_writable_bytes(std::span(values)));
    stream->synchronize();
    EXPECT_EQ(values, (std::array<float, 6>{2 * sent, 2 * sent, 2 * sent, 2 * sent, 2 * sent, sent}));
  }
}

TEST_F(CommThreadCase, fails_once_the_device_is_done_with_the_next_gradients) {
  TestEvent ready;
  std::array<float, 1> data{1.0F};
  CommThread thread(make(), kAnHour);
  static_cast<void>(thread.all_reduce_mean(runtime::host_span(data), ready, {"gradient bucket", 0}));
  while (ready.waits == 0) std::this_thread::yield();
  std::atomic<bool> has_failed = false;
  {
    const std::jthread failing([&] {
      EXPECT_TRUE(thread.fail());
      has_failed = true;
    });
    EXPECT_FALSE(has_failed);
    ready.reach();
  }
  EXPECT_TRUE(script_.is_abandoned);
  EXPECT_THROW(thread.call([](Communicator&) {}), CommError);
}

TEST_F(CommThreadCase, knows_what_has_ended_before_its_turn) {
  script_.allowed = 0;
  CommThread thread(make(), kAnHour);
  std::array<float, 1> data{1.0F};
  const std::int64_t slow = thread.all_reduce_mean(runtime::host_span(data), runtime::reached_event(), {"slow"});
  std::array<float, 1> other{1.0F};
  bool was_called = false;
  thread.call([&](Communicator&) { was_called = true; });
  EXPECT_TRUE(was_called) << "a call ends while a collective before it is under way";
  script_.allowed = 10;
  thread.wait(thread.all_reduce_mean(runtime::host_span(other), runtime::reached_event(), {"later"}));
  thread.wait(slow);
  EXPECT_EQ(data[0], 2.0F);
}

TEST_F(CommThreadCase, names_who_is_missing_when_the_time_is_over) {
  script_.allowed = 0;
  CommThread thread(make(), milliseconds{0});
  std::array<float, 1> data{1.0F};
  const std::int64_t ticket =
      thread.all_reduce_mean(runtime::host_span(data), runtime::reached_event(), {"gradient bucket", 4});
  try {
    thread.wait(ticket);
    FAIL();
  } catch (const CommError& error) {
    EXPECT_STREQ(
        error.what(),
        "[dist.doubling] gradient bucket 4: expected all 5 ranks within 0 ms, got no sign of rank 1 (node); try "
        "again (train: --resume) when its host and network work, or a longer --comm-timeout");
  }
  EXPECT_THROW(thread.wait(ticket), CommError) << "and says so again";
  EXPECT_THROW(static_cast<void>(thread.all_reduce_mean(runtime::host_span(data), runtime::reached_event(), {"more"})),
               CommError);
  EXPECT_THROW(thread.call([](Communicator&) {}), CommError);
}

TEST_F(CommThreadCase, tells_a_failure_to_whoever_waits) {
  script_.failing = 1;
  CommThread thread(make(), kAnHour);
  std::array<float, 1> data{1.0F};
  thread.wait(thread.all_reduce_mean(runtime::host_span(data), runtime::reached_event(), {"sound"}));
  const std::int64_t bad = thread.all_reduce_mean(runtime::host_span(data), runtime::reached_event(), {"bad"});
  EXPECT_THROW(thread.wait(bad), CommError);
}

TEST_F(CommThreadCase, tells_what_a_call_throws_to_its_caller_alone) {
  CommThread thread(make(), kAnHour);
  EXPECT_THROW(thread.call([](Communicator&) { throw DataError("[data.read] none"); }), DataError);
  std::array<float, 1> data{1.0F};
  thread.wait(thread.all_reduce_mean(runtime::host_span(data), runtime::reached_event(), {"sound"}));
  EXPECT_EQ(data[0], 2.0F);
}

TEST_F(CommThreadCase, says_one_line_of_a_failure_however_much_was_under_way) {
  script_.allowed = 0;
  testing::internal::CaptureStderr();
  std::array<float, 1> data{1.0F};
  {
    CommThread thread(make(), milliseconds{0});
    const std::int64_t first =
        thread.all_reduce_mean(runtime::host_span(data), runtime::reached_event(), {"gradient bucket", 0});
    try {
      static_cast<void>(
          thread.all_reduce_mean(runtime::host_span(data), runtime::reached_event(), {"gradient bucket", 1}));
    } catch (const CommError&) {  // allowed: the first one may end before the failure
    }
    EXPECT_THROW(thread.wait(first), CommError);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "the error is for who waited";
}

TEST_F(CommThreadCase, touches_nothing_once_the_rank_has_failed) {
  script_.allowed = 0;
  CommThread thread(make(), kAnHour);
  std::array<float, 1> data{1.0F};
  static_cast<void>(thread.all_reduce_mean(runtime::host_span(data), runtime::reached_event(), {"gradient bucket", 0}));
  wait_for_start(1);
  EXPECT_TRUE(thread.fail());
  EXPECT_TRUE(script_.is_abandoned);
  script_.allowed = 10;
  EXPECT_TRUE(thread.fail()) << "says so again";
  EXPECT_THROW(static_cast<void>(thread.all_reduce_mean(runtime::host_span(data), runtime::reached_event(), {"more"})),
               CommError);
  EXPECT_EQ(data[0], 1.0F);
}

TEST_F(CommThreadCase, ends_when_a_call_has_given_up_waiting) {
  script_.allowed = 0;
  CommThread thread(make(), kAnHour);
  EXPECT_THROW(thread.call([](Communicator& own) { own.barrier({"places"}).wait(milliseconds{0}); }), CommError);
  EXPECT_THROW(thread.call([](Communicator&) {}), CommError) << "memory of the first may still be written to";
}

TEST_F(CommThreadCase, that_is_left_by_an_exception_says_no_goodbye) {
  try {
    const CommThread thread(make(), kAnHour);
    throw DataError("[data.read] a file: expected an image, got none");
  } catch (const DataError&) {
    EXPECT_TRUE(script_.is_abandoned);
  }
}

TEST_F(CommThreadCase, writes_down_averages_that_are_asked_for_while_a_timeline_records) {
  Timeline timeline;
  CommThread thread(make(), kAnHour);
  std::array<float, 2> data{1.0F, 2.0F};
  thread.wait(thread.all_reduce_mean(runtime::host_span(data), runtime::reached_event(), {"before"}));
  thread.trace(&timeline);
  thread.wait(thread.all_reduce_mean(runtime::host_span(data), runtime::reached_event(), {"gradient bucket", 7}));
  timeline.record(false);
  thread.wait(thread.all_reduce_mean(runtime::host_span(data), runtime::reached_event(), {"not recorded"}));
  timeline.record(true);
  thread.call([](Communicator&) {});
  thread.trace(nullptr);
  thread.wait(thread.all_reduce_mean(runtime::host_span(data), runtime::reached_event(), {"after"}));
  const std::vector<Span> spans = timeline.spans();
  ASSERT_EQ(spans.size(), 1U);
  EXPECT_STREQ(spans[0].name, "gradient bucket");
  EXPECT_EQ(spans[0].index, 7);
  EXPECT_EQ(spans[0].ticket, 1);
  EXPECT_EQ(spans[0].bytes, 8);
  EXPECT_LE(spans[0].begin_ns, spans[0].started_ns);
  EXPECT_LE(spans[0].started_ns, spans[0].end_ns);
}

TEST_F(CommThreadCase, ends_while_something_is_under_way) {
  script_.allowed = 0;
  testing::internal::CaptureStderr();
  std::array<float, 1> data{1.0F};
  {
    CommThread thread(make(), kAnHour);
    static_cast<void>(
        thread.all_reduce_mean(runtime::host_span(data), runtime::reached_event(), {"gradient bucket", 9}));
    wait_for_start(1);
  }
  EXPECT_NE(testing::internal::GetCapturedStderr().find("gradient bucket 9: communication abandoned"),
            std::string::npos);
}

}  // namespace
}  // namespace roentgen::dist
