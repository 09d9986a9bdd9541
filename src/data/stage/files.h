// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// files: gives the names of all files that contain samples of the split, in the order of the data set.
#pragma once

#include <string_view>

#include "data/stage/stage_options.h"

namespace roentgen::data {

/// First stage of a pipeline that orders files instead of samples, such as one over record files.
struct FilesStage {
  static constexpr std::string_view kName = "files";  ///< name in pipeline texts

  void describe(StageVisitor& visitor);               ///< lists the settings
  [[nodiscard]] Carries gives(Carries before) const;  ///< output kind; ConfigError if the stage cannot take `before`
  friend bool operator==(const FilesStage&, const FilesStage&) = default;
};

}  // namespace roentgen::data
