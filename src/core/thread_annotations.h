// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Names for clang's thread-safety attributes, and a mutex with these attributes. Other compilers ignore them.
#pragma once

#include <condition_variable>
#include <mutex>

#ifdef __clang__
#define RG_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define RG_THREAD_ATTRIBUTE(x)
#endif

#define RG_GUARDED_BY(mutex) RG_THREAD_ATTRIBUTE(guarded_by(mutex))
#define RG_REQUIRES(...) RG_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define RG_EXCLUDES(...) RG_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))

namespace roentgen {

/// std::mutex with annotations for clang's thread-safety analysis. Thread-safe.
class RG_THREAD_ATTRIBUTE(capability("mutex")) Mutex {
 public:
  /// Waits until no other thread holds it, then locks it.
  void lock() RG_THREAD_ATTRIBUTE(acquire_capability()) { mutex_.lock(); }
  void unlock() RG_THREAD_ATTRIBUTE(release_capability()) { mutex_.unlock(); }  ///< unlocks it

 private:
  std::mutex mutex_;
};

/// Locks a Mutex for a scope. std::condition_variable_any can use it through lock() and unlock().
class RG_THREAD_ATTRIBUTE(scoped_lockable) MutexLock {
 public:
  /// Locks the mutex.
  explicit MutexLock(Mutex& mutex) RG_THREAD_ATTRIBUTE(acquire_capability(mutex)) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() RG_THREAD_ATTRIBUTE(release_capability()) {
    if (is_held_) mutex_.unlock();
  }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;
  /// Locks the mutex again after unlock().
  void lock() RG_THREAD_ATTRIBUTE(acquire_capability()) {
    mutex_.lock();
    is_held_ = true;
  }
  /// Unlocks the mutex before the end of the scope.
  void unlock() RG_THREAD_ATTRIBUTE(release_capability()) {
    is_held_ = false;
    mutex_.unlock();
  }

 private:
  Mutex& mutex_;
  /// False between unlock() and lock(), where an exception may leave the scope.
  bool is_held_ = true;
};

}  // namespace roentgen
