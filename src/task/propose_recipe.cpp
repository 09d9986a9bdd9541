// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "task/propose_recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "core/foreign_text.h"
#include "core/plural.h"
#include "data/source/options.h"
#include "data/stage/bad_share.h"
#include "io/toml.h"

namespace roentgen::task {
namespace {

constexpr std::int64_t kUsualPx = 224;
constexpr std::size_t kLineLength = 118;

const data::SplitSummary& training(const DataLook& look) { return look.dataset.summary(data::Split::Train); }

// Wraps a text as comment lines of at most kLineLength, indenting all but the first by `indent`.
std::string comment(std::string_view text, std::string_view indent = "") {
  std::string lines, line = "#";
  const std::string safe = terminal_text(text);
  for (std::string_view rest = safe; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    if (line.size() + 1 + end > kLineLength && line.size() > indent.size() + 1) {
      lines += line + "\n";
      line = fmt::format("#{}", indent);
    }
    line += ' ';
    line += rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return lines + line + "\n";
}

// Formats a key as TOML: "key = value".
std::string line_of(const ProposedKey& key) { return io::to_toml(Value::Table{{key.key, key.value}}); }

struct ImageSizes {
  std::int64_t short_px = 0;  // median of the shorter sides
  std::int64_t images = 0;    // number of images with readable headers
  bool has_dicom = false;
  std::string text;  // description for people
};

ImageSizes sizes_of(const data::Census& census) {
  ImageSizes sizes{.images = census.images - std::ssize(census.broken)};
  std::map<std::int64_t, std::int64_t> sides;
  std::int64_t largest = 0;
  for (const auto& [size, count] : census.sizes) {
    sides[std::min(size.first, size.second)] += count;
    largest = std::max({largest, size.first, size.second});
  }
  std::int64_t below = 0;
  for (const auto& [side, count] : sides) {
    below += count;
    sizes.short_px = side;
    if (2 * below >= sizes.images) break;
  }
  for (const auto& [form, count] : census.forms) {
    sizes.has_dicom = sizes.has_dicom || form.starts_with("dicom");
    sizes.text += fmt::format("{}{} ({})", sizes.text.empty() ? "" : ", ", form, count);
  }
  if (!sides.empty()) {
    const auto [least, most] = std::pair(sides.begin()->first, sides.rbegin()->first);
    sizes.text += fmt::format("; shorter sides {} px, longest side {} px",
                              least == most ? fmt::to_string(most) : fmt::format("{} to {}", least, most), largest);
  }
  return sizes;
}

// Collects proposed keys; each add_ function adds the keys of one section.
struct Keys {
  std::vector<ProposedKey> list;
  void add(std::string_view section, std::string_view key, Value value, std::string reason) {
    list.push_back({std::string(section), std::string(key), std::move(value), std::move(reason)});
  }
};

void add_model(const DataLook& look, Keys& keys) {
  constexpr std::int64_t kSmall = 10000, kLarge = 20000;
  const std::string images = counted(training(look).images, "training image");
  if (training(look).images >= kLarge) {
    return keys.add("model", "name", "densenet121", images + ": the usual network for chest X-rays (CheXNet)");
  }
  keys.add("model", "name", "resnet18",
           images + ": a small network trains fast and overfits less; densenet121 from about 20,000 images on");
  if (training(look).images < kSmall) {
    keys.add("model", "width", 32, "Half the usual channels, a quarter of the work, for so few images");
  }
}

std::string split_reason(const DataLook& look) {
  std::string text = "Splits: " + look.dataset.split_origin + ". Images:", comma;
  for (const data::SplitSummary& summary : look.dataset.summaries) {
    if (summary.images == 0) continue;
    text += fmt::format("{} {} {}", std::exchange(comma, ","), data::name_of(summary.split), summary.images);
    if (summary.patients > 0) text += fmt::format(" ({})", counted(summary.patients, "patient"));
  }
  return text;
}

std::string data_reason(const DataLook& look, std::string_view key) {
  if (key == "labels") return "Labels: " + look.labels_from + ". Remove the labels that you do not want to train";
  if (key == "views") return "Views: " + look.views_from;
  if (key == "split_unit") return "Patients are unknown, so the split is drawn by image, which can leak patients";
  if (key == "csv") return "Table of the images, in the data folder";
  if (key == "image") return "Column of the image files in that table";
  if (key == "patient") return "Column of the patients in that table";
  return "As --set says";
}

void add_data(const DataLook& look, Keys& keys) {
  keys.add(
      "data", "source", look.source.source,
      fmt::format("How the folder is read; docs/reference/data.md lists all sources. {}",
                  look.patient_from.empty() ? "Patients: unknown for some images" : "Patients: " + look.patient_from));
  keys.add("data", "split", look.source.split.mode == data::SplitMode::Auto ? Value("auto") : Value(),
           split_reason(look));
  const Value usual = data::to_value(data::SourceOptions{}), chosen = data::to_value(look.source);
  for (const auto& [key, value] : chosen.as_table()) {
    const Value* other = usual.find(key);
    if (key == "source" || (other != nullptr && *other == value)) continue;
    if (key == "split") {
      keys.list.back().value = value;
      continue;
    }
    keys.add("data", key, value, data_reason(look, key));
  }
}

void add_input(const DataLook& look, Keys& keys) {
  const ImageSizes sizes = sizes_of(look.census);
  constexpr std::int64_t kStep = 32, kFine_px = 512;
  const std::int64_t fitting = std::max(sizes.short_px / kStep * kStep, kStep);
  keys.add("preprocess", "preset", "xray", "One gray channel");
  keys.add("preprocess", "size", sizes.short_px == 0 ? kUsualPx : std::min(kUsualPx, fitting),
           fmt::format(
               "Side of the network's input, px. Inspected {}: {}{}", counted(sizes.images, "image"), sizes.text,
               sizes.short_px >= kFine_px ? ". With 512, small findings keep more pixels, at 5 times the work" : ""));
  if (sizes.has_dicom) {
    keys.add("preprocess", "intensity", "voi",
             "DICOM files: gray values by the window of the header, as in a viewer; other files unchanged");
  }
  keys.add("augment", "rotate", 10, "Small distortions. No mirror images: they put the heart on the wrong side");
  keys.add("augment", "translate", 0.05, "");
  keys.add("augment", "scale", 0.1, "");
}

/// Counts the unreadable images of one split.
std::int64_t unreadable_in(const DataLook& look, data::Split split) {
  return std::ranges::count_if(look.unreadable,
                               [&](std::uint32_t sample) { return look.dataset.samples.at(sample).split == split; });
}

/// Share of the training images that train.max_bad must tolerate; 0 if none is unreadable. It is the larger of two
/// shares: known unreadable training images, and unreadable images in the sample whose headers were read.
double unreadable_share(const DataLook& look) {
  const std::int64_t found = unreadable_in(look, data::Split::Train);
  const bool is_part = look.census.images < std::ssize(look.dataset.samples);
  const std::int64_t broken = is_part ? std::ssize(look.census.broken) : 0;
  return std::max(found > 0 ? data::share_admitting(found, training(look).images) : 0.0,
                  broken > 0 ? data::share_admitting(broken, look.census.images) : 0.0);
}

/// Proposes train.max_bad if the default is too small. Nullopt if the default suffices, or if so many images are
/// unreadable that the user should repair them.
std::optional<double> proposed_max_bad(const DataLook& look) {
  constexpr double kMost = 0.1;
  const double share = unreadable_share(look);
  return share > train::TrainRecipe{}.max_bad && share <= kMost ? std::optional(share) : std::nullopt;
}

bool has_both_classes(const data::SplitSummary& summary) {
  return std::ranges::any_of(
      summary.labels, [](const data::LabelCounts& counts) { return counts.positives > 0 && counts.negatives > 0; });
}

void add_training(const DataLook& look, Keys& keys) {
  constexpr std::int64_t kFewestEpochs = 12, kMostEpochs = 40, kSeenImages = 60000;
  constexpr std::int64_t kMostBatch = 32, kFewestBatch = 4, kUpdates = 20;
  const std::int64_t images = std::max<std::int64_t>(training(look).images, 1);
  const std::int64_t epochs = std::clamp(kSeenImages / images, kFewestEpochs, kMostEpochs);
  std::int64_t batch = kMostBatch;
  while (batch > kFewestBatch && batch * kUpdates > images) batch /= 2;
  batch = std::min(batch, images);
  keys.add("train", "epochs", epochs, fmt::format("{} in all epochs together", counted(epochs * images, "image")));
  keys.add("train", "batch", batch, fmt::format("{} an epoch", counted(images / batch, "update")));
  const bool is_by_auroc = has_both_classes(look.dataset.summary(data::Split::Val));
  keys.add("train", "select", is_by_auroc ? "auroc" : "loss",
           is_by_auroc ? "Keeps the epoch with the best validation AUROC"
                       : "Keeps the epoch with the lowest loss: no label has both classes among the validation images");
  keys.add("train", "early_stop", epochs > kFewestEpochs ? 8 : 4, "Stops after so many epochs without improvement");
  if (const auto share = proposed_max_bad(look)) {
    keys.add("train", "max_bad", *share,
             fmt::format("Share of unreadable images that training replaces. Found: {}, {} of them in train",
                         look.unreadable.size(), unreadable_in(look, data::Split::Train)));
  }
  const bool is_large = keys.list.front().value == Value("densenet121");
  keys.add("optimizer", "name", "adam", "");
  keys.add("optimizer", "lr", is_large ? 1e-4 : 1e-3,
           is_large ? "As in the recipe default" : "For random weights; use 1e-4 with --init");
  keys.add("schedule", "name", "cosine", "");
  keys.add("schedule", "warmup_epochs", 1, "");
}

// Formats images per second with at least two digits.
std::string rate_text(double images_per_s) {
  return images_per_s >= 10.0 ? fmt::format("{:.0f}", images_per_s) : fmt::format("{:.2g}", images_per_s);
}

std::string hours_text(double hours) {
  constexpr double kMinutes = 60.0;
  return hours < 1.0 ? counted(std::max<std::int64_t>(std::llround(hours * kMinutes), 1), "minute")
                     : fmt::format("{:.1f} hours", hours);
}

}  // namespace

std::vector<ProposedKey> propose_keys(const DataLook& look) {
  Keys keys;
  add_model(look, keys);
  add_data(look, keys);
  add_input(look, keys);
  add_training(look, keys);
  return std::move(keys.list);
}

std::string unreadable_text(const DataLook& look) {
  if (look.unreadable.empty()) return {};
  std::string text = counted(std::ssize(look.unreadable), "image") +
                     " cannot be read; roentgen inspect --broken FILE lists images with a broken header, with --pixels "
                     "all broken images";
  const double usual = train::TrainRecipe{}.max_bad, share = unreadable_share(look);
  const std::optional<double> proposed = proposed_max_bad(look);
  if (share > 0.0) {
    text += proposed || share <= usual
                ? fmt::format("; training omits them, up to a share of train.max_bad = {:g}", proposed.value_or(usual))
                : fmt::format(
                      "; training would stop, because their share exceeds train.max_bad = {:g}; {:g} would be enough",
                      usual, share);
  }
  const std::int64_t other = unreadable_in(look, data::Split::Val) + unreadable_in(look, data::Split::Test);
  if (other > 0)
    text += fmt::format("; {} of them in val or test would stop validation or eval: repair or remove them", other);
  return text;
}

train::Recipe recipe_of(const std::vector<ProposedKey>& keys) {
  Value table = Value::table();
  for (const ProposedKey& key : keys) table.set_path(key.section + "." + key.key, key.value);
  return train::recipe_from_value(table, "the proposed recipe");
}

double expected_hours(const train::Recipe& recipe, const data::Dataset& dataset, const TrainingSpeed& speed) {
  constexpr double kValidationShare = 1.0 / 3.0, kSeconds = 3600.0;
  const auto images = static_cast<double>(dataset.summary(data::Split::Train).images);
  const auto validation = static_cast<double>(dataset.summary(data::Split::Val).images);
  return static_cast<double>(recipe.train.epochs) * (images + kValidationShare * validation) /
         (speed.images_per_s * kSeconds);
}

std::string time_text(const train::Recipe& recipe, const data::Dataset& dataset, const TrainingSpeed& speed) {
  constexpr double kLong = 12.0;
  const double hours = expected_hours(recipe, dataset, speed);
  std::string text = fmt::format(
      "about {} for all {} epochs on this machine, as busy as it is now ({}): {} images/s in training; {}",
      hours_text(hours), recipe.train.epochs, counted(speed.threads, "thread"), rate_text(speed.images_per_s),
      speed.is_input_bound()
          ? fmt::format("reading and decoding limit it ({} images/s alone)", rate_text(speed.decoded_per_s))
          : fmt::format("computing limits it (decoding alone: {} images/s)", rate_text(speed.decoded_per_s)));
  if (hours <= kLong) return text;
  return text + (speed.is_input_bound() ? "; roentgen convert --resize makes small copies of the images once"
                                        : fmt::format("; preprocess.size = {} would take about {}",
                                                      recipe.preprocess.size_px / 2, hours_text(hours / 4.0)));
}

std::vector<std::string> next_commands(const DataLook& look, const std::filesystem::path& file) {
  const std::string recipe = shell_word(file.empty() ? "recipe.toml" : file.string());
  const std::string data = shell_word(look.source.root.string());
  const bool has_test = look.dataset.summary(data::Split::Test).images > 0;
  constexpr std::string_view kBest = "run/checkpoints/best.safetensors";
  return {fmt::format("roentgen train --recipe {} --data {} --out run", recipe, data),
          fmt::format("roentgen eval --checkpoint {} --data {} --split {}", kBest, data, has_test ? "test" : "val"),
          fmt::format("roentgen predict --checkpoint {} NEW_IMAGES --preds preds.csv --out heatmaps", kBest)};
}

std::string proposed_text(const DataLook& look, const std::vector<ProposedKey>& keys,
                          const std::optional<TrainingSpeed>& speed, const std::filesystem::path& file) {
  const data::Dataset& dataset = look.dataset;
  std::string text =
      comment(fmt::format("Proposed by roentgen init for {} with {}.", counted(std::ssize(dataset.samples), "image"),
                          counted(std::ssize(dataset.label_names), "label"))) +
      "#\n";
  for (const std::string& command : next_commands(look, file)) text += "#   " + command + "\n";
  constexpr std::string_view kIndent = "        ";
  text += "#\n" + comment("You can change every value; roentgen train --keys lists all keys.");
  if (speed) text += comment("Time    " + time_text(recipe_of(keys), dataset, *speed), kIndent);
  for (const std::string& doubt : look.doubts) text += comment("Check   " + doubt, kIndent);
  text += "# Result  not measured\n";
  std::string section;
  for (const ProposedKey& key : keys) {
    if (key.section != section) text += fmt::format("\n[{}]\n", key.section);
    section = key.section;
    if (!key.reason.empty()) text += comment(key.reason + ".");
    if (!key.value.is_null()) text += line_of(key);
  }
  return text;
}

}  // namespace roentgen::task
