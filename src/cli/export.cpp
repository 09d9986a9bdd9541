// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// roentgen export: a checkpoint in the forms that other programs read, with its model card.
#include <fmt/format.h>

#include <optional>
#include <utility>

#include "cli/command_list.h"
#include "cli/output_file.h"
#include "core/error.h"
#include "core/foreign_text.h"
#include "core/plural.h"
#include "core/terminal.h"
#include "engine/engine.h"
#include "graph/text.h"
#include "io/file.h"
#include "io/json.h"
#include "io/safetensors.h"
#include "io/sha256.h"
#include "publish/channels.h"
#include "publish/model_card.h"
#include "publish/onnx_graph.h"
#include "publish/run_tables.h"
#include "score/stored_evaluation.h"
#include "train/load_checkpoint.h"

namespace roentgen::cli {
namespace {

namespace fs = std::filesystem;

class ExportCommand final : public Command {
 public:
  ExportCommand()
      : Command(
            "export", "Write a checkpoint as ONNX or plain safetensors, with a model card.",
            "roentgen export --checkpoint run/checkpoints/best.safetensors --out model.onnx --evaluation eval.json\n"
            "roentgen export --checkpoint run/checkpoints/best.safetensors --out model.safetensors --channels 3") {}
  [[nodiscard]] std::vector<Option> options() override {
    return {
        {.name = "--checkpoint", .target = &checkpoint_, .doc = "what roentgen train wrote", .need = Need::Required},
        {.name = "--out",
         .target = &out_,
         .doc = "file to write: .onnx or .safetensors; the card goes beside it as FILE.md",
         .need = Need::Required,
         .is_output = true},
        {.name = "--to", .target = &form_, .doc = "onnx or safetensors; none = by the file's ending"},
        {.name = "--evaluation",
         .target = &evaluation_,
         .doc = "JSON of roentgen eval: AUROCs for the card",
         .value_name = "FILE"},
        {.name = "--points",
         .target = &points_,
         .doc = "points of roentgen eval --save-points: their temperature goes into the file",
         .value_name = "FILE"},
        {.name = "--opset", .target = &opset_, .doc = "ONNX operator set", .range = {13, 17}},
        {.name = "--fold-batch-norm",
         .target = &is_folding_,
         .doc = "onnx: batch norms become part of the convolutions before them"},
        {.name = "--channels",
         .target = &channels_,
         .doc = "safetensors: 3 unfolds the first convolution of a gray network; 0 = as it is",
         .range = {0, 3}},
        {.name = "--keep-patients",
         .target = &keeps_patients_,
         .doc = "safetensors: keep the salted hashes of the training patients, which the leak check needs"}};
  }
  [[nodiscard]] Folders folders() const override {
    return {.own = out_.empty() ? Paths{} : Paths{card_path()},
            .read = run_data().empty() ? Paths{} : Paths{run_data()}};
  }

  [[nodiscard]] CommandResult run() override {
    const std::string form = chosen_form();
    check_output_file("--out", card_path(), {});
    const std::unique_ptr<engine::Engine> engine = engine::make_engine("cpu");
    train::LoadedModel model = train::load_checkpoint(checkpoint_, *engine, {.batch = 1});
    std::vector<train::NamedTensor> weights = train::weights_of(*model.executable);
    Value data = read_optional(run_data());
    Value evaluation = evaluation_.empty() ? Value() : score::read_evaluation(evaluation_, checkpoint_);
    const double divisor =
        points_.empty() ? 1.0
                        : score::read_image_points(points_, {.input = score::input_text(model.preprocess, "none"),
                                                             .weights_sha256 = io::tensors_sha256(checkpoint_)})
                              .temperature.value_or(1.0);
    publish::CardInput card{.file = out_.filename().string(),
                            .form = form,
                            .temperature = divisor,
                            .data = std::move(data),
                            .evaluation = std::move(evaluation)};
    publish::check_tables("publish.card", card.data, card.evaluation);
    if (!keeps_patients_) {
      model.info.training_patients.clear();
      model.info.patient_salt.clear();
      model.info.patient_namespace.clear();
    }
    if (form == "onnx") {
      write_onnx(model, weights, card);
    } else {
      if (channels_ > 0) publish::unfold_channels(static_cast<int>(channels_), model.info, model.preprocess, weights);
      train::write_weights(out_, weights, model.info.step, train::to_metadata(model.info));
    }
    card.info = model.info;
    card.preprocess = model.preprocess;
    card.sha256 = io::sha256_hex(io::read_file(out_).or_throw());
    io::write_file_atomically(card_path(), publish::model_card(card));
    terminal::print(fmt::format("{}: {}, {}, SHA-256 {}\n{}: its card\n\n{}", terminal_text(out_.string()), form,
                                counted(std::ssize(model.info.labels), "label"), card.sha256,
                                terminal_text(card_path().string()), publish::python_example(card)));
    return {.json = Value::Table{{"file", out_.string()},
                                 {"form", form},
                                 {"sha256", card.sha256},
                                 {"card", card_path().string()},
                                 {"temperature", card.temperature}}};
  }

 private:
  [[nodiscard]] std::string chosen_form() const {
    const std::string ending = out_.extension().string();
    const std::string form = !form_.empty() ? form_ : ending.empty() ? "" : ending.substr(1);
    if (form != "onnx" && form != "safetensors") {
      throw ConfigError(error_text("cli.export", form_.empty() ? "--out" : "--to", "onnx or safetensors",
                                   form.empty() ? out_.string() : form, "--out model.onnx"));
    }
    if (form == "onnx" && channels_ > 0) {
      throw ConfigError(error_text("cli.export", "--channels", "only with safetensors", "onnx",
                                   "no --channels: the ONNX file takes one gray channel and unfolds it itself"));
    }
    if (form == "safetensors" && (is_folding_ || opset_ != io::kOnnxMostOpset)) {
      throw ConfigError(error_text("cli.export", is_folding_ ? "--fold-batch-norm" : "--opset", "only with onnx",
                                   "safetensors", "--out model.onnx"));
    }
    return form;
  }
  [[nodiscard]] fs::path card_path() const { return fs::path(out_.string() + ".md"); }
  // data.json of the run that the checkpoint lies in; empty where it lies elsewhere.
  [[nodiscard]] fs::path run_data() const {
    const fs::path path = checkpoint_.parent_path().parent_path() / "data.json";
    std::error_code ignored;
    return checkpoint_.parent_path().filename() == "checkpoints" && fs::is_regular_file(path, ignored) ? path
                                                                                                       : fs::path();
  }
  [[nodiscard]] static Value read_optional(const fs::path& path) {
    return path.empty() ? Value() : io::read_json(path).or_throw<ConfigError>();
  }
  void write_onnx(const train::LoadedModel& model, const std::vector<train::NamedTensor>& weights,
                  const publish::CardInput& card) const {
    const graph::Graph graph =
        graph::parse_graph(model.info.graph, checkpoint_.string() + ": graph", {.batch = 1}).or_throw<ConfigError>();
    const Value preprocess = model.preprocess.to_value();
    Value::Array labels(model.info.labels.begin(), model.info.labels.end());
    publish::OnnxOptions options{
        .preprocess = model.preprocess,
        .loss = model.info.loss,
        .temperature = card.temperature,
        .is_folding_batch_norm = is_folding_,
        .metadata = {{"labels", io::to_json(Value(std::move(labels)), -1)},
                     {"preprocess", io::to_json(preprocess, -1)},
                     {"mean", io::to_json(preprocess.at("mean"), -1)},
                     {"std", io::to_json(preprocess.at("std"), -1)},
                     {"size", std::to_string(model.preprocess.size_px)},
                     {"input", model.preprocess.jpeg == data::JpegSize::Scaled
                                   ? "gray, 0 to 255, fitted and resized; JPEG by scaled decoding"
                                   : "gray, 0 to 255, fitted and resized"},
                     {"loss", model.info.loss},
                     {"temperature", fmt::format("{:.9g}", card.temperature)},
                     {"notice", "research use, not a medical device"}}};
    io::OnnxModel onnx = publish::to_onnx(graph, weights, options);
    onnx.doc = "Research use, not a medical device. Input: " + model.preprocess.text();
    io::write_onnx(out_, onnx, static_cast<int>(opset_));
  }

  fs::path checkpoint_;
  fs::path out_;
  fs::path evaluation_;
  fs::path points_;
  std::string form_;
  std::int64_t opset_ = io::kOnnxMostOpset;
  std::int64_t channels_ = 0;
  bool is_folding_ = false;
  bool keeps_patients_ = false;
};

}  // namespace

std::unique_ptr<Command> make_export_command() { return std::make_unique<ExportCommand>(); }

}  // namespace roentgen::cli
