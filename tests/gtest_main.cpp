// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// main() of every test executable. One process runs all instances of a parameterised test. This main() distinguishes
// three outcomes that GoogleTest reports as success:
//   no case matched the filter    an error: a test that never ran proves nothing
//   every case was skipped        exit status 77, which ctest reports as skipped
//   some cases were skipped       a line that tools/skipped_cases.py adds up
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

namespace {

constexpr int kAllSkipped = 77;  // SKIPPED_STATUS of tools/test_entries.py

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  const int status = RUN_ALL_TESTS();
  const testing::UnitTest& unit_test = *testing::UnitTest::GetInstance();
  if (GTEST_FLAG_GET(list_tests) || status != EXIT_SUCCESS) return status;
  const int wanted = unit_test.test_to_run_count(), skipped = unit_test.skipped_test_count();
  if (wanted == 0) {
    std::cerr << "[tests.main] " << GTEST_FLAG_GET(filter) << ": expected at least one test, got none\n";
    return EXIT_FAILURE;
  }
  if (skipped == wanted) return kAllSkipped;
  if (skipped > 0) std::cout << "[tests.main] skipped " << skipped << " of " << wanted << " cases\n";
  return status;
}
