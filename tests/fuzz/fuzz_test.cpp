// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Runs every fuzz target on its checked-in inputs: unchanged, truncated, and with changed bytes. This finds little that
// is new, but keeps targets and former failures tested where there is no clang.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "core/random.h"
#include "tests/fuzz/entry.h"
#include "tests/fuzz/fuzz.h"

namespace roentgen::fuzz {
namespace {

std::filesystem::path corpus_of(std::string_view target) {
  const char* source = std::getenv("ROENTGEN_SOURCE_DIR");
  const std::filesystem::path root = source == nullptr ? std::filesystem::current_path() : source;
  return root / "tests" / "fuzz" / "corpus" / target;
}

std::vector<std::filesystem::path> files_of(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

class FuzzTarget : public testing::TestWithParam<std::string_view> {
 protected:
  FuzzTarget() { ::setenv("ROENTGEN_FUZZ", std::string(GetParam()).c_str(), 1); }
  static void run(const std::string& bytes) {
    EXPECT_NO_THROW(
        static_cast<void>(LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size())))
        << bytes.size() << " bytes";
  }
};

TEST_P(FuzzTarget, keeps_its_promise_on_its_corpus) {
  const auto files = files_of(corpus_of(GetParam()));
  ASSERT_FALSE(files.empty()) << "a target without an input in " << corpus_of(GetParam());
  run("");
  for (const auto& path : files) {
    SCOPED_TRACE(path.string());
    std::ifstream file(path, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), {}};
    run(bytes);
    constexpr std::size_t kCuts = 40;
    const std::size_t step = std::max<std::size_t>(bytes.size() / kCuts, 1);
    for (std::size_t size = 0; size < bytes.size(); size += step) run(bytes.substr(0, size));
    Random random(20261122, RandomStage::Test);
    constexpr int kChanges = 100;
    for (int i = 0; i < kChanges && !bytes.empty(); ++i) {
      std::string changed = bytes;
      changed[random.below(changed.size())] = static_cast<char>(random.below(256));
      run(changed);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, FuzzTarget, testing::ValuesIn(target_names()),
                         [](const auto& parameter) { return std::string(parameter.param); });

TEST(Fuzz, a_target_that_is_none_is_named) { EXPECT_THROW(run_target("none", {}), std::logic_error); }

}  // namespace
}  // namespace roentgen::fuzz
