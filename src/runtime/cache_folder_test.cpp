// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "runtime/cache_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "core/error.h"
#include "core/folder_testing.h"

namespace roentgen::runtime {
namespace {

namespace fs = std::filesystem;

/// Sets or removes an environment variable, and restores it at the end of the scope.
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
  const TemporaryFolder folder;
  const Variable temporary("TMPDIR", folder.path().c_str());
  const fs::path made = folder.path() / ("roentgen-cache-" + std::to_string(::getuid()));
  EXPECT_EQ(default_cache_folder(), made);
  EXPECT_EQ(fs::status(made).permissions(), fs::perms::owner_all);
}

TEST(CacheFolder, is_none_where_others_can_put_one) {
  const Variable cache("XDG_CACHE_HOME", nullptr);
  const Variable no_home("HOME", nullptr);
  const TemporaryFolder folder, elsewhere;
  const Variable temporary("TMPDIR", folder.path().c_str());
  const fs::path place = folder.path() / ("roentgen-cache-" + std::to_string(::getuid()));
  fs::create_directory_symlink(elsewhere.path(), place);
  EXPECT_EQ(default_cache_folder(), "") << "a link";
  fs::remove(place);
  fs::create_directory(place);
  fs::permissions(place, fs::perms::all);
  EXPECT_EQ(default_cache_folder(), "") << "written by everybody";
  fs::permissions(place, fs::perms::owner_all | fs::perms::others_read);
  EXPECT_EQ(default_cache_folder(), place);
  EXPECT_EQ(fs::status(place).permissions(), fs::perms::owner_all) << "no longer read by others";
  if (::getuid() == 0 && ::chown(place.c_str(), 1, 1) == 0) {
    EXPECT_EQ(default_cache_folder(), "") << "of another user";
    EXPECT_NE(make_private_folder(place).find("belongs to another user"), std::string::npos);
  }
  const Variable nowhere("TMPDIR", "/not/there");
  EXPECT_EQ(default_cache_folder(), "");
}

TEST(TemporaryFolder, is_named_where_it_is_none) {
  {
    const Variable temporary("TMPDIR", "/nowhere");
    try {
      static_cast<void>(temporary_folder());
      FAIL() << "expected a ConfigError";
    } catch (const ConfigError& error) {
      EXPECT_EQ(
          std::string(error.what()),
          "[runtime.files] TMPDIR: expected a folder for temporary files, got /nowhere: No such file or directory; "
          "try creating the folder, or TMPDIR=/tmp");
    }
  }
  {
    const Variable temporary("TMPDIR", "/proc");  // a folder in which nobody can create files, not even root
    try {
      static_cast<void>(temporary_folder());
      FAIL() << "expected a ConfigError";
    } catch (const ConfigError& error) {
      EXPECT_NE(std::string(error.what()).find("got /proc, in which no file can be created: "), std::string::npos)
          << error.what();
    }
  }
  const TemporaryFolder folder;
  const Variable temporary("TMPDIR", folder.path().c_str());
  EXPECT_EQ(temporary_folder(), folder.path());
  EXPECT_TRUE(fs::is_empty(folder.path()));
  const Variable none("TMPDIR", nullptr);
  EXPECT_EQ(temporary_folder(), "/tmp");
}

TEST(CacheFolder, finds_no_network_below_a_local_folder) {
  EXPECT_EQ(network_file_system("/proc"), nullptr);
  EXPECT_EQ(network_file_system("/proc/not/there"), nullptr);
}

}  // namespace
}  // namespace roentgen::runtime
