// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "publish/model_card.h"

#include <fmt/format.h>

#include <sstream>
#include <utility>

#include "core/error.h"
#include "core/foreign_text.h"
#include "core/plural.h"
#include "graph/text.h"
#include "io/environment.h"
#include "io/toml.h"
#include "publish/run_tables.h"
#include "publish/svg_plot.h"
#include "publish/torchvision.h"

namespace roentgen::publish {
namespace {

Value recipe_of(const train::CheckpointInfo& info) {
  return io::parse_toml(info.recipe, "recipe of the checkpoint").or_throw<ConfigError>();
}

// Returns the name of the network in the recipe, or the name in the graph for a network from a graph file.
std::string model_name(const train::CheckpointInfo& info) {
  const Value recipe = recipe_of(info);
  if (!text_of(find(recipe, {"model", "file"})).empty()) {
    const graph::Symbols symbols{.batch = 1};
    return graph::parse_graph(info.graph, "graph of the checkpoint", symbols).or_throw<ConfigError>().name();
  }
  const std::string name = text_of(find(recipe, {"model", "name"}));
  return name.empty() ? "network" : name;
}

// True if torchvision's constructor with the network's name builds exactly this network, given only the number of
// classes.
bool is_of_torchvision(const CardInput& input) {
  return input.preprocess.channels == 3 && torchvision_obstacle(recipe_of(input.info)).empty();
}

// Returns the number and share of positives in a split of data.json, such as "1435 (17.1%)".
std::string prevalence(const Value& data, std::string_view split, const std::string& label) {
  const Value* counts = find(data, {"splits", split, "labels", label});
  if (counts == nullptr) return "";
  const double positives = counts->at("positives").as_double();
  const double known = positives + counts->at("negatives").as_double();
  return known > 0.0 ? fmt::format("{} ({:.1f}%)", positives, 100.0 * positives / known) : "none known";
}

// Returns the AUROC of a label with its interval, such as "0.921 (0.916 to 0.927)".
std::string auroc(const Value& evaluation, const std::string& label) {
  const Value* row = find(evaluation, {"auroc", "labels", label});
  if (row == nullptr) return "";
  const std::string none = text_of(row->find("no_interval"));
  const ForestRow figures{
      .value = number_of(row->find("auroc")), .low = number_of(row->find("low")), .high = number_of(row->find("high"))};
  if (!figures.value || none.empty()) return estimate_text(figures);
  return estimate_text({.value = figures.value}) + " (no interval: " + markdown_text(none) + ")";
}

std::string evaluated_positives(const Value& evaluation, const std::string& label) {
  const Value* row = find(evaluation, {"auroc", "labels", label});
  if (row == nullptr) return "";
  const Value *positives = row->find("positives"), *n = row->find("n");
  if (positives == nullptr || n == nullptr) return "";
  return fmt::format("{} of {}", positives->as_double(), n->as_double());
}

std::string label_table(const CardInput& input) {
  std::string text =
      "| # | label | positives in training | positives evaluated | AUROC (95% interval) |\n|---|---|---|---|---|\n";
  for (std::size_t i = 0; i < input.info.labels.size(); ++i) {
    const std::string& label = input.info.labels[i];
    text += fmt::format("| {} | {} | {} | {} | {} |\n", i, markdown_text(label), prevalence(input.data, "train", label),
                        evaluated_positives(input.evaluation, label), auroc(input.evaluation, label));
  }
  return text;
}

std::string evaluation_text(const Value& evaluation) {
  const Value* mean = find(evaluation, {"auroc", "mean"});
  if (mean == nullptr || !mean->is_number()) return "No evaluation was given to this card.\n";
  std::string text = fmt::format("Mean AUROC {:.3f}", mean->as_double());
  if (const Value* split = evaluation.find("split")) {
    const std::string name = text_of(find(*split, {"name"})), hash = text_of(find(*split, {"list_sha256"}));
    if (!name.empty()) text += fmt::format(" on split \"{}\"", markdown_text(name));
    if (const auto images = number_of(find(*split, {"images"}))) {
      text += ", " + counted(static_cast<std::int64_t>(*images), "image");
    }
    if (!hash.empty()) text += ", list SHA-256 " + markdown_code(hash);
  }
  return text + ". Figures of other lists of images cannot be compared with these.\n";
}

std::string data_text(const CardInput& input) {
  std::string text = "| split | images | patients | SHA-256 of the sorted names |\n|---|---|---|---|\n";
  for (const train::SplitRecord& split : input.info.splits) {
    text += fmt::format("| {} | {} | {} | {} |\n", markdown_text(split.split), split.images, split.patients,
                        markdown_code(split.list_sha256));
  }
  const Value* files = find(input.data, {"csv"});
  if (files == nullptr || !files->is_array()) return text;
  for (const Value& file : files->as_array()) {
    const Value *name = find(file, {"file"}), *hash = find(file, {"sha256"});
    if (name == nullptr || hash == nullptr) continue;
    text +=
        fmt::format("\nLabels: {}, SHA-256 {}\n", markdown_code(name->as_string()), markdown_code(hash->as_string()));
  }
  return text;
}

// Escapes markup and hidden characters in TOML strings as \u, because some Markdown viewers interpret HTML inside code
// fences. Line ends in strings are escaped already.
std::string for_card(const std::string& toml) {
  std::string text;
  std::istringstream lines(toml);
  for (std::string line; std::getline(lines, line);) {
    for (const char c : terminal_text(line)) text += c == '<' ? std::string("\\u003c") : std::string(1, c);
    text += '\n';
  }
  return text;
}

std::string fitted(const data::Preprocess& preprocess) {
  if (preprocess.fit == data::Fit::Crop) {
    return "image = ImageOps.fit(image, (min(image.size),) * 2)  # the largest square in the middle\n";
  }
  if (preprocess.fit == data::Fit::Pad) {
    return "image = ImageOps.pad(image, (max(image.size),) * 2)  # the smallest square around it, black outside\n";
  }
  return "";
}
}  // namespace

std::string python_example(const CardInput& input) {
  if (input.form == "safetensors" && !is_of_torchvision(input)) {
    return fmt::format(
        "# torchvision has no constructor for this very network: these are its tensors. Exported as ONNX it runs; a\n"
        "# network of torchvision's for gray pictures loads there when exported with --channels 3.\n"
        "from safetensors.numpy import load_file\n"
        "for name, values in load_file({}).items(): print(name, values.shape)\n",
        python_string(input.file));
  }
  const std::string_view filter = input.preprocess.filter == data::Filter::Area ? "BOX" : "BILINEAR";
  const bool is_onnx = input.form == "onnx";
  std::string text =
      is_onnx ? "import json, numpy as np, onnxruntime\n" : "import json, numpy as np, torch, torchvision\n";
  text += input.preprocess.fit == data::Fit::Squash ? "from PIL import Image\n" : "from PIL import Image, ImageOps\n";
  if (!is_onnx) text += "from safetensors import safe_open\n";
  if (is_onnx) {
    text += fmt::format("session = onnxruntime.InferenceSession({})\n", python_string(input.file));
    text += "labels = json.loads(session.get_modelmeta().custom_metadata_map[\"labels\"])\n";
  } else {
    text += fmt::format("with safe_open({}, \"pt\") as file:\n", python_string(input.file));
    text += "    labels = json.loads(file.metadata()[\"labels\"])\n";
    text += "    weights = {name: file.get_tensor(name) for name in file.keys()}\n";
    text += fmt::format("model = torchvision.models.{}(num_classes=len(labels)).eval()\n", model_name(input.info));
    text += "model.load_state_dict(weights)\n";
  }
  text +=
      "image = Image.open(\"xray.png\").convert(\"L\").convert(\"F\")  # 16-bit files: convert(\"F\"), then / 257\n";
  text += fitted(input.preprocess);
  text += fmt::format("x = np.asarray(image.resize(({0}, {0}), Image.{1}), np.float32)[None, None]\n",
                      input.preprocess.fitted_px(), filter);
  if (input.preprocess.is_cut()) {
    const std::int64_t first = (input.preprocess.fitted_px() - input.preprocess.size_px) / 2;
    text += fmt::format("x = np.ascontiguousarray(x[:, :, {0}:{1}, {0}:{1}])  # the middle\n", first,
                        first + input.preprocess.size_px);
  }
  if (is_onnx) {
    text += "probabilities = session.run([\"probabilities\"], {\"image\": x})[0][0]\n";
  } else {
    const std::string scale = input.temperature == 1.0 ? "" : fmt::format(" / {:.9g}", input.temperature);
    text += fmt::format("x = (x / 255 - np.float32({})) / np.float32({})\n", input.preprocess.mean[0],
                        input.preprocess.stddev[0]);
    text += fmt::format("logits = model(torch.from_numpy(x).expand(1, {}, -1, -1))[0]{}\n", input.preprocess.channels,
                        scale);
    text += input.info.loss == "softmax" ? "probabilities = logits.softmax(0).tolist()\n"
                                         : "probabilities = logits.sigmoid().tolist()\n";
  }
  return text + "for label, p in zip(labels, probabilities): print(f\"{label:20} {p:.4f}\")\n";
}

std::string model_card(const CardInput& input) {
  check_tables("publish.card", input.data, input.evaluation);
  const train::CheckpointInfo& info = input.info;
  std::string text = fmt::format("# {} for chest X-rays\n\n", markdown_text(model_name(info)));
  text +=
      "**Research use. Not a medical device.** Not validated for any clinical purpose; a probability is not a "
      "diagnosis.\n\n";
  text += fmt::format("File {}, SHA-256 {}, made by roentgen {}.\n\n", markdown_code(input.file),
                      markdown_code(input.sha256), io::program_version());
  text += "## Labels and results\n" + evaluation_text(input.evaluation) + "\n" + label_table(input) + "\n";
  text += fmt::format(
      "## Input\n{}. The picture is made gray{}, fitted and resized as stated; nothing else may be done to it. "
      "Gray levels are those of 8 bits: levels of deeper files are first multiplied by 255 / white, and white is 65535 "
      "of "
      "16-bit PNG files and 4095 of DICOM files with 12 bits stored.\n\n",
      input.preprocess.text(), input.preprocess.channels == 3 ? ", the same in all three channels" : "");
  if (input.preprocess.jpeg == data::JpegSize::Scaled) {
    text +=
        "JPEG files were decoded by libjpeg's scaled decoding (1/8, 1/4 or 1/2 of their size, the least that has a "
        "pixel "
        "for each of the input's), then resized; other formats at full size. Decoded at full size their inputs differ "
        "by less than a gray level of 255 in the mean, by more at sharp edges.\n\n";
  }
  text += fmt::format("Output: one {} per label{}.\n\n", info.loss == "softmax" ? "share of a softmax" : "probability",
                      input.temperature == 1.0 ? "" : fmt::format(", logits divided by {:.4g}", input.temperature));
  text += "## Training data\n" + data_text(input) + "\n";
  text += fmt::format("Trained for {}, {}", counted(info.step, "update"), counted(info.epoch, "epoch"));
  if (!info.metric.empty())
    text += fmt::format("; best validation {} {:.4f}", markdown_text(info.metric), info.metric_value);
  text += ". The recipe:\n\n```toml\n" + for_card(recipe_text(recipe_of(info))) + "```\n\n";
  text += "## Loading it in Python\n```python\n" + python_example(input) + "```\n\n";
  text +=
      "## Known limits\n"
      "- Labels mined from reports are noisy; figures hold for images like those of the training data.\n"
      "- View, sex, age, devices and hospital can be read from an X-ray: check subgroups before any use.\n";
  return text;
}

}  // namespace roentgen::publish
