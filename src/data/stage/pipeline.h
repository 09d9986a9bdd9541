// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Pipeline: list of stages that lead from the data set to batches. It can be written as text:
//
//   samples | shuffle | shard | repeat | map_and_batch(parallel=4) | prefetch(2)
//
// Settings of a stage are written in brackets as name=value. The first may omit its name, and defaults are not printed.
// docs/reference/pipeline.md describes every stage.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/stage/shard_options.h"
#include "data/stage/stage_list.h"

namespace roentgen::data {

/// List of compatible stages, from files or samples to batches. Value type.
class Pipeline {
 public:
  /// Throws ConfigError "[data.pipeline] ..." if there are no stages, if a stage cannot take the previous one's output
  /// (stage_options.h), or if the last stage does not produce batches. Also throws it for a full shuffle after an
  /// endless repeat, and for a shuffle after a shard that pads. Their order would be undefined.
  explicit Pipeline(std::vector<Stage> stages);

  [[nodiscard]] const std::vector<Stage>& stages() const { return stages_; }  ///< stages in order
  /// Text form, which parse_pipeline() accepts.
  [[nodiscard]] std::string text() const;
  /// True if the first stage is `files`.
  [[nodiscard]] bool is_of_files() const;
  /// True if it contains cache(where=disk).
  [[nodiscard]] bool is_kept_on_disk() const;
  friend bool operator==(const Pipeline&, const Pipeline&) = default;

 private:
  std::vector<Stage> stages_;
};

/// Kind of elements that a stage produces from elements of kind `before`. Throws ConfigError if it cannot take these.
[[nodiscard]] Carries gives(const Stage& stage, Carries before);

/// Text of a stage, such as "prefetch(count=2)".
[[nodiscard]] std::string text_of(const Stage& stage);

/// Parses the output of text() or the name of a preset. Throws ConfigError "[data.pipeline] ..." that names the stage
/// and lists the known words.
[[nodiscard]] Pipeline parse_pipeline(std::string_view text);

/// A named pipeline.
struct PipelinePreset {
  std::string_view name;  ///< name for parse_pipeline()
  std::string_view text;  ///< stages of the preset
  std::string_view what;  ///< one line that describes it
};
/// Presets: "default", "tf-official" and "naive".
[[nodiscard]] const std::vector<PipelinePreset>& pipeline_presets();

/// Pipeline of evaluation and prediction: every sample once, in order, with padding in the last batch.
[[nodiscard]] Pipeline evaluation_pipeline();
/// The preset "default" with `tail` as the handling of the samples that do not fill a batch at the end of an epoch.
[[nodiscard]] Pipeline training_pipeline(Tail tail);

}  // namespace roentgen::data
