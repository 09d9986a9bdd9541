// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/ordered_iterator.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace roentgen::data {

OrderedIterator::OrderedIterator(std::unique_ptr<StageIterator> upstream, std::function<ElementWork()> make_work,
                                 Size size, const StageContext& context)
    : upstream_(std::move(upstream)),
      make_work_(std::move(make_work)),
      thread_count_(size.threads),
      context_(context),
      ring_(static_cast<std::size_t>(size.window)) {
  RG_ASSERT(size.threads >= 1 && size.window >= 1);
  meter_.threads = size.threads;
  meter_.capacity = size.window;
}

OrderedIterator::~OrderedIterator() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  may_pull_.notify_all();
}

void OrderedIterator::start(std::uint32_t epoch) {
  {
    MutexLock lock(mutex_);
    has_ended_ = true;  // so that no thread begins to pull
    while (!error_ && (is_pulling_ || at_work_ > 0)) is_ready_.wait(lock);
    if (error_) std::rethrow_exception(error_);
    std::ranges::fill(ring_, std::nullopt);
    ready_ = 0;
    given_ = pulled_;
  }
  upstream_->start(epoch);
  {
    MutexLock lock(mutex_);
    has_ended_ = false;
  }
  may_pull_.notify_all();
}

bool OrderedIterator::advance(Element& out) {
  if (!context_.does_work()) return upstream_->next(out);
  while (std::ssize(threads_) < thread_count_) threads_.emplace_back([this] { run(); });
  {
    MutexLock lock(mutex_);
    meter_.depth_sum += ready_;
    if (!error_ && !place(given_) && !(has_ended_ && given_ == pulled_)) ++meter_.empty_waits;
    while (!error_ && !place(given_)) {
      if (has_ended_ && !is_pulling_ && given_ == pulled_) return false;
      is_ready_.wait(lock);
    }
    if (error_) std::rethrow_exception(error_);
    out = std::move(*place(given_));
    place(given_++).reset();
    --ready_;
  }
  may_pull_.notify_one();
  return true;
}

StageMeter OrderedIterator::own_meter() const {
  MutexLock lock(mutex_);
  return meter_;
}

void OrderedIterator::run() {
  try {
    work(make_work_());
  } catch (...) {
    {
      MutexLock lock(mutex_);
      if (!error_) error_ = std::current_exception();
      has_ended_ = true;
    }
    is_ready_.notify_all();
  }
}

void OrderedIterator::work(const ElementWork& work) {
  MutexLock lock(mutex_);
  while (true) {
    const auto has_room = [&] { return pulled_ - given_ < std::ssize(ring_); };
    if (!stopping_ && !has_ended_ && !is_pulling_ && !has_room()) ++meter_.full_waits;
    while (!stopping_ && (has_ended_ || is_pulling_ || !has_room())) may_pull_.wait(lock);
    if (stopping_) return;
    is_pulling_ = true;
    lock.unlock();
    Element element;
    bool has_one = false;
    try {
      has_one = upstream_->next(element);
    } catch (...) {
      lock.lock();
      is_pulling_ = false;
      throw;
    }
    lock.lock();
    is_pulling_ = false;
    if (!has_one) {
      has_ended_ = true;
      is_ready_.notify_all();
      continue;
    }
    const std::int64_t number = pulled_++;
    ++at_work_;
    lock.unlock();
    may_pull_.notify_one();
    const auto begin = std::chrono::steady_clock::now();
    try {
      work(element);
    } catch (...) {
      lock.lock();
      --at_work_;
      throw;
    }
    const double busy_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    lock.lock();
    meter_.busy_s += busy_s;
    --at_work_;
    place(number) = std::move(element);
    ++ready_;
    is_ready_.notify_all();
  }
}

}  // namespace roentgen::data
