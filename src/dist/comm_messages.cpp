// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Messages between ranks, and the division of ranks, through a CommThread.
#include <utility>

#include "dist/comm_thread.h"

namespace roentgen::dist {

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
  // the cast is safe, because a sent message is only read
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

}  // namespace roentgen::dist
