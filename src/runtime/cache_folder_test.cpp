// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "runtime/cache_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>

namespace roentgen::runtime {
namespace {

/// Sets a variable of the environment, or takes it away, and puts it back.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    set(value);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { set(before_ ? before_->c_str() : nullptr); }

 private:
  void set(const char* value) {
    if (value != nullptr) {
      ::setenv(name_, value, 1);
    } else {
      ::unsetenv(name_);
    }
  }
  const char* name_;
  std::optional<std::string> before_;
};

TEST(CacheFolder, is_the_users) {
  const Variable home("HOME", "/home/somebody");
  {
    const Variable cache("XDG_CACHE_HOME", "/fast/cache");
    EXPECT_EQ(default_cache_folder(), "/fast/cache/roentgen");
  }
  {
    const Variable cache("XDG_CACHE_HOME", "relative");
    EXPECT_EQ(default_cache_folder(), "/home/somebody/.cache/roentgen");
  }
  const Variable cache("XDG_CACHE_HOME", nullptr);
  const Variable no_home("HOME", nullptr);
  const Variable temporary("TMPDIR", "/tmp");
  EXPECT_EQ(default_cache_folder(), "/tmp/roentgen-cache-" + std::to_string(::getuid()));
}

TEST(CacheFolder, finds_no_network_below_a_local_folder) {
  EXPECT_EQ(network_file_system("/proc"), nullptr);
  EXPECT_EQ(network_file_system("/proc/not/there"), nullptr);
}

}  // namespace
}  // namespace roentgen::runtime
