// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "engine/cuda/cudnn_library.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "core/error.h"

namespace roentgen::engine::cuda {
namespace {

/// Error of cudnn_text(), which `roentgen doctor` prints, if $ROENTGEN_CUDNN names this file. Each test runs in a
/// separate process.
std::string error_with(const char* file) {
  ::setenv("ROENTGEN_CUDNN", file, 1);
  try {
    static_cast<void>(cudnn_text());
  } catch (const DeviceError& error) {
    return error.what();
  }
  return "no error";
}

TEST(CudnnLibrary, absent_file_is_named_with_the_version_wanted) {
  const std::string error = error_with("/no/such/libcudnn.so.9");
  EXPECT_NE(error.find("/no/such/libcudnn.so.9"), std::string::npos) << error;
  EXPECT_NE(error.find("version " + compiled_cudnn_version()), std::string::npos) << error;
}

TEST(CudnnLibrary, another_library_is_refused) {
  const std::string error = error_with("libc.so.6");
  EXPECT_NE(error.find("cudnnGetVersion"), std::string::npos) << error;
}

TEST(CudnnLibrary, older_version_is_refused_with_both_numbers) {
  const std::string error = error_with(RG_OLD_CUDNN);
  EXPECT_NE(error.find("expected version " + compiled_cudnn_version() + " or later, got "), std::string::npos) << error;
  EXPECT_NE(error.find("8.9.7"), std::string::npos) << error;
  EXPECT_EQ(error.find('\n'), std::string::npos) << error;
}

TEST(CudnnLibrary, text_has_the_loaded_version_and_that_of_the_headers) {
  std::string text;
  try {
    text = cudnn_text();
  } catch (const DeviceError& error) {
    GTEST_SKIP() << "NO CUDNN, NOTHING TESTED: " << error.what();
  }
  EXPECT_TRUE(text.starts_with("cuDNN 9.")) << text;
  EXPECT_TRUE(text.ends_with(" (needs " + compiled_cudnn_version() + ")")) << text;
}

}  // namespace
}  // namespace roentgen::engine::cuda
