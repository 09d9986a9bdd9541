// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "train/weights_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "core/error.h"
#include "data/transform/preprocess.h"
#include "train/import.h"

namespace roentgen::train {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Path of a test file written by tools/peers/torch_files_golden.py.
std::filesystem::path golden(const std::string& name) {
  const char* source = std::getenv("ROENTGEN_SOURCE_DIR");
  return std::filesystem::path(source == nullptr ? "." : source) / "tests" / "golden" / "torch" / name;
}

TEST(WeightsFile, of_pytorch_is_read_under_its_own_names) {
  const WeightsFile file = read_weights_file(golden("training.pt"));
  EXPECT_EQ(file.tensors.size(), 11U);
  EXPECT_EQ(file.tensors.front().name, "f32");
  EXPECT_FALSE(file.is_torchxrayvision);
  EXPECT_TRUE(file.labels.empty());
  EXPECT_THROW(static_cast<void>(read_weights_file(golden("evil.pt"))), ConfigError);
}

TEST(WeightsFile, of_torchxrayvision_is_told_by_its_class) {
  for (const std::string name : {"whole.pt", "whole_legacy.pt"}) {
    const WeightsFile file = read_weights_file(golden(name));
    EXPECT_TRUE(file.is_torchxrayvision);
    EXPECT_THAT(file.labels, ElementsAre("Mass", "Hernia"));
    EXPECT_THAT(file.notes, ElementsAre(HasSubstr("op_threshs omitted")));
    EXPECT_EQ(file.tensors.size(), 7U);
  }
}

TEST(WeightsFile, of_torchxrayvision_brings_its_own_preset_to_an_import) {
  const ImportSource source = read_import(golden("whole.pt"), "");
  EXPECT_EQ(source.preprocess, data::preset("xrv"));
  EXPECT_THAT(source.labels, ElementsAre("Mass", "Hernia"));
  EXPECT_EQ(source.notes.size(), 1U);
  EXPECT_EQ(read_import(golden("whole.pt"), "unit").preprocess, data::preset("unit"));
  EXPECT_THROW(static_cast<void>(read_import(golden("state.pt"), "")), ConfigError) << "without a preset";
}

}  // namespace
}  // namespace roentgen::train
