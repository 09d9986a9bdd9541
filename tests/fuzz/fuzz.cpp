// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "tests/fuzz/fuzz.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include "core/error.h"
#include "core/folder_testing.h"

namespace roentgen::fuzz {
namespace {

// Folder in memory if the system has one, because every input writes a file.
std::filesystem::path scratch_parent() {
  std::error_code ignored;
  const std::filesystem::path memory = "/dev/shm";
  const bool is_there = std::filesystem::is_directory(memory, ignored) && ::access(memory.c_str(), W_OK) == 0;
  return is_there ? memory : std::filesystem::temp_directory_path();
}

}  // namespace

std::vector<std::string_view> target_names() {
#define RG_TARGET_NAME(name, seeds) #name,
  return {RG_FUZZ_TARGETS(RG_TARGET_NAME)};
#undef RG_TARGET_NAME
}

void run_target(std::string_view name, Input input) {
#define RG_RUN_TARGET(target, seeds) \
  if (name == #target) return fuzz_##target(input);
  RG_FUZZ_TARGETS(RG_RUN_TARGET)
#undef RG_RUN_TARGET
  throw std::logic_error("ROENTGEN_FUZZ: expected a target of tests/fuzz/target_list.h, got " + std::string(name));
}

std::string_view text_of(Input input) { return {reinterpret_cast<const char*>(input.data()), input.size()}; }

void require(bool holds, std::string_view what) {
  if (!holds) throw std::logic_error("expected " + std::string(what));
}

void may_refuse(const std::function<void()>& call) {
  const auto check = [](std::string_view text) {
    require(text.starts_with("[") && text.find('\n') == std::string_view::npos, "an error in one line");
  };
  try {
    call();
  } catch (const ConfigError& error) {
    check(error.what());
  } catch (const DataError& error) {
    check(error.what());
  } catch (const ShapeError& error) {
    check(error.what());
  }
}

const std::filesystem::path& scratch_folder() {
  static const TemporaryFolder scratch(scratch_parent());
  return scratch.path();
}

std::filesystem::path write_scratch(std::string_view name, Input bytes) {
  const std::filesystem::path path = scratch_folder() / name;
  std::ofstream(path, std::ios::binary) << text_of(bytes);
  return path;
}

}  // namespace roentgen::fuzz
