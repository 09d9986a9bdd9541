// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/ordered_iterator.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <stdexcept>

#include "data/stage/batch_rows.h"

namespace roentgen::data {
namespace {

/// Returns 0, 1, 2, ... up to a length, or until it throws.
class Numbers final : public StageIterator {
 public:
  Numbers(std::uint32_t length, std::uint32_t throws_at) : length_(length), throws_at_(throws_at) {}
  void start(std::uint32_t epoch) override {
    epoch_ = epoch;
    at_ = 0;
  }

 private:
  bool advance(Element& out) override {
    if (at_ == throws_at_) throw std::runtime_error("upstream");
    if (at_ == length_) return false;
    out = {.index = at_++, .epoch = epoch_};
    return true;
  }
  const std::uint32_t length_, throws_at_;
  std::uint32_t at_ = 0, epoch_ = 0;
};

constexpr std::uint32_t kNever = ~0U;

class Ordered : public testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<OrderedIterator> over(
      std::uint32_t length, OrderedIterator::Size size, std::function<void(Element&)> work = [](Element&) {},
      std::uint32_t throws_at = kNever) const {
    return std::make_unique<OrderedIterator>(
        std::make_unique<Numbers>(length, throws_at), [work] { return work; }, size, context_);
  }
  static std::vector<std::uint32_t> rest(StageIterator& iterator) {
    std::vector<std::uint32_t> indices;
    for (Element element; iterator.next(element);) indices.push_back(element.index);
    return indices;
  }
  static std::vector<std::uint32_t> numbers(std::size_t n) {
    std::vector<std::uint32_t> all(n);
    std::iota(all.begin(), all.end(), 0U);
    return all;
  }

  const std::vector<std::uint32_t> samples_;
  const Dataset dataset_;
  const LoaderOptions options_;
  const RowFiller filler_{dataset_, samples_, options_};
  const StageContext context_{.samples = samples_, .work = &filler_};
};

TEST_F(Ordered, keeps_the_order_with_any_number_of_threads) {
  for (const OrderedIterator::Size size : {OrderedIterator::Size{1, 1}, {1, 5}, {4, 4}, {16, 3}}) {
    const auto iterator = over(500, size, [](Element& element) { element.draw_epoch = 2 * element.index; });
    for (const std::uint32_t epoch : {0U, 1U}) {
      iterator->start(epoch);
      std::uint32_t expected = 0;
      for (Element element; iterator->next(element); ++expected) {
        ASSERT_EQ(element.index, expected);
        ASSERT_EQ(element.draw_epoch, 2 * expected);
        ASSERT_EQ(element.epoch, epoch);
      }
      EXPECT_EQ(expected, 500U);
      Element element;
      EXPECT_FALSE(iterator->next(element)) << "until the next start";
    }
  }
}

TEST_F(Ordered, begins_again_in_the_middle_of_a_pass) {
  const auto iterator = over(100, {.threads = 3, .window = 7});
  for (int i = 0; i < 20; ++i) {
    iterator->start(0);
    Element element;
    for (int k = 0; k < i; ++k) ASSERT_TRUE(iterator->next(element));
  }
  iterator->start(0);
  EXPECT_EQ(rest(*iterator), numbers(100));
}

TEST_F(Ordered, works_on_no_more_than_its_window) {
  std::atomic<int> worked = 0;
  const auto iterator = over(100, {.threads = 4, .window = 3}, [&worked](Element&) { ++worked; });
  iterator->start(0);
  Element element;
  ASSERT_TRUE(iterator->next(element));
  // Gives the threads time: one element was returned, and at most three may be waiting.
  for (int i = 0; i < 1000; ++i) std::this_thread::yield();
  EXPECT_LE(worked, 4);
}

TEST_F(Ordered, hands_on_what_upstream_throws_and_can_be_started_and_ended) {
  const auto iterator = over(
      100, {.threads = 4, .window = 4}, [](Element&) {}, 10);
  iterator->start(0);
  EXPECT_THROW(static_cast<void>(rest(*iterator)), std::runtime_error);
  EXPECT_THROW(iterator->start(1), std::runtime_error);
}

TEST_F(Ordered, hands_on_what_the_work_throws) {
  const auto iterator = over(100, {.threads = 4, .window = 4}, [](Element& element) {
    if (element.index == 10) throw std::runtime_error("work");
  });
  iterator->start(0);
  EXPECT_THROW(static_cast<void>(rest(*iterator)), std::runtime_error);
  EXPECT_THROW(iterator->start(1), std::runtime_error);
}

TEST_F(Ordered, ends_while_its_threads_wait_for_room) {
  const auto iterator = over(100, {.threads = 4, .window = 2});
  iterator->start(0);
  Element element;
  ASSERT_TRUE(iterator->next(element));
}

}  // namespace
}  // namespace roentgen::data
