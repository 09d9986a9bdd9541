// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Pipeline: the way of the samples from the data set to batches, as a list of stages that is also text:
//
//   samples | shuffle | shard | repeat | map_and_batch(parallel=4) | prefetch(2)
//
// Settings of a stage stand in brackets as name=value. The first may omit its name, and defaults are not printed.
// docs/reference/pipeline.md describes every stage.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/stage/shard_options.h"
#include "data/stage/stage_list.h"

namespace roentgen::data {

/// A list of stages that fit together, from files or samples to batches. Value type.
class Pipeline {
 public:
  /// Throws ConfigError "[data.pipeline] ..." when stages do not fit each other (stage_options.h), when there are none,
  /// and when the last one gives no batches. Throws it also when the order cannot be kept: a full shuffle behind an
  /// endless repeat, or a shuffle behind a shard that pads.
  explicit Pipeline(std::vector<Stage> stages);

  [[nodiscard]] const std::vector<Stage>& stages() const { return stages_; }  ///< stages in order
  /// Text that parse_pipeline() takes.
  [[nodiscard]] std::string text() const;
  /// Does it begin with files?
  [[nodiscard]] bool is_of_files() const;
  /// Has it a cache(where=disk)?
  [[nodiscard]] bool is_kept_on_disk() const;
  friend bool operator==(const Pipeline&, const Pipeline&) = default;

 private:
  std::vector<Stage> stages_;
};

/// Kind that a stage gives to the next one when it is given `before`; ConfigError when it cannot take that.
[[nodiscard]] Carries gives(const Stage& stage, Carries before);

/// "prefetch(count=2)".
[[nodiscard]] std::string text_of(const Stage& stage);

/// Reads text() or the name of a preset. Throws ConfigError "[data.pipeline] ..." naming the stage and the known words.
[[nodiscard]] Pipeline parse_pipeline(std::string_view text);

/// Name and description of a pipeline.
struct PipelinePreset {
  std::string_view name;  ///< name for parse_pipeline()
  std::string_view text;  ///< stages of the preset
  std::string_view what;  ///< one line that describes it
};
/// "default", "tf-official", "naive".
[[nodiscard]] const std::vector<PipelinePreset>& pipeline_presets();

/// Pipeline of evaluation and prediction: every sample once, in order, the last batch padded.
[[nodiscard]] Pipeline evaluation_pipeline();
/// The preset "default" with another policy for the tail of an epoch.
[[nodiscard]] Pipeline training_pipeline(Tail tail);

}  // namespace roentgen::data
