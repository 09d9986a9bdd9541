// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "publish/error_gallery.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/error_parts.h"
#include "core/log.h"
#include "core/plural.h"
#include "data/source/image_list.h"
#include "data/source/name_index.h"
#include "engine/engine.h"
#include "eval/worst_cases.h"
#include "publish/heatmap_files.h"
#include "train/heatmap.h"
#include "train/load_checkpoint.h"
#include "train/predict_files.h"
#include "train/recipe.h"

namespace roentgen::publish {
namespace {

namespace fs = std::filesystem;

// Batch size that `roentgen predict` uses for few images. A batch of one image would be computed by another matrix
// product, which rounds differently.
constexpr std::int64_t kBatch = 8;

// Position of a picture in the gallery.
struct Place {
  std::size_t label = 0;
  bool is_false_positive = false;
  std::size_t rank = 0;
};

// Positions in the gallery, by image index in the predictions.
using Places = std::map<std::size_t, std::vector<Place>>;

Thumbnail thumbnail(const Picture& picture, int channels, std::vector<std::uint8_t> pixels) {
  return shrink({.width_px = picture.width_px(),
                 .height_px = picture.height_px(),
                 .channels = channels,
                 .pixels = std::move(pixels)},
                kGalleryPx);
}

// Finds an image by name, also with another file ending. The tables of MIMIC-CXR-JPG name JPEG files, which users may
// have converted to PNG.
std::optional<std::size_t> find_image(const data::NameIndex& index, const fs::path& name) {
  if (const auto at = index.find(name.string())) return at;
  for (const char* extension : {".png", ".jpg", ".jpeg"}) {
    if (const auto at = index.find(fs::path(name).replace_extension(extension).string())) return at;
  }
  return std::nullopt;
}

// Returns the image files of the images in `places`, in ascending order of their indices.
data::Dataset find_images(const eval::Predictions& predictions, const Places& places, const fs::path& folder) {
  data::Dataset all = data::list_images({folder.string()}).dataset;
  const data::NameIndex index(all);
  data::Dataset found;
  std::set<std::size_t> taken;
  std::string first_absent;
  for (const auto& [row, unused] : places) {
    const std::string& name = predictions.image_ids[row];
    const auto at = find_image(index, name);
    if (at && taken.insert(*at).second) {
      found.samples.push_back(all.samples[*at]);
    } else if (first_absent.empty()) {
      first_absent = fmt::format("{} {}", name, at ? "is the file of another one" : "is not there");
    }
  }
  if (found.samples.size() == places.size()) return found;
  throw DataError(error_text(
      "cli.report", "--data " + folder.string(),
      fmt::format("the {} of the gallery, each with a different file name", counted(std::ssize(places), "image")),
      fmt::format("{} of them: {}", found.samples.size(), first_absent),
      "the folder of the predictions' images, or --gallery 0"));
}

// Draws the pictures of the gallery, one image after the other.
class Filler {
 public:
  Filler(const eval::Predictions& predictions, const GalleryRequest& request, const train::LoadedModel& model,
         Gallery& gallery)
      : predictions_(predictions),
        names_(request.names),
        model_(model),
        gallery_(gallery),
        picture_(data::parse_intensity(model.preprocess.intensity)) {
    if (model.heat) {
      mapper_.emplace(*model.executable, *model.heat);
      gallery_.method = train::name_of(model.heat->method);
    }
    for (const std::string& label : predictions.label_names) {
      const auto at = std::ranges::find(model.info.labels, label);
      if (at == model.info.labels.end()) {
        throw DataError(error_text("cli.report", request.checkpoint.filename().string(),
                                   "a checkpoint with the labels of the predictions", "no label " + label,
                                   "predictions of this run, or --gallery 0"));
      }
      outputs_.push_back(static_cast<std::size_t>(at - model.info.labels.begin()));
    }
  }

  void add(std::size_t row, const std::vector<Place>& places, const data::Sample& sample,
           const train::PredictedImage& image) {
    if (!image.reason.empty()) throw DataError(image.reason);
    if (const Status status = picture_.load(sample); !status) throw DataError(status.error());
    const std::vector<std::uint8_t> gray = picture_.gray();
    const Thumbnail small = thumbnail(picture_, 1, gray);
    for (const Place& place : places) {
      const std::size_t output = outputs_[place.label];
      const float told = predictions_.probabilities[row * predictions_.label_names.size() + place.label];
      GalleryRow& finding = gallery_.rows[place.label];
      (place.is_false_positive ? finding.false_positives : finding.false_negatives)[place.rank] = {
          .probability = told,
          .image = names_ == ImageNames::Shown ? predictions_.image_ids[row] : std::string(),
          .picture = small,
          .overlay = overlay_of(gray, image.row, output)};
      gallery_.largest_difference =
          std::max(gallery_.largest_difference,
                   std::abs(static_cast<double>(told) - static_cast<double>(image.probabilities[output])));
    }
  }

 private:
  // Returns the picture with the heat-map as overlay; empty if the network does not support heat-maps.
  [[nodiscard]] Thumbnail overlay_of(const std::vector<std::uint8_t>& gray, std::int64_t row, std::size_t output) {
    if (!mapper_) return {};
    const eval::CoarseMap cells = mapper_->map(row, static_cast<std::int64_t>(output));
    return thumbnail(picture_, 3, eval::overlay(gray, picture_.map_back(cells, model_.preprocess)));
  }

  const eval::Predictions& predictions_;
  ImageNames names_;
  const train::LoadedModel& model_;
  std::optional<train::HeatMapper> mapper_;
  Gallery& gallery_;
  /// Index of the model's output for each label of the predictions.
  std::vector<std::size_t> outputs_;
  Picture picture_;
};

// Loads a model for computing heat-maps if its network supports them. Otherwise loads it without heat-maps, and sets
// `no_maps` to the reason.
train::LoadedModel load_model(const fs::path& checkpoint, engine::Engine& engine, std::string& no_maps) {
  try {
    return train::load_checkpoint(checkpoint, engine, {.batch = kBatch, .has_heatmaps = true});
  } catch (const ConfigError& error) {
    const ErrorParts parts = error_parts(error.what());
    if (parts.thing != "train.heatmap") throw;
    no_maps = parts.got;
  }
  log::info("the gallery has no heat-maps: " + no_maps);
  return train::load_checkpoint(checkpoint, engine, {.batch = kBatch});
}

}  // namespace

Gallery make_gallery(const eval::Predictions& predictions, const GalleryRequest& request, engine::Engine& engine) {
  Gallery gallery;
  Places places;
  for (std::size_t label = 0; label < predictions.label_names.size(); ++label) {
    const eval::WorstCases cases = eval::worst_cases(predictions, label, request.cases);
    for (const bool is_false_positive : {true, false}) {
      const auto& rows = is_false_positive ? cases.false_positives : cases.false_negatives;
      for (std::size_t i = 0; i < rows.size(); ++i) places[rows[i]].push_back({label, is_false_positive, i});
    }
    gallery.rows.push_back({.label = predictions.label_names[label],
                            .false_positives = std::vector<GalleryCase>(cases.false_positives.size()),
                            .false_negatives = std::vector<GalleryCase>(cases.false_negatives.size())});
  }
  const data::Dataset images = find_images(predictions, places, request.data);
  const train::LoadedModel model = load_model(request.checkpoint, engine, gallery.no_maps);
  Filler filler(predictions, request, model, gallery);
  std::vector<const Places::value_type*> order;
  for (const auto& entry : places) order.push_back(&entry);
  train::PredictOptions options{.preprocess = model.preprocess, .loss = model.info.loss};
  options.workers = train::decode_workers({});
  train::predict_files(*model.executable, images, options, [&](std::span<const train::PredictedImage> batch) {
    for (const train::PredictedImage& image : batch) {
      const auto& [row, standing] = *order[image.sample];
      filler.add(row, standing, images.samples[image.sample], image);
    }
  });
  return gallery;
}

}  // namespace roentgen::publish
