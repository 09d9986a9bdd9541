// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// samples: gives the names of all samples of the split, in the order of the data set.
#pragma once

#include <string_view>

#include "data/stage/stage_options.h"

namespace roentgen::data {

/// First stage of a pipeline that orders samples instead of files.
struct SamplesStage {
  static constexpr std::string_view kName = "samples";  ///< name in pipeline texts

  void describe(StageVisitor& visitor);               ///< lists the settings
  [[nodiscard]] Carries gives(Carries before) const;  ///< output kind; ConfigError if the stage cannot take `before`
  friend bool operator==(const SamplesStage&, const SamplesStage&) = default;
};

}  // namespace roentgen::data
