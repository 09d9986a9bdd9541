// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/predict_options.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "cli/arguments.h"
#include "core/comma_list.h"
#include "data/source/table_fields.h"

namespace roentgen::cli {

std::vector<std::size_t> HeatmapChoice::of(const std::vector<float>& probabilities) const {
  if (kind == Kind::None) return {};
  if (kind == Kind::Listed) return labels;
  if (kind == Kind::Top) {
    return {static_cast<std::size_t>(std::ranges::max_element(probabilities) - probabilities.begin())};
  }
  std::vector<std::size_t> all(probabilities.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

std::vector<Option> PredictOptions::list() {
  const std::vector<Option> own{
      {.name = "IMAGES", .target = &images, .doc = "PNG and JPEG files, and folders of them", .need = Need::Required},
      {.name = "--checkpoint",
       .target = &checkpoint,
       .doc = "checkpoint file; it defines preprocessing and labels",
       .need = Need::Required},
      {.name = "--list",
       .target = &list_file,
       .doc = "use only the images named in this file, one name per line",
       .value_name = "FILE"},
      {.name = "--preds",
       .target = &predictions,
       .doc = "write the predicted probabilities to this csv",
       .is_output = true},
      {.name = "--points", .target = &points, .doc = "read thresholds and temperature written by eval --save-points"},
      {.name = "--heatmap",
       .target = &heatmap,
       .doc = "draw heat-maps for the top label (default), all labels, or LABEL,LABEL",
       .value_name = "top|all|LABEL"},
      {.name = "--out",
       .target = &out,
       .doc = "new folder for heat-maps: overlays, raw maps and a list",
       .is_output = true,
       .value_name = "DIR"},
      {.name = "--no-raw",
       .target = &leaves_out_raw,
       .doc = "write no raw maps, only overlays; saves 4 MiB for a 1024 px image"},
      {.name = "--image-names",
       .target = &shows_names,
       .doc = "name images in heat-map file names, and in output to a file or pipe"},
      {.name = "--boxes", .target = &boxes, .doc = "csv of true boxes to compare heat-maps with"},
      {.name = "--box-grid",
       .target = &box_grid_px,
       .doc = "image width that --boxes refer to, px; 0 = width of each image",
       .range = {0, 1e6}},
      {.name = "--masks",
       .target = &masks,
       .doc = "true masks, <Finding>/<image>.png; with --boxes, only boxed findings",
       .value_name = "DIR"},
      {.name = "--allow-overlap",
       .target = &allows_overlap,
       .doc = "score heat-maps even if images were in the training set"}};
  return joined({own, inference.list()});
}

void PredictOptions::check() const {
  if (!heatmap.empty() && out.empty()) refuse_missing("predict --heatmap", "--out DIR");
  if (leaves_out_raw && out.empty()) refuse_missing("predict --no-raw", "--out DIR");
  if (allows_overlap && boxes.empty() && masks.empty()) {
    refuse_missing("predict --allow-overlap", "--boxes FILE or --masks DIR");
  }
}

HeatmapChoice PredictOptions::choice(const std::vector<std::string>& labels) const {
  if (out.empty()) return {};
  if (heatmap.empty() || heatmap == "top") return {.kind = HeatmapChoice::Kind::Top};
  if (heatmap == "all") return {.kind = HeatmapChoice::Kind::All};
  HeatmapChoice choice{.kind = HeatmapChoice::Kind::Listed};
  for (const std::string_view name : comma_parts(heatmap)) {
    const auto known = std::ranges::find(labels, name);
    if (known == labels.end()) {
      refuse_arguments("predict --heatmap", "top, all or labels of the checkpoint: " + data::first_names(labels, 20),
                       "'" + std::string(name) + "'", "one of these, spelt in the same way");
    }
    const auto index = static_cast<std::size_t>(known - labels.begin());
    if (std::ranges::find(choice.labels, index) == choice.labels.end()) choice.labels.push_back(index);
  }
  return choice;
}

}  // namespace roentgen::cli
