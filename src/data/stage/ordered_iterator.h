// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// OrderedIterator: threads that pull from the previous stage, work on the elements, and pass them on in the order of
// pulling. map, interleave and prefetch share it. For src/data/stage only.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "core/thread_annotations.h"
#include "data/stage/stage.h"

namespace roentgen::data {

/// Function that one thread applies to an element; it owns that thread's buffers. Must not throw because of a sample.
using ElementWork = std::function<void(Element&)>;

/// Up to `window` elements are pulled, in work or waiting. One thread at a time pulls; while the pipeline is moved
/// forward no thread works ahead. One thread calls start() and next().
class OrderedIterator final : public StageIterator {
 public:
  /// Threads and window, both at least 1.
  struct Size {
    int threads = 1;
    std::int64_t window = 1;
  };
  /// `make_work` is called once by each thread; threads start with the first element asked for.
  OrderedIterator(std::unique_ptr<StageIterator> upstream, std::function<ElementWork()> make_work, Size size,
                  const StageContext& context);
  ~OrderedIterator() override;

  /// Waits for elements in work, and drops them. Throws the error of a thread.
  void start(std::uint32_t epoch) override;

 private:
  bool advance(Element& out) override;
  [[nodiscard]] StageMeter own_meter() const override;
  void run();
  void work(const ElementWork& work);
  [[nodiscard]] std::optional<Element>& place(std::int64_t number) RG_REQUIRES(mutex_) {
    return ring_[static_cast<std::size_t>(number % static_cast<std::int64_t>(ring_.size()))];
  }

  const std::unique_ptr<StageIterator> upstream_;
  const std::function<ElementWork()> make_work_;
  const int thread_count_;
  const StageContext& context_;

  mutable Mutex mutex_;
  std::condition_variable_any may_pull_;  // room, a new pass, nobody pulling, or stopping
  std::condition_variable_any is_ready_;  // an element is done, the pass has ended, or nobody is at work
  bool stopping_ RG_GUARDED_BY(mutex_) = false;
  bool is_pulling_ RG_GUARDED_BY(mutex_) = false;
  /// Whether the previous stage has no more elements in this pass, or start() waits.
  bool has_ended_ RG_GUARDED_BY(mutex_) = true;
  /// Numbers of the next element to pull and of the next to give, from the first one ever.
  std::int64_t pulled_ RG_GUARDED_BY(mutex_) = 0;
  std::int64_t given_ RG_GUARDED_BY(mutex_) = 0;
  std::int64_t at_work_ RG_GUARDED_BY(mutex_) = 0;
  /// Done and not given yet.
  std::int64_t ready_ RG_GUARDED_BY(mutex_) = 0;
  std::vector<std::optional<Element>> ring_ RG_GUARDED_BY(mutex_);
  std::exception_ptr error_ RG_GUARDED_BY(mutex_);
  StageMeter meter_ RG_GUARDED_BY(mutex_);

  std::vector<std::jthread> threads_;  // last: joined before anything they use goes
};

}  // namespace roentgen::data
