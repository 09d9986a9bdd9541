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
       .doc = "best.safetensors; preprocessing and labels are its own",
       .need = Need::Required},
      {.name = "--list",
       .target = &list_file,
       .doc = "of these images only those that this file names, a name a line (test_list.txt)",
       .value_name = "FILE"},
      {.name = "--preds", .target = &predictions, .doc = "write the probabilities to this csv", .is_output = true},
      {.name = "--points", .target = &points, .doc = "thresholds and temperature that eval --save-points wrote"},
      {.name = "--heatmap",
       .target = &heatmap,
       .doc = "of each image's top label (default), of all, or of LABEL,LABEL",
       .value_name = "top|all|LABEL"},
      {.name = "--out",
       .target = &out,
       .doc = "new folder for heat-maps: overlays, raw maps and their list",
       .is_output = true,
       .value_name = "DIR"},
      {.name = "--no-raw",
       .target = &leaves_out_raw,
       .doc = "overlays alone, no raw maps: 4 MiB less for a 1024 px image"},
      {.name = "--image-names",
       .target = &shows_names,
       .doc = "image names in the names of those files, and in the table where that goes to a file"},
      {.name = "--boxes", .target = &boxes, .doc = "csv of true boxes to score heat-maps against"},
      {.name = "--box-grid",
       .target = &box_grid_px,
       .doc = "side of the grid that boxes are given in; 0 = the image's own pixels",
       .range = {0, 1e6}},
      {.name = "--masks",
       .target = &masks,
       .doc =
           "folder <Finding>/<image>.png of exact pixels to score heat-maps against; with --boxes, of boxed findings",
       .value_name = "DIR"},
      {.name = "--allow-overlap",
       .target = &allows_overlap,
       .doc = "score heat-maps also when images were trained on"}};
  return joined({own, inference.list()});
}

void PredictOptions::check() const {
  if (!heatmap.empty() && out.empty()) refuse_arguments("predict --heatmap", "--out DIR with it", "none");
  if (leaves_out_raw && out.empty()) refuse_arguments("predict --no-raw", "--out DIR with it", "none");
  if (allows_overlap && boxes.empty() && masks.empty()) {
    refuse_arguments("predict --allow-overlap", "--boxes or --masks with it", "neither");
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
                       "'" + std::string(name) + "'", "one of these, as they are spelt");
    }
    const auto index = static_cast<std::size_t>(known - labels.begin());
    if (std::ranges::find(choice.labels, index) == choice.labels.end()) choice.labels.push_back(index);
  }
  return choice;
}

}  // namespace roentgen::cli
