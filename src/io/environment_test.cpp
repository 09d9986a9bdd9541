// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/environment.h"

#include <gtest/gtest.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "io/json.h"

namespace roentgen::io {
namespace {
TEST(Environment, says_what_was_built) {
  const Value report = environment_report();
  EXPECT_EQ(report.find_path("program.version")->as_string(), program_version());
  EXPECT_NE(program_version().find('.'), std::string_view::npos);
  EXPECT_FALSE(report.find_path("program.compiler")->as_string().empty());
  EXPECT_FALSE(report.find_path("program.build_type")->as_string().empty());
}

TEST(Environment, names_the_commit_or_says_unknown) {
  std::string_view commit = program_commit();
  if (commit == "unknown") return;
  if (commit.ends_with("+changes")) commit.remove_suffix(8);
  EXPECT_EQ(commit.size(), 40U);
  EXPECT_EQ(commit.find_first_not_of("0123456789abcdef"), std::string_view::npos) << commit;
}

TEST(Environment, counts_cores_and_memory_of_this_machine) {
  const Value report = environment_report();
  const std::int64_t logical = report.find_path("cpu.logical_cores")->as_integer();
  const std::int64_t usable = report.find_path("cpu.affinity_cores")->as_integer();
  EXPECT_GE(logical, 1);
  EXPECT_GE(usable, 1);
  EXPECT_GT(report.at("memory_bytes").as_integer(), std::int64_t{1} << 26);
}

/// Sets a variable until the object is destroyed.
class SetVariable {
 public:
  SetVariable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~SetVariable() { ::unsetenv(name_); }
  SetVariable(const SetVariable&) = delete;
  SetVariable& operator=(const SetVariable&) = delete;

 private:
  const char* name_;
};

TEST(Environment, lists_the_variables_of_openmp) {
  {
    const SetVariable places("OMP_PLACES", "{0,1}:4");
    const Value report = environment_report();
    const Value* found = report.at("variables").find("OMP_PLACES");
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->as_string(), "{0,1}:4");
  }
  EXPECT_EQ(environment_report().at("variables").find("OMP_PLACES"), nullptr);
}

TEST(Environment, lists_no_variable_that_may_hold_a_path_or_a_name) {
  const SetVariable tool("OMP_TOOL_LIBRARIES", "/home/alice/secret.so");
  const SetVariable other("OMP_TOOL", "secret");
  const SetVariable known("OMP_PLACES", "/home/alice/secret");
  const SetVariable address("KMP_AFFINITY", "secret@hospital");
  const SetVariable prefixed("NOT_OMP_NUM_THREADS", "secret");
  const std::string text = to_json(environment_report());
  EXPECT_EQ(text.find("secret"), std::string::npos) << text;
  EXPECT_EQ(text.find("alice"), std::string::npos) << text;
}

TEST(Environment, names_its_libraries) {
  const Value report = environment_report();
  for (const char* name : {"glibc", "onednn", "openssl", "nlohmann-json", "tomlplusplus", "cli11", "highway",
                           "libjpeg-turbo", "isa-l", "fmt", "spdlog", "spng", "zlib", "hwloc", "xxhash"}) {
    const Value* version = report.at("libraries").find(name);
    ASSERT_NE(version, nullptr) << name;
    ASSERT_TRUE(version->is_string()) << name;
    const std::string& text = version->as_string();
    EXPECT_NE(text.find('.'), std::string::npos) << name << " " << text;
    EXPECT_EQ(text.find_first_not_of("0123456789."), std::string::npos) << name << " " << text;
  }
}

TEST(Environment, names_neither_host_nor_folder) {
  const SetVariable tool("OMP_TOOL_LIBRARIES", "/home/alice/secret.so");
  const std::string text = to_json(environment_report());
  struct utsname names {};
  ASSERT_EQ(::uname(&names), 0);
  const std::string host = names.nodename;
  // Short host names such as "linux" or "gcc" occur in the text for other reasons.
  if (host.size() >= 8) {
    EXPECT_EQ(text.find(host), std::string::npos) << text;
  }
  EXPECT_EQ(text.find("/home"), std::string::npos) << text;
  const std::string file = __FILE__;
  EXPECT_EQ(text.find(file.substr(0, file.rfind('/'))), std::string::npos) << text;
}
}  // namespace
}  // namespace roentgen::io
