// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "dist/comm_thread.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace roentgen::dist {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

CommThread::CommThread(const Make& make, std::chrono::milliseconds limit, const ReduceOptions& reduce)
    : limit_(limit),
      way_(reduce.algorithm + ", " + reduce.wire),
      thread_([this, &make, &reduce] { run(make, reduce); }) {
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

void CommThread::run(const Make& make, const ReduceOptions& reduce) {
  std::unique_ptr<Communicator> group;
  std::unique_ptr<Reducer> reducer;
  try {
    check_reduce_names(reduce);
    group = make();
    reducer = std::make_unique<Reducer>(*group, reduce);
    {
      MutexLock lock(mutex_);
      rank_ = group->rank();
      size_ = group->size();
      local_rank_ = group->local_rank();
      local_size_ = group->local_size();
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
    {
      MutexLock lock(mutex_);
      error_ = std::current_exception();
      is_first_to_fail_ = is_first;
    }
    is_done_.notify_all();
  }
  flights_.clear();
}

// Serves requests until it is told to stop, or a collective fails.
void CommThread::serve(Communicator& group, Reducer& reducer) {
  while (true) {
    const runtime::Event* ready = nullptr;
    {
      MutexLock lock(mutex_);
      while (requests_.empty() && flights_.empty() && !is_stopping_ && !is_failing_) has_work_.wait(lock);
      if (is_failing_) {
        throw CommError(error_text("dist.thread", "this rank", "no earlier failure", "one", "reading its first error"));
      }
      if (is_stopping_ && is_abandoning_) group.abandon();
      if (is_stopping_) return;
      if (!requests_.empty()) ready = requests_.front().ready;
    }
    const bool has_one = ready != nullptr && ready->is_reached();
    if (ready != nullptr && !has_one && flights_.empty()) {
      ready->wait();  // nothing is left to poll, so the core goes to the compute threads
      continue;
    }
    if (has_one) start(group, reducer, take_first(), started_++);
    poll_all();
    if (!has_one) std::this_thread::yield();
  }
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

void CommThread::stage(Request& request, Flight& flight) {
  const std::span<std::byte> bytes = request.kind != Kind::Collective ? request.bytes
                                     : request.sums.empty()           ? std::as_writable_bytes(request.data)
                                                                      : std::as_writable_bytes(request.sums);
  if (!spare_.empty()) {
    flight.staged = std::move(spare_.back());
    spare_.pop_back();
  }
  flight.staged.resize(bytes.size());
  flight.device = bytes.data();
  flight.copies = request.copies;
  if (request.kind != Kind::Receive) flight.copies->read(flight.device, flight.staged);
  if (request.kind == Kind::Send) flight.device = nullptr;  // gets nothing back
  std::byte* const copy = flight.staged.data();
  request.bytes = flight.staged;
  request.data = {reinterpret_cast<float*>(copy), request.data.size()};
  request.sums = {reinterpret_cast<double*>(copy), request.sums.size()};
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
  if (request.copies != nullptr) stage(request, flight);
  flight.pending = begin(group, reducer, request);
  flights_.push_back(std::move(flight));
  if (request.timeline == nullptr) return;
  flights_.back().span = {.name = request.phase.name,
                          .index = request.phase.index,
                          .begin_ns = request.given_ns,
                          .started_ns = Timeline::now_ns(),
                          .ticket = ticket,
                          .bytes = static_cast<std::int64_t>(request.kind == Kind::Collective
                                                                 ? request.data.size_bytes() + request.sums.size_bytes()
                                                                 : request.bytes.size())};
}

void CommThread::poll_all() {
  for (std::size_t i = 0; i < flights_.size();) {
    Flight& flight = flights_[i];
    if (!flight.pending.is_done()) {
      if (Clock::now() - flight.begin > flight.limit) flight.pending.give_up(flight.limit);
      ++i;
      continue;
    }
    if (flight.copies != nullptr) {
      if (flight.device != nullptr) flight.copies->write(flight.staged, flight.device);
      spare_.push_back(std::move(flight.staged));
    }
    const std::int64_t ticket = flight.ticket;
    if (flight.timeline != nullptr) {
      flight.span.end_ns = Timeline::now_ns();
      flight.timeline->add(flight.span);
    }
    flights_.erase(flights_.begin() + static_cast<std::ptrdiff_t>(i));
    finish(ticket);
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

std::int64_t CommThread::send(runtime::DeviceSpan<float> data, const runtime::Event& ready, Address to, Phase phase) {
  return give({.data = {},
               .copies = data.copies,
               .ready = &ready,
               .phase = phase,
               .kind = Kind::Send,
               .bytes = std::as_writable_bytes(std::span(data.address, data.count)),
               .other = to});
}

std::int64_t CommThread::send(std::span<const std::byte> data, Address to, Phase phase) {
  // a message that is sent is only read
  const std::span<std::byte> bytes(const_cast<std::byte*>(data.data()), data.size());
  return give({.data = {}, .phase = phase, .kind = Kind::Send, .bytes = bytes, .other = to});
}

std::int64_t CommThread::receive(runtime::DeviceSpan<float> data, Address from, Phase phase,
                                 std::chrono::milliseconds more) {
  return give({.data = {},
               .copies = data.copies,
               .phase = phase,
               .kind = Kind::Receive,
               .bytes = std::as_writable_bytes(std::span(data.address, data.count)),
               .other = from,
               .more = more});
}

std::int64_t CommThread::receive(std::span<std::byte> data, Address from, Phase phase, std::chrono::milliseconds more) {
  return give({.data = {}, .phase = phase, .kind = Kind::Receive, .bytes = data, .other = from, .more = more});
}

void CommThread::divide(int last) {
  call([&](Communicator& group) { group.divide(last, limit_); });
  const int rest = size_ - last;
  const bool is_last = rank_ >= rest;
  first_rank_ = is_last ? rest : 0;
  size_ = is_last ? last : rest;
  const auto begin = hosts_.begin() + first_rank_;
  hosts_ = std::vector<std::string>(begin, begin + size_);
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
  exposed_s_ += std::chrono::duration<double>(Clock::now() - begin).count();
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
