// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/run_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "core/error.h"
#include "train/run_folder.h"

namespace roentgen::train {
namespace {

namespace fs = std::filesystem;

// Checks that the locked file is still the one in the folder. A process that ends removes its lock file, so another
// process may hold a lock on a file that no longer has a name.
bool is_still_named(int descriptor, const fs::path& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(descriptor, &opened) == 0 && ::stat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

}  // namespace

RunLock::RunLock(const fs::path& folder) : path_(RunFolder(folder).lock()) {
  while (true) {
    const int descriptor = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (descriptor < 0) {
      throw DataError(error_text("train.run", path_.string(), "a file that can be created",
                                 std::generic_category().message(errno), "another --out, or changing the permissions"));
    }
    const bool is_held = ::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!is_held && is_still_named(descriptor, path_)) {
      descriptor_ = descriptor;
      return;
    }
    ::close(descriptor);
    if (is_held) {
      throw ConfigError(error_text("train.run", folder.string(), "a folder that no other process trains in",
                                   "a folder in use", "another --out, or waiting until the other process ends"));
    }
  }
}

RunLock::~RunLock() {
  struct stat opened {};
  // Removes the file while the lock is still held; closing the descriptor releases it.
  if (is_named() && ::fstat(descriptor_, &opened) == 0 && opened.st_size == 0) ::unlink(path_.c_str());
  ::close(descriptor_);
}

bool RunLock::is_named() const { return is_still_named(descriptor_, path_); }

}  // namespace roentgen::train
