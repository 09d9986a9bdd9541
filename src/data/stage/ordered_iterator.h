// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// OrderedIterator: threads that pull elements from the previous stage and work on them in parallel. They pass elements
// on in the order in which they were pulled. Used by map, interleave and prefetch. For src/data/stage only.
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

/// Function that a thread applies to an element; it owns that thread's buffers. Must not throw because of a bad sample.
using ElementWork = std::function<void(Element&)>;

/// Holds up to `window` elements that are pulled, in work or finished. One thread at a time pulls. While a resumed
/// pipeline is moved forward, no thread works ahead. One thread calls start() and next().
class OrderedIterator final : public StageIterator {
 public:
  /// Number of threads and size of the window, both at least 1.
  struct Size {
    int threads = 1;
    std::int64_t window = 1;
  };
  /// Each thread calls `make_work` once. Threads start when the first element is requested.
  OrderedIterator(std::unique_ptr<StageIterator> upstream, std::function<ElementWork()> make_work, Size size,
                  const StageContext& context);
  ~OrderedIterator() override;

  /// Waits for elements in work and discards them. Rethrows the exception of a thread.
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
  std::condition_variable_any may_pull_;  // signals: space in the window, a new pass, no thread pulling, or a stop
  std::condition_variable_any is_ready_;  // signals: an element is done, the pass has ended, or no thread works
  bool stopping_ RG_GUARDED_BY(mutex_) = false;
  bool is_pulling_ RG_GUARDED_BY(mutex_) = false;
  /// True if the previous stage has no more elements in this pass, or if start() waits.
  bool has_ended_ RG_GUARDED_BY(mutex_) = true;
  /// Number of the next element to pull (`pulled_`) and of the next to return, counted over all passes.
  std::int64_t pulled_ RG_GUARDED_BY(mutex_) = 0;
  std::int64_t given_ RG_GUARDED_BY(mutex_) = 0;
  std::int64_t at_work_ RG_GUARDED_BY(mutex_) = 0;
  /// Number of elements that are finished but not returned.
  std::int64_t ready_ RG_GUARDED_BY(mutex_) = 0;
  std::vector<std::optional<Element>> ring_ RG_GUARDED_BY(mutex_);
  std::exception_ptr error_ RG_GUARDED_BY(mutex_);
  StageMeter meter_ RG_GUARDED_BY(mutex_);

  std::vector<std::jthread> threads_;  // last, so that they are joined before other members are destroyed
};

}  // namespace roentgen::data
