// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// roentgen predict: computes probabilities for images without labels. Can write heat maps and score them against boxes
// and masks.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <utility>

#include "cli/command_list.h"
#include "cli/output_file.h"
#include "cli/predict_options.h"
#include "cli/predict_output.h"
#include "core/error.h"
#include "core/foreign_text.h"
#include "core/log.h"
#include "core/plural.h"
#include "core/terminal.h"
#include "data/source/image_list.h"
#include "data/stage/sample_hashes.h"
#include "engine/engine.h"
#include "eval/leak.h"
#include "eval/localisation.h"
#include "eval/text_columns.h"
#include "io/safetensors.h"
#include "publish/heatmap_files.h"
#include "score/box_file.h"
#include "score/image_part.h"
#include "score/mask_folder.h"
#include "score/stored_evaluation.h"
#include "task/evaluate_checkpoint.h"
#include "train/heatmap.h"
#include "train/load_checkpoint.h"
#include "train/predict_files.h"
#include "train/recipe.h"

namespace roentgen::cli {
namespace {

namespace fs = std::filesystem;

// Returns the number of predicted images for which `truth` (a BoxFile or a score::MaskFolder) has boxes or masks.
// Throws DataError if two of these images have the same file name.
template <typename Truth>
std::size_t count_known(const Truth& truth, const data::Dataset& dataset, const std::string& what,
                        std::string_view kind) {
  std::set<std::string> met;
  for (const data::Sample& sample : dataset.samples) {
    if (!truth.has(sample.id)) continue;
    if (met.insert(fs::path(sample.id).filename().string()).second) continue;
    throw DataError(error_text(
        fmt::format("cli.{}", kind), what,
        fmt::format("images with different file names, because {} name an image by its file name only", kind),
        "two images with the same file name", "predicting the two folders one after the other"));
  }
  return met.size();
}

void check_boxes(const score::BoxFile& boxes, const data::Dataset& dataset, const std::string& what) {
  if (count_known(boxes, dataset, what, "boxes") > 0) return;
  throw DataError(error_text("cli.boxes", what, "boxes for these images and for labels of the checkpoint",
                             "no match among " + counted(boxes.count(), "box", "boxes"),
                             "the images that the boxes belong to"));
}

void check_masks(const score::MaskFolder& masks, const data::Dataset& dataset, const std::string& what) {
  if (count_known(masks, dataset, what, "masks") > 0) return;
  throw DataError(error_text("cli.masks", what, "masks for these images and for labels of the checkpoint", "no match",
                             "the images that the masks belong to"));
}

bool has_dicom(const data::Dataset& dataset) {
  return std::ranges::any_of(dataset.samples, [](const data::Sample& sample) {
    return data::may_be_dicom(sample.path) && data::starts_as_dicom(sample.path);
  });
}

// Computes, writes and scores the heat maps, batch by batch.
class Heatmaps {
 public:
  Heatmaps(const train::LoadedModel& model, const PredictOptions& options, HeatmapChoice choice)
      : model_(model),
        mapper_(*model.executable, *model.heat),
        choice_(std::move(choice)),
        picture_(data::parse_intensity(model.preprocess.intensity)) {
    if (!options.boxes.empty()) {
      boxes_.emplace(options.boxes, model.info.labels, options.box_grid_px);
    }
    if (!options.masks.empty()) masks_.emplace(options.masks, model.info.labels);
    for (const std::string& label : model.info.labels) scores_.push_back({.label = label});
  }

  // Creates the output folder, after all checks.
  void open_folder(const PredictOptions& options) {
    if (options.out.empty()) return;
    folder_.emplace(options.out, std::string(train::name_of(mapper_.head().method)),
                    options.shows_names ? publish::ImageNames::Shown : publish::ImageNames::Hidden,
                    options.leaves_out_raw ? publish::RawMaps::LeftOut : publish::RawMaps::Written);
  }

  // Checks whether images whose heat maps are scored were training images, because such scores mean little. Throws if
  // so, or only warns if the user allows it.
  void check_overlap(const data::Dataset& dataset, eval::OnOverlap on_overlap) {
    if (!boxes_ && !masks_) return;
    std::vector<std::uint32_t> scored;
    for (std::uint32_t i = 0; i < dataset.samples.size(); ++i) {
      const std::string& id = dataset.samples[i].id;
      if (boxes_ ? boxes_->has(id) : masks_->has(id)) scored.push_back(i);
    }
    overlap_ = eval::pixel_overlap(model_.info.training_pixels, data::read_hashes(dataset, scored, model_.preprocess));
    terminal::print(task::settle_leak(eval::pixel_leak_text(overlap_), eval::clean_pixels_text(overlap_), on_overlap));
  }

  [[nodiscard]] const std::optional<score::BoxFile>& boxes() const { return boxes_; }
  [[nodiscard]] const std::optional<score::MaskFolder>& masks() const { return masks_; }

  // Adds one image of the last batch; `told` are the probabilities that were printed for it.
  void add(const data::Sample& sample, const train::PredictedImage& image, const std::vector<float>& told) {
    const std::vector<std::size_t> chosen = choice_.of(told);
    std::set<std::size_t> labels(chosen.begin(), chosen.end());
    if (boxes_) {
      for (const std::size_t label : boxes_->labels_of(sample.id)) labels.insert(label);
    } else if (masks_) {
      for (const std::size_t label : masks_->labels_of(sample.id)) labels.insert(label);
    }
    if (labels.empty()) return;
    if (const Status status = picture_.load(sample); !status) throw DataError(status.error());
    for (const std::size_t label : labels) {
      const eval::CoarseMap cells = mapper_.map(image.row, static_cast<std::int64_t>(label));
      const eval::HeatMap map = picture_.map_back(cells, model_.preprocess);
      std::vector<eval::Box> truth;
      if (boxes_) truth = boxes_->boxes_of(sample.id, label, picture_.width_px(), picture_.height_px());
      if (!truth.empty()) scores_[label].add(map, truth);
      if (masks_ && (!boxes_ || !truth.empty())) score_mask(sample, label, map);
      if (std::ranges::find(chosen, label) == chosen.end()) continue;
      if (!map.is_anywhere_positive()) ++plain_;
      folder_->write({.number = static_cast<std::int64_t>(image.sample) + 1,
                      .image = sample.id,
                      .label = model_.info.labels[label],
                      .probability = told[label]},
                     picture_, map, truth);
    }
  }

  // Prints the summary of the heat maps and returns it as keys for the JSON file.
  Value::Table finish(const fs::path& out) {
    Value::Table keys{{"heatmap_method", train::name_of(mapper_.head().method)}};
    if (folder_) {
      folder_->finish();
      keys.emplace_back("heatmaps", folder_->count());
      terminal::print(fmt::format("{} {} ({}): {}\n", eval::with_commas(folder_->count()),
                                  plural(folder_->count(), "heat-map"), train::name_of(mapper_.head().method),
                                  terminal_text(out.string())));
      keys.emplace_back("heatmaps_nowhere_positive", plain_);
      if (plain_ > 0) {
        terminal::print(fmt::format("{} of them have no positive evidence; their overlay shows the image only\n",
                                    eval::with_commas(plain_)));
      }
    }
    if (boxes_ || masks_) {
      terminal::print(fmt::format("\nheat-maps against {}{}{}, and in brackets what chance gives:\n{}",
                                  boxes_ ? "boxes" : "", boxes_ && masks_ ? " and " : "", masks_ ? "masks" : "",
                                  eval::to_text(scores_)));
      Value value = eval::to_value(scores_);
      value.set("images", overlap_.test);
      value.set("images_trained_on", overlap_.training > 0 ? Value(overlap_.shared) : Value());
      if (boxes_) {
        value.set("boxes", boxes_->count());
        value.set("boxes_of_other_labels", boxes_->other_labels());
      }
      keys.emplace_back("localisation", std::move(value));
    }
    return keys;
  }

 private:
  void score_mask(const data::Sample& sample, std::size_t label, const eval::HeatMap& map) {
    const auto mask = masks_->read(sample.id, label, map.width_px, map.height_px);
    if (mask) scores_[label].add(map, *mask);
  }

  const train::LoadedModel& model_;
  train::HeatMapper mapper_;
  HeatmapChoice choice_;
  std::optional<score::BoxFile> boxes_;
  std::optional<score::MaskFolder> masks_;
  std::optional<publish::HeatmapFolder> folder_;
  std::vector<eval::LocalisationRow> scores_;
  eval::PixelOverlap overlap_;
  // Number of written maps that have no positive value.
  std::int64_t plain_ = 0;
  publish::Picture picture_;
};

class PredictCommand final : public Command {
 public:
  PredictCommand()
      : Command("predict", "Predict the probability of every finding in images, with heat-maps.",
                "roentgen predict --checkpoint best.safetensors chest.png\n"
                "roentgen predict --checkpoint best.safetensors folder --preds preds.csv --json preds.json\n"
                "roentgen predict --checkpoint best.safetensors folder --heatmap Mass,Nodule --out maps\n"
                "roentgen predict --checkpoint best.safetensors nih/images --boxes nih/BBox_List_2017.csv\n"
                "roentgen predict --checkpoint best.safetensors phantoms --masks phantoms/masks") {}
  [[nodiscard]] std::vector<Option> options() override { return options_.list(); }
  [[nodiscard]] Folders folders() const override {
    Folders folders{.data = {}, .made = options_.out, .read = {options_.images.begin(), options_.images.end()}};
    folders.read.push_back(options_.masks);
    folders.runs = run_of(options_.checkpoint);
    return folders;
  }
  [[nodiscard]] CommandResult run() override;

 private:
  [[nodiscard]] train::LoadedModel load(engine::Engine& engine, std::int64_t images) const;
  PredictOptions options_;
};

train::LoadedModel PredictCommand::load(engine::Engine& engine, std::int64_t images) const {
  return train::load_checkpoint(options_.checkpoint, engine,
                                {.batch = train::batch_for(images, options_.inference.batch),
                                 .threads = static_cast<int>(options_.inference.threads),
                                 .algorithms = options_.inference.algorithms,
                                 .dtype = options_.inference.dtype,
                                 .has_heatmaps = options_.has_heatmaps()});
}

// Returns the [data] options of the checkpoint's recipe with the checkpoint's labels; defaults if the recipe cannot be
// read.
data::SourceOptions recipe_data(const train::CheckpointInfo& info, const fs::path& checkpoint) {
  data::SourceOptions source;
  try {
    source = train::parse_recipe(info.recipe, checkpoint.string(), {}).data;
  } catch (const Error&) {  // the recipe is not needed for predictions
  }
  source.labels = info.labels;
  return source;
}

CommandResult PredictCommand::run() {
  options_.check();
  const auto engine = engine::make_engine(options_.inference.device);
  data::ImageList list = data::list_images(options_.images);
  if (!options_.list_file.empty()) {
    const std::size_t before = list.dataset.samples.size();
    score::keep_listed(list.dataset, options_.list_file);
    log::info(fmt::format("{} of {} on the list", list.dataset.samples.size(),
                          counted(static_cast<std::int64_t>(before), "image is", "images are")));
  }
  const auto total = static_cast<std::int64_t>(list.dataset.samples.size());
  const train::LoadedModel model = load(*engine, total);
  std::optional<eval::OperatingPoints> points;
  if (!options_.points.empty()) {
    points = score::read_image_points(options_.points, {.input = score::input_text(model.preprocess, "none"),
                                                        .weights_sha256 = io::tensors_sha256(options_.checkpoint)});
  }
  std::optional<Heatmaps> heatmaps;
  HeatmapChoice choice = options_.choice(model.info.labels);
  if (options_.has_heatmaps()) heatmaps.emplace(model, options_, std::move(choice));
  if (heatmaps && heatmaps->boxes()) check_boxes(*heatmaps->boxes(), list.dataset, options_.boxes.filename().string());
  if (heatmaps && heatmaps->masks()) check_masks(*heatmaps->masks(), list.dataset, options_.masks.filename().string());
  if (heatmaps) {
    heatmaps->check_overlap(list.dataset, options_.allows_overlap ? eval::OnOverlap::Warn : eval::OnOverlap::Refuse);
    heatmaps->open_folder(options_);
  }
  for (const std::string& note : list.left_out.notes("not images by their file extensions")) log::info(note);
  for (const std::string& note : data::class_folder_notes(list, recipe_data(model.info, options_.checkpoint)))
    log::info(note);
  for (const std::string& note : list.notes) log::info(note);
  if (const std::string dicom = data::exclusions_text(list.dicom); !dicom.empty()) log::info("DICOM files " + dicom);
  if (model.preprocess.intensity == "stored" && has_dicom(list.dataset)) {
    log::warning(
        "DICOM files are taken by their stored values, without their windows and tables: the checkpoint's "
        "preprocess.intensity is stored (docs/reference/dicom.md)");
  }

  const bool is_softmax = model.info.loss == "softmax";
  PredictionOutput output(model.info.labels, is_softmax ? eval::Outputs::Exclusive : eval::Outputs::Independent, points,
                          options_.predictions);
  Value unreadable = Value::array();
  train::PredictOptions predicting{.preprocess = model.preprocess, .loss = model.info.loss};
  predicting.workers = train::decode_workers({.workers = options_.inference.workers});
  predicting.on_progress = [&](std::int64_t done) {
    if (terminal::has_progress()) terminal::show_progress(fmt::format("{}/{} {}", done, total, plural(total, "image")));
  };
  const auto start = std::chrono::steady_clock::now();
  train::predict_files(*model.executable, list.dataset, predicting, [&](std::span<const train::PredictedImage> images) {
    for (const train::PredictedImage& image : images) {
      const data::Sample& sample = list.dataset.samples[image.sample];
      if (!image.reason.empty()) {
        terminal::print_error(image.reason);
        unreadable.push_back(Value::Table{{"image", sample.id}, {"reason", image.reason}});
        continue;
      }
      const std::vector<float> told =
          output.add(static_cast<std::int64_t>(image.sample) + 1, sample.id, image.probabilities);
      if (heatmaps) heatmaps->add(sample, image, told);
    }
  });
  terminal::clear_progress();
  output.finish();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  terminal::print(fmt::format("input: {}\n", model.preprocess.text()));
  if (points && points->temperature)
    terminal::print(fmt::format("probabilities after temperature {:.4g}\n", *points->temperature));
  // Image names may identify patients. Show them only on a terminal, because a log file may be stored less securely
  // than the images.
  const bool shows_names = options_.shows_names || ::isatty(STDOUT_FILENO) != 0;
  terminal::print(output.table(shows_names ? publish::ImageNames::Shown : publish::ImageNames::Hidden));
  terminal::print(
      fmt::format("{} {} in {:.1f} s\n", eval::with_commas(output.count()), plural(output.count(), "image"), seconds));
  Value::Table json{{"labels", Value::array()},
                    {"preprocess", model.preprocess.to_value()},
                    {"checkpoint", Value::Table{{"step", model.info.step}, {"epoch", model.info.epoch}}},
                    {"dtype", model.executable->plan().dtype()},
                    {"temperature", points && points->temperature ? Value(*points->temperature) : Value(nullptr)},
                    {"images", output.take_rows()}};
  for (const std::string& label : model.info.labels) json[0].second.push_back(label);
  if (heatmaps) {
    for (auto& key : heatmaps->finish(options_.out)) json.push_back(std::move(key));
  }
  const std::size_t bad = unreadable.as_array().size();
  if (bad > 0) terminal::print(fmt::format("{} of {} could not be read: see above\n", bad, counted(total, "image")));
  json.emplace_back("unreadable", std::move(unreadable));
  return {.json = Value(std::move(json)), .exit_code = bad > 0 ? kBadInput : kSuccess};
}

}  // namespace

std::unique_ptr<Command> make_predict_command() { return std::make_unique<PredictCommand>(); }

}  // namespace roentgen::cli
