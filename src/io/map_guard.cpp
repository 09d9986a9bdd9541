// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/map_guard.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace roentgen::io {
namespace {

/// A guarded map. Slots are reused and never freed, because the signal handler may read them at any time.
struct Slot {
  /// Address of the map; 0 if the slot is free.
  std::atomic<std::uintptr_t> begin = 0;
  std::atomic<std::size_t> size = 0;
  std::atomic<bool> has_failed = false;
  std::atomic<int> descriptor = -1;
  Slot* next = nullptr;
};

// Globals, because a signal handler can access nothing else. The list only grows.
std::atomic<Slot*> first_slot = nullptr;
std::atomic<std::uintptr_t> page_bytes = 0;
struct sigaction handler_before {};

Slot* slot_at(std::uintptr_t address) {
  for (Slot* slot = first_slot.load(std::memory_order_acquire); slot != nullptr; slot = slot->next) {
    const std::uintptr_t begin = slot->begin.load(std::memory_order_acquire);
    if (begin != 0 && address >= begin && address - begin < slot->size.load(std::memory_order_relaxed)) return slot;
  }
  return nullptr;
}

// Restores the previous handler. A faulting access is repeated after the return and then reaches that handler; a signal
// sent by kill(2) is sent again.
void hand_on(const siginfo_t& info) {
  ::sigaction(SIGBUS, &handler_before, nullptr);
  if (info.si_code <= 0) ::raise(SIGBUS);
}

// Handles SIGBUS. Makes only calls that are safe in a signal handler.
void on_bus_error(int /*signal*/, siginfo_t* info, void* /*context*/) {
  const int before = errno;
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  Slot* const slot = info->si_code == BUS_ADRERR ? slot_at(address) : nullptr;
  bool is_mended = false;
  if (slot != nullptr) {
    slot->has_failed.store(true, std::memory_order_release);
    const std::uintptr_t size = page_bytes.load(std::memory_order_relaxed);
    std::byte* const page = static_cast<std::byte*>(info->si_addr) - address % size;
    is_mended = ::mmap(page, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page;
  }
  if (!is_mended) hand_on(*info);
  errno = before;
}

void install_handler() {
  page_bytes.store(static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE)), std::memory_order_relaxed);
  struct sigaction handler {};
  handler.sa_sigaction = on_bus_error;
  handler.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigemptyset(&handler.sa_mask);
  ::sigaction(SIGBUS, &handler, &handler_before);
}

std::uintptr_t address_of(std::span<const std::byte> map) { return reinterpret_cast<std::uintptr_t>(map.data()); }

// Returns a free slot, or a new one, and sets its `begin`.
Slot& take_slot(std::uintptr_t begin) {
  for (Slot* slot = first_slot.load(std::memory_order_acquire); slot != nullptr; slot = slot->next) {
    std::uintptr_t free = 0;
    if (slot->begin.compare_exchange_strong(free, begin)) return *slot;
  }
  Slot* const slot = std::make_unique<Slot>().release();  // never freed, see Slot
  slot->begin = begin;
  slot->next = first_slot.load();
  while (!first_slot.compare_exchange_weak(slot->next, slot)) {
  }
  return *slot;
}

}  // namespace

void guard_map(std::span<const std::byte> map, int descriptor) {
  static std::once_flag is_installed;
  std::call_once(is_installed, install_handler);
  if (map.empty()) {
    if (descriptor >= 0) ::close(descriptor);
    return;
  }
  Slot& slot = take_slot(address_of(map));
  slot.has_failed = false;
  slot.descriptor = descriptor;
  slot.size.store(map.size(), std::memory_order_release);
}

void release_map(std::span<const std::byte> map) {
  Slot* const slot = map.empty() ? nullptr : slot_at(address_of(map));
  if (slot == nullptr) return;
  slot->size = 0;
  const int descriptor = slot->descriptor.exchange(-1);
  slot->begin.store(0, std::memory_order_release);
  if (descriptor >= 0) ::close(descriptor);
}

bool was_cut_short(std::span<const std::byte> map) {
  const Slot* const slot = map.empty() ? nullptr : slot_at(address_of(map));
  if (slot == nullptr) return false;
  if (slot->has_failed.load(std::memory_order_acquire)) return true;
  struct stat now {};
  const int descriptor = slot->descriptor.load();
  // The rest of the last page, after the file's new end, reads as zeros without a signal.
  return descriptor >= 0 && ::fstat(descriptor, &now) == 0 && static_cast<std::uint64_t>(now.st_size) < map.size();
}

Status check_map(std::span<const std::byte> map, const std::filesystem::path& path) {
  if (!was_cut_short(map)) return Done{};
  return failure("io.file", path.string(), std::to_string(map.size()) + " bytes",
                 "fewer, because the file was truncated or the disk failed during reading",
                 "again when nothing writes to it");
}

}  // namespace roentgen::io
