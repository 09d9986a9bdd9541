// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "tests/emulated_cuda/device.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <utility>

#include "core/error.h"
#include "core/log.h"
#include "runtime/copy_room.h"
#include "tests/emulated_cuda/memory.h"

namespace roentgen::emulated {
/// Memory of the device.
class EmulatedDeviceBuffer final : public runtime::DeviceBuffer {
 public:
  EmulatedDeviceBuffer(EmulatedDevice& device, std::size_t bytes) : device_(device), memory_(bytes) {
    const std::scoped_lock lock(device_.mutex_);
    device_.buffers_.push_back(&memory_);
  }
  ~EmulatedDeviceBuffer() override {
    device_.run_before_free();
    const std::scoped_lock lock(device_.mutex_);
    device_.look_at_buffers();
    std::erase(device_.buffers_, &memory_);
  }
  EmulatedDeviceBuffer(const EmulatedDeviceBuffer&) = delete;
  EmulatedDeviceBuffer& operator=(const EmulatedDeviceBuffer&) = delete;
  [[nodiscard]] std::byte* address() const override { return memory_.bytes().data(); }
  [[nodiscard]] std::size_t size_bytes() const override { return memory_.bytes().size(); }
  [[nodiscard]] runtime::DeviceCopies* copies() const override { return &copies_; }

 private:
  /// Copies at once, because the caller has already waited for earlier work.
  class Copies final : public runtime::DeviceCopies {
   public:
    void read(const std::byte* from, std::span<std::byte> to) override { std::memcpy(to.data(), from, to.size()); }
    void write(std::span<const std::byte> from, std::byte* to) override { std::memcpy(to, from.data(), from.size()); }
  };
  EmulatedDevice& device_;
  Memory memory_;
  mutable Copies copies_;
};

/// A position in the device's queue, or in a graph that is being captured.
class EmulatedEvent final : public runtime::Event {
 public:
  explicit EmulatedEvent(EmulatedDevice& device) : device_(device) {}
  [[nodiscard]] bool is_reached() const override {
    const std::size_t last = end_for_host();
    if (last == 0) return true;
    if (!device_.is_done(last - 1)) device_.run_one();
    return device_.is_done(last - 1);
  }
  void wait() const override {
    const std::size_t last = end_for_host();
    if (last != 0) device_.run_until(last - 1);
  }

  // Guarded by the device's mutex.
  std::size_t end = 0;             ///< one past the index of the last node before the event
  std::shared_ptr<Graph> capture;  ///< graph of that node; null: the device's queue

 private:
  std::size_t end_for_host() const {
    const std::scoped_lock lock(device_.mutex_);
    if (capture == nullptr) return end;
    throw DeviceError(error_text("emulated.cuda", "wait of the host", "an event of queued work", "one of a capture"));
  }
  EmulatedDevice& device_;
};

namespace {

template <typename Ours, typename Interface>
Ours& as_ours(Interface& object, std::string_view what) {
  auto* ours = dynamic_cast<Ours*>(&object);
  if (ours != nullptr) return *ours;
  throw DeviceError(error_text("emulated.cuda", what, "one of an emulated device", "one of another device"));
}

bool is_inside(std::span<const std::byte> part, std::span<const std::byte> whole) {
  return std::less_equal<>()(whole.data(), part.data()) &&
         std::less_equal<>()(part.data() + part.size(), whole.data() + whole.size());
}

}  // namespace

/// Memory that copies read and write when they run.
class EmulatedPinnedBuffer final : public runtime::PinnedBuffer {
 public:
  EmulatedPinnedBuffer(EmulatedDevice& device, std::size_t bytes) : device_(device), memory_(bytes) {
    const std::scoped_lock lock(device_.mutex_);
    device_.pinned_.emplace_back(memory_.bytes());
  }
  ~EmulatedPinnedBuffer() override {
    device_.run_before_free();
    const std::scoped_lock lock(device_.mutex_);
    std::erase_if(device_.pinned_,
                  [&](std::span<const std::byte> each) { return each.data() == memory_.bytes().data(); });
  }
  EmulatedPinnedBuffer(const EmulatedPinnedBuffer&) = delete;
  EmulatedPinnedBuffer& operator=(const EmulatedPinnedBuffer&) = delete;
  [[nodiscard]] std::span<std::byte> bytes() const override { return memory_.bytes(); }

 private:
  EmulatedDevice& device_;
  Memory memory_;
};

EmulatedDevice::~EmulatedDevice() {
  if (error_.empty() || is_told_) return;
  log::error(error_);
  std::abort();  // a test that never waits must not pass
}

void EmulatedDevice::keep_error(std::string error) {
  if (error_.empty()) error_ = std::move(error);
}

void EmulatedDevice::check_buffers() {
  const std::scoped_lock lock(mutex_);
  look_at_buffers();
}

void EmulatedDevice::look_at_buffers() {
  const bool is_intact = std::ranges::all_of(buffers_, [](const Memory* memory) { return memory->is_intact(); });
  if (!is_intact) keep_error("[emulated.cuda] a write past a device buffer");
}

void EmulatedDevice::throw_error() {
  look_at_buffers();
  if (error_.empty()) return;
  is_told_ = true;
  throw DeviceError(error_);
}

void EmulatedDevice::run_before_free() {
  for (bool is_over = false; !is_over; std::this_thread::yield()) {
    const std::scoped_lock lock(mutex_);
    is_over = is_capturing_here() || run_nodes(nodes_, std::vector<char>(nodes_.size(), 1));
  }
}

std::unique_ptr<runtime::DeviceBuffer> EmulatedDevice::make_device_buffer(std::size_t bytes) {
  {
    const std::scoped_lock lock(mutex_);
    require_no_capture("a new device buffer");
  }
  ++buffers_made_;
  return std::make_unique<EmulatedDeviceBuffer>(*this, bytes);
}
std::unique_ptr<runtime::PinnedBuffer> EmulatedDevice::make_pinned_buffer(std::size_t bytes) {
  {
    const std::scoped_lock lock(mutex_);
    require_no_capture("a new pinned buffer");
  }
  ++buffers_made_;
  return std::make_unique<EmulatedPinnedBuffer>(*this, bytes);
}
std::unique_ptr<runtime::Stream> EmulatedDevice::make_stream() { return std::make_unique<EmulatedStream>(*this); }
std::unique_ptr<runtime::Event> EmulatedDevice::make_event() { return std::make_unique<EmulatedEvent>(*this); }

bool EmulatedDevice::is_capturing_here() const { return captures_ > 0 && capturer_ == std::this_thread::get_id(); }

void EmulatedDevice::require_no_capture(std::string_view what) const {
  if (!is_capturing_here()) return;
  throw DeviceError(error_text("emulated.cuda", what, "no capture under way", "one"));
}

bool EmulatedDevice::is_done(std::size_t index) const {
  const std::scoped_lock lock(mutex_);
  return nodes_[index].is_done;
}

std::int64_t EmulatedDevice::open_work() const {
  const std::scoped_lock lock(mutex_);
  return std::ranges::count_if(nodes_, [](const Node& node) { return !node.is_done; });
}

void EmulatedDevice::run_until(std::size_t index) {
  while (!try_until(index)) std::this_thread::yield();
}

bool EmulatedDevice::try_until(std::size_t index) {
  const std::scoped_lock lock(mutex_);
  require_no_capture("wait of the host");
  std::vector<char> is_wanted(nodes_.size(), options_.schedule == Schedule::OnlyNeeded ? 0 : 1);
  is_wanted[index] = 1;
  for (std::size_t i = index + 1; i-- > 0;) {
    if (is_wanted[i] == 0) continue;
    for (const std::size_t before : nodes_[i].after) is_wanted[before] = 1;
  }
  const bool is_over = run_nodes(nodes_, is_wanted) || nodes_[index].is_done;
  throw_error();
  return is_over;
}

void EmulatedDevice::run_one() {
  const std::scoped_lock lock(mutex_);
  require_no_capture("wait of the host");
  while (first_open_ < nodes_.size() && nodes_[first_open_].is_done) ++first_open_;
  const auto is_over = [&](std::size_t before) { return nodes_[before].is_done; };
  for (std::size_t i = first_open_; i < nodes_.size(); ++i) {
    Node& node = nodes_[i];
    if (!node.is_done && std::ranges::all_of(node.after, is_over) && run_node(node)) break;
  }
  throw_error();
}

bool EmulatedDevice::run_node(Node& node) {
  node.is_done = true;
  if (!error_.empty()) return true;  // a device that failed does nothing more
  try {
    node.is_done = node.work();
  } catch (const DeviceError& error) {
    keep_error(error.what());
  }
  return node.is_done;
}

// Quadratic in the nodes that are not done: a step has some hundreds.
bool EmulatedDevice::run_nodes(std::vector<Node>& nodes, const std::vector<char>& is_wanted) {
  std::vector<std::size_t> left, waiting;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (is_wanted[i] != 0 && !nodes[i].is_done) left.push_back(i);
  }
  const auto is_ready = [&](std::size_t i) {
    return std::ranges::all_of(nodes[i].after, [&](std::size_t before) { return nodes[before].is_done; });
  };
  while (!left.empty()) {
    auto next = std::ranges::find_if(left, is_ready);
    if (next == left.end()) break;  // all others come after work that waits
    if (options_.schedule == Schedule::LatestFirst) {
      next = std::find_if(left.rbegin(), left.rend(), is_ready).base() - 1;
    } else if (options_.schedule == Schedule::Random) {
      std::vector<std::size_t> ready;
      std::ranges::copy_if(left, std::back_inserter(ready), is_ready);
      options_.seed = options_.seed * 6364136223846793005U + 1442695040888963407U;  // Knuth's MMIX
      next = std::ranges::find(left, ready[(options_.seed >> 33) % ready.size()]);
    }
    const std::size_t index = *next;
    left.erase(next);
    if (!run_node(nodes[index])) waiting.push_back(index);
  }
  return left.empty() && waiting.empty();
}

EmulatedStream::~EmulatedStream() { device_.run_before_free(); }

void EmulatedStream::submit(std::string name, std::function<bool()> work) {
  std::vector<Node>& nodes = is_capturing() ? capture_->nodes : device_.nodes_;
  Tail& at = tail();
  Node node{std::move(name), std::move(work), std::exchange(at.waits, {}), false};
  if (at.end != 0) node.after.push_back(at.end - 1);
  nodes.push_back(std::move(node));
  at.end = nodes.size();
}

// Orders all later work of the stream after the work it waits for.
void EmulatedStream::submit_waits(std::string name) {
  if (!tail().waits.empty()) submit(std::move(name), [] { return true; });
}

void EmulatedStream::copy(std::string name, std::span<const std::byte> host, std::function<void()> work) {
  bool is_pinned = false;
  {
    const std::scoped_lock lock(device_.mutex_);
    is_pinned = std::ranges::any_of(device_.pinned_, [&](const auto& whole) { return is_inside(host, whole); });
    if (!is_pinned && is_capturing()) {
      throw DeviceError(error_text("emulated.cuda", name, "pinned memory in a capture", "other memory"));
    }
    submit(std::move(name), [work = std::move(work)] {
      work();
      return true;
    });
  }
  if (!is_pinned) device_.run_until(queued_.end - 1);
}

void EmulatedStream::upload(std::span<const std::byte> from, runtime::DeviceBuffer& to, std::size_t at) {
  runtime::require_room(to.size_bytes(), at, from.size());
  if (from.empty()) return;
  copy("upload", from, [from, dst = to.address() + at] { std::memcpy(dst, from.data(), from.size()); });
}

void EmulatedStream::download(const runtime::DeviceBuffer& from, std::size_t at, std::span<std::byte> to) {
  runtime::require_room(from.size_bytes(), at, to.size());
  if (to.empty()) return;
  copy("download", to, [to, src = from.address() + at] { std::memcpy(to.data(), src, to.size()); });
}

void EmulatedStream::record(runtime::Event& event) {
  auto& ours = as_ours<EmulatedEvent>(event, "event");
  const std::scoped_lock lock(device_.mutex_);
  submit_waits("waits before an event");
  ours.end = tail().end;
  ours.capture = is_capturing() ? capture_ : nullptr;
}

void EmulatedStream::wait_for(const runtime::Event& event) {
  const auto& ours = as_ours<const EmulatedEvent>(event, "event");
  const std::scoped_lock lock(device_.mutex_);
  if (ours.end == 0) return;
  const bool is_captured = ours.capture != nullptr && !ours.capture->is_complete;
  if (is_captured && !is_capturing()) {  // the stream joins the capture
    capture_ = ours.capture;
    captured_ = {};
  }
  if (is_capturing() ? ours.capture != capture_ : ours.capture != nullptr) {
    throw DeviceError(error_text("emulated.cuda", "wait for an event", "an event of the same capture", "another"));
  }
  tail().waits.push_back(ours.end - 1);
}

void EmulatedStream::synchronize() {
  if (is_capturing()) {
    throw DeviceError(error_text("emulated.cuda", "wait of the host", "a stream that queues", "one that captures"));
  }
  ++device_.synchronizations_;
  {
    const std::scoped_lock lock(device_.mutex_);
    submit_waits("waits before the host");
  }
  if (queued_.end != 0) device_.run_until(queued_.end - 1);
}

void EmulatedStream::launch(std::string_view name, const Dim3& blocks, const Dim3& threads,
                            std::function<void()> body) {
  const std::scoped_lock lock(device_.mutex_);
  device_.launched_.emplace(name);
  submit(std::string(name),
         [this_device = &device_, name = std::string(name), blocks, threads, body = std::move(body)] {
           const DeviceOptions& options = this_device->options();
           run({.name = name,
                .blocks = blocks,
                .threads = threads,
                .order = options.order,
                .seed = options.seed,
                .body = body});
           return true;
         });
}

void EmulatedStream::attempt(std::string name, std::function<bool()> work) {
  const std::scoped_lock lock(device_.mutex_);
  if (is_capturing()) throw DeviceError(error_text("emulated.cuda", name, "a stream that queues", "one that captures"));
  submit(std::move(name), std::move(work));
}

void EmulatedStream::begin_capture() {
  const std::scoped_lock lock(device_.mutex_);
  ++device_.captures_;
  device_.capturer_ = std::this_thread::get_id();
  capture_ = std::make_shared<Graph>();
  captured_ = {};
}

std::shared_ptr<const Graph> EmulatedStream::end_capture() {
  const std::scoped_lock lock(device_.mutex_);
  submit_waits("waits at the end of a capture");
  capture_->is_complete = true;
  --device_.captures_;
  std::vector<Node>& nodes = capture_->nodes;
  std::vector<char> is_joined(nodes.size());
  if (captured_.end != 0) is_joined[captured_.end - 1] = 1;
  for (std::size_t i = nodes.size(); i-- > 0;) {
    if (is_joined[i] == 0) {
      throw DeviceError(error_text("emulated.cuda", "end of a capture", "streams that joined it again",
                                   "work that did not: " + nodes[i].name));
    }
    for (const std::size_t before : nodes[i].after) is_joined[before] = 1;
  }
  return std::exchange(capture_, nullptr);
}

void EmulatedStream::replay(std::shared_ptr<const Graph> graph) {
  const std::scoped_lock lock(device_.mutex_);
  submit("graph", [device = &device_, graph = std::move(graph)] {
    std::vector<Node> nodes = graph->nodes;
    return device->run_nodes(nodes, std::vector<char>(nodes.size(), 1));
  });
}

EmulatedStream& as_emulated(runtime::Stream& stream) { return as_ours<EmulatedStream>(stream, "stream"); }

}  // namespace roentgen::emulated
