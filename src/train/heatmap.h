// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// HeatMapper: how much each cell of the last feature map contributes to a label. eval/heatmap.h maps cells to pixels.
#pragma once

#include <cstdint>
#include <memory>

#include "eval/heatmap.h"
#include "train/heat_head.h"

namespace roentgen::engine {
class Executable;
}

namespace roentgen::train {

/// Makes heat maps from the last outputs of an executable. Not thread-safe.
class HeatMapper {
 public:
  /// Takes an executable that was compiled for inference from the graph with_features() made for `head`. Its weights
  /// must be loaded and must not change. It must outlive the mapper.
  HeatMapper(const engine::Executable& executable, const HeatHead& head);
  ~HeatMapper();
  HeatMapper(const HeatMapper&) = delete;
  HeatMapper& operator=(const HeatMapper&) = delete;

  [[nodiscard]] const HeatHead& head() const { return head_; }  ///< layers that the maps come from
  /// Returns the heat map of label `label` for row `row` of the last forward(). Cam: sum over c of weight[label, c] *
  /// feature[c]; its mean plus the bias is the logit. GradCam: max(0, sum over c of g[c] * feature[c]). Here g[c] is
  /// the mean of d logit / d feature[c] over the cells, in double precision (engine/reference).
  [[nodiscard]] eval::CoarseMap map(std::int64_t row, std::int64_t label);

 private:
  class Tail;
  const engine::Executable& executable_;
  HeatHead head_;
  std::int64_t channels_ = 0;
  std::int64_t width_ = 0;
  std::int64_t height_ = 0;
  /// Weights of the linear layer for Cam, (K, C).
  std::vector<double> weights_;
  /// Layers after the feature map, for GradCam.
  std::unique_ptr<Tail> tail_;
};

}  // namespace roentgen::train
