// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "dist/comm_thread.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace roentgen::dist {
namespace {

using Clock = std::chrono::steady_clock;
// Interval for polling averages that run on a device by themselves: 0.2% of a step of 25 ms.
constexpr std::chrono::microseconds kDevicePollTime{50};

// Returns a time in nanoseconds, as a Span stores it.
std::int64_t nanoseconds_of(Clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

}  // namespace

CommThread::CommThread(const Make& make, std::chrono::milliseconds limit, const ReduceOptions& reduce, Watch watch)
    : limit_(limit),
      reduce_(reduce),
      way_(reduce.algorithm + ", " + reduce.wire),
      watch_(std::move(watch)),
      is_nccl_asked_(reduce.algorithm == kNcclReduce),
      thread_([this, &make] { run(make); }) {
  MutexLock lock(mutex_);
  while (!is_made_ && !error_) is_done_.wait(lock);
  if (error_) std::rethrow_exception(error_);
}

CommThread::~CommThread() {
  {
    MutexLock lock(mutex_);
    is_stopping_ = true;
    is_abandoning_ = std::uncaught_exceptions() > exceptions_;
  }
  has_work_.notify_one();
}

void CommThread::run(const Make& make) {
  std::unique_ptr<Communicator> group;
  std::unique_ptr<Reducer> reducer;
  try {
    check_reduce_names(reduce_);
    group = make();
    reducer = std::make_unique<Reducer>(*group, reduce_);
    {
      MutexLock lock(mutex_);
      rank_ = group->rank();
      size_ = group->size();
      local_rank_ = group->local_rank();
      local_size_ = group->local_size();
      shares_process_ = group->shares_process();
      is_free_of_bucket_size_ = reducer->is_free_of_bucket_size();
      for (int rank = 0; rank < size_; ++rank) hosts_.emplace_back(group->host(rank));
      is_made_ = true;
    }
    is_done_.notify_all();
    serve(*group, *reducer);
  } catch (...) {
    bool is_first = true;
    if (group != nullptr) {
      is_first = group->claim_failure();
      group->abandon();
    }
    for (Flight& flight : flights_) flight.pending.forget();  // the failure was already reported
    flights_.clear();
    release_after_failure();  // ends its work on the device, for which callers may wait
    {
      MutexLock lock(mutex_);
      error_ = std::current_exception();
      is_first_to_fail_ = is_first;
    }
    is_done_.notify_all();
  }
  flights_.clear();
  release_device();
}

void CommThread::release_device() {
  nccl_.reset();
  spare_.clear();
  device_ = nullptr;
}

void CommThread::release_after_failure() {
  std::shared_ptr<void> watch;
  if (watch_ && device_ != nullptr) watch = watch_(std::current_exception());
  release_device();
}

// Serves requests until the destructor or fail() stops it, or a collective fails.
void CommThread::serve(Communicator& group, Reducer& reducer) {
  while (true) {
    const runtime::Event* ready = nullptr;
    {
      MutexLock lock(mutex_);
      while (requests_.empty() && flights_.empty() && !is_stopping_ && !is_failing_) has_work_.wait(lock);
      if (is_failing_) {
        throw CommError(error_text("dist.thread", "this process", "no earlier failure", "a failure",
                                   "reading the first error in its log"));
      }
      if (is_stopping_ && is_abandoning_) group.abandon();
      if (is_stopping_) return;
      if (!requests_.empty()) ready = requests_.front().ready;
    }
    const bool has_one = ready != nullptr && ready->is_reached();
    if (ready != nullptr && !has_one && flights_.empty()) {
      ready->wait();  // no collective to poll: blocks, so that the core is free for compute threads
      continue;
    }
    if (has_one) start(group, reducer, take_first(), started_++);
    poll_all();
    if (!has_one) pause();
  }
}

void CommThread::pause() {
  const auto is_left_to_device = [](const Flight& flight) {
    return flight.average != nullptr && flight.average->is_queued();
  };
  if (!std::ranges::all_of(flights_, is_left_to_device)) return std::this_thread::yield();
  MutexLock lock(mutex_);
  if (requests_.empty() && !is_stopping_ && !is_failing_) has_work_.wait_for(lock, kDevicePollTime);
}

CommThread::Request CommThread::take_first() {
  const MutexLock lock(mutex_);
  const Request request = requests_.front();
  requests_.erase(requests_.begin());
  return request;
}

Pending CommThread::begin(Communicator& group, Reducer& reducer, const Request& request) {
  if (request.kind == Kind::Send) return group.send(request.bytes, request.other, request.phase);
  if (request.kind == Kind::Receive) return group.receive(request.bytes, request.other, request.phase);
  if (!request.sums.empty()) return group.all_reduce_sum(request.sums, request.phase);
  return request.is_gradients ? reducer.all_reduce_mean(request.data, request.phase)
                              : group.all_reduce_mean(request.data, request.phase);
}

std::unique_ptr<runtime::PinnedBuffer> CommThread::pinned(std::size_t bytes) {
  const auto fits = [&](const auto& each) { return each->bytes().size() >= bytes; };
  const auto spare = std::ranges::find_if(spare_, fits);
  if (spare == spare_.end()) return (device_ != nullptr ? *device_ : *host_).make_pinned_buffer(bytes);
  auto taken = std::move(*spare);
  spare_.erase(spare);
  return taken;
}

std::span<std::byte> CommThread::bytes_of(const Request& request) {
  if (request.kind != Kind::Collective) return request.bytes;
  return request.sums.empty() ? std::as_writable_bytes(request.data) : std::as_writable_bytes(request.sums);
}

void CommThread::stage(Request& request, Flight& flight) {
  const std::span<std::byte> bytes = bytes_of(request);
  flight.staged = pinned(bytes.size());
  flight.device = request.kind == Kind::Send ? nullptr : bytes.data();  // a sent message has no result to copy back
  flight.copies = request.copies;
  const std::span<std::byte> copy = flight.staged->bytes().first(bytes.size());
  flight.staged_bytes = copy.size();
  if (request.kind != Kind::Receive) flight.copies->read(bytes.data(), copy);
  request.bytes = copy;
  request.data = {reinterpret_cast<float*>(copy.data()), request.data.size()};
  request.sums = {reinterpret_cast<double*>(copy.data()), request.sums.size()};
}

void CommThread::start(Communicator& group, Reducer& reducer, Request request, std::int64_t ticket) {
  if (request.work != nullptr) {
    (*request.work)(group);
    finish(ticket);
    return;
  }
  Flight flight{.ticket = ticket,
                .pending = {},
                .begin = Clock::now(),
                .limit = limit_ + request.more,
                .timeline = request.timeline};
  const auto bytes = static_cast<std::int64_t>(bytes_of(request).size());
  if (request.done != nullptr) {
    flight.average =
        &nccl_->begin({request.data.data(), request.data.size(), request.copies}, *request.after, *request.done);
    flight.is_last = request.is_last;
    flight.pending = group.compose(*flight.average, request.phase);
  } else {
    if (request.copies != nullptr) stage(request, flight);
    flight.pending = begin(group, reducer, request);
  }
  flights_.push_back(std::move(flight));
  if (request.timeline == nullptr) return;
  flights_.back().span = {.name = request.phase.name,
                          .index = request.phase.index,
                          .begin_ns = request.given_ns,
                          .started_ns = Timeline::now_ns(),
                          .ticket = ticket,
                          .bytes = bytes};
}

void CommThread::poll_all() {
  for (std::size_t i = 0; i < flights_.size();) {
    Flight& flight = flights_[i];
    if (flight.pending.is_done()) {
      end(i);
      continue;
    }
    if (flight.average != nullptr) watch(flight);
    if (Clock::now() - flight.begin > flight.limit) flight.pending.give_up(flight.limit);
    ++i;
  }
}

void CommThread::watch(Flight& flight) {
  if (!flight.average->failure().empty()) flight.pending.fail(flight.average->failure());
  if (!flight.average->is_ready())
    flight.begin = Clock::now();  // the device still computes, so the timeout has not begun
  if (!flight.is_told && flight.average->is_queued()) {
    flight.is_told = true;
    finish(flight.ticket);
  }
}

void CommThread::end(std::size_t i) {
  Flight flight = std::move(flights_[i]);
  flights_.erase(flights_.begin() + static_cast<std::ptrdiff_t>(i));
  if (flight.copies != nullptr) {
    if (flight.device != nullptr) {
      flight.copies->write(flight.staged->bytes().first(flight.staged_bytes), flight.device);
    }
    spare_.push_back(std::move(flight.staged));
  }
  const auto now = Clock::now();
  if (flight.timeline != nullptr) {
    flight.span.end_ns = nanoseconds_of(now);
    if (flight.average != nullptr) flight.span.started_ns = nanoseconds_of(flight.average->ready_at());
    flight.timeline->add(flight.span);
  }
  if (flight.average != nullptr) {
    const MutexLock lock(mutex_);
    --on_device_;
    const std::chrono::duration<double> exposed = now - flight.average->ready_at();
    if (flight.is_last) exposed_s_ += exposed.count();
  }
  if (flight.is_told) {
    is_done_.notify_all();
  } else {
    finish(flight.ticket);
  }
}

void CommThread::finish(std::int64_t ticket) {
  {
    MutexLock lock(mutex_);
    early_.push_back(ticket);
    for (auto next = std::ranges::find(early_, done_); next != early_.end(); next = std::ranges::find(early_, done_)) {
      early_.erase(next);
      ++done_;
    }
  }
  is_done_.notify_all();
}

std::int64_t CommThread::give(const Request& request) {
  std::int64_t ticket = 0;
  {
    MutexLock lock(mutex_);
    if (error_) std::rethrow_exception(error_);
    requests_.push_back(request);
    if (request.done != nullptr) ++on_device_;
    if (timeline_ != nullptr && request.work == nullptr && timeline_->is_recording()) {
      requests_.back().timeline = timeline_;
      requests_.back().given_ns = Timeline::now_ns();
    }
    ticket = given_++;
  }
  has_work_.notify_one();
  return ticket;
}

std::int64_t CommThread::all_reduce_mean(runtime::DeviceSpan<float> gradients, const runtime::Event& ready,
                                         Phase phase) {
  return give({.data = {gradients.address, gradients.count},
               .copies = gradients.copies,
               .ready = &ready,
               .phase = phase,
               .is_gradients = true});
}

void CommThread::use_device(const GradientDevice& device) {
  call([&](Communicator& group) {
    release_device();
    try {
      device_ = &device.device;
      nccl_ = make_nccl_averages(group, device, reduce_, limit_);
      if (nccl_ != nullptr) nccl_->join(limit_);
    } catch (...) {
      release_after_failure();
      throw;
    }
    device_way_ = nccl_ == nullptr ? "" : std::string(nccl_->name());
  });
}

void CommThread::leave_device() noexcept {
  // An exception is passing on this rank only. The other ranks do not call leave_device(), so do not wait for them.
  if (std::uncaught_exceptions() > exceptions_) static_cast<void>(fail());
  try {
    settle();
    call([&](Communicator&) {
      if (nccl_ != nullptr) nccl_->end(limit_);
    });
  } catch (...) {  // every later call throws this error
  }
  try {
    call([&](Communicator&) { release_device(); });
  } catch (...) {  // the thread has ended and released the device
  }
  device_way_.clear();
}

std::int64_t CommThread::queue_mean(runtime::DeviceSpan<float> gradients, const runtime::Event& ready,
                                    runtime::Event& done, bool is_last, Phase phase) {
  return give({.data = {gradients.address, gradients.count},
               .copies = gradients.copies,
               .phase = phase,
               .is_gradients = true,
               .after = &ready,
               .done = &done,
               .is_last = is_last});
}

void CommThread::settle() {
  MutexLock lock(mutex_);
  while (on_device_ > 0 && !error_) is_done_.wait(lock);
  if (error_) std::rethrow_exception(error_);
}

std::int64_t CommThread::average_figures(std::span<float> figures, Phase phase) {
  return give({.data = figures, .phase = phase});
}

std::int64_t CommThread::all_reduce_sum(runtime::DeviceSpan<double> figures, const runtime::Event& ready, Phase phase) {
  return give({.data = {},
               .sums = {figures.address, figures.count},
               .copies = figures.copies,
               .ready = &ready,
               .phase = phase});
}

void CommThread::call(const std::function<void(Communicator&)>& work) {
  std::exception_ptr error;
  const std::function<void(Communicator&)> guarded = [&](Communicator& group) {
    try {
      work(group);
    } catch (...) {
      error = std::current_exception();
      if (group.has_given_up()) throw;
    }
  };
  wait(give({.data = {}, .work = &guarded}));
  if (error) std::rethrow_exception(error);
}

void CommThread::wait(std::int64_t ticket) {
  const auto begin = Clock::now();
  MutexLock lock(mutex_);
  RG_ASSERT(ticket >= 0 && ticket < given_);
  const auto is_done = [&] { return ticket < done_ || std::ranges::find(early_, ticket) != early_.end(); };
  while (!is_done() && !error_) is_done_.wait(lock);
  if (device_way_.empty()) exposed_s_ += std::chrono::duration<double>(Clock::now() - begin).count();
  if (!is_done()) std::rethrow_exception(error_);
}

bool CommThread::fail() noexcept {
  MutexLock lock(mutex_);
  is_failing_ = true;
  has_work_.notify_one();
  while (!error_) is_done_.wait(lock);
  return is_first_to_fail_;
}

void CommThread::trace(Timeline* timeline) {
  const MutexLock lock(mutex_);
  timeline_ = timeline;
}

double CommThread::exposed_s() const {
  MutexLock lock(mutex_);
  return exposed_s_;
}

}  // namespace roentgen::dist
