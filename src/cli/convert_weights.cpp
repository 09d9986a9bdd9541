// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// roentgen convert-weights: converts weights of PyTorch models to a checkpoint.
#include <fmt/format.h>

#include "cli/command_list.h"
#include "cli/output_file.h"
#include "core/comma_list.h"
#include "core/error.h"
#include "core/foreign_text.h"
#include "core/log.h"
#include "core/plural.h"
#include "core/terminal.h"
#include "data/transform/preprocess.h"
#include "io/safetensors.h"
#include "task/convert_weights.h"

namespace roentgen::cli {
namespace {

class ConvertWeightsCommand final : public Command {
 public:
  ConvertWeightsCommand()
      : Command("convert-weights", "Convert torchvision, timm or torchxrayvision weights to a checkpoint.",
                "roentgen convert-weights densenet121-a639ec97.pth densenet121.safetensors\n"
                "roentgen convert-weights model.pt model.safetensors --labels Normal,Pneumonia --loss softmax\n"
                "roentgen predict --checkpoint densenet121.safetensors chest.png") {}
  [[nodiscard]] std::vector<Option> options() override {
    return {{.name = "FILE",
             .target = &weights_.file,
             .doc = ".pt, .pth, .ckpt or .safetensors; code in it is never run",
             .need = Need::Required,
             .value_name = "FILE",
             .is_input = true},
            {.name = "OUT",
             .target = &out_,
             .doc = "safetensors file to write",
             .need = Need::Required,
             .is_output = true,
             .value_name = "OUT"},
            {.name = "--model",
             .target = &weights_.model,
             .doc = "network of these weights (default: recognized by their tensors)"},
            {.name = "--labels", .target = &labels_, .doc = "names of the outputs, in order, separated by commas"},
            {.name = "--preset",
             .target = &weights_.preset,
             .doc = "preprocessing: imagenet, xrv, xray, unit (default: fits the weights)"},
            {.name = "--loss",
             .target = &weights_.loss,
             .doc = "sigmoid, or softmax for exclusive classes (default for 1,000 outputs)"}};
  }
  [[nodiscard]] Folders folders() const override { return {.read = {weights_.file}}; }

  [[nodiscard]] CommandResult run() override {
    check_output_file("OUT", out_, folders());
    if (!labels_.empty()) {
      for (const std::string_view label : comma_parts(labels_)) weights_.labels.emplace_back(label);
    }
    const task::ConvertedWeights converted = task::convert_weights(weights_);
    if (converted.model.empty()) {
      throw ConfigError(error_text("cli.convert-weights", weights_.file.string(),
                                   "weights of PyTorch or another program", "a checkpoint of roentgen",
                                   "using the file as it is, because it needs no conversion"));
    }
    for (const std::string& note : converted.notes) log::info(note);
    const train::CheckpointInfo& info = converted.checkpoint.info;
    train::write_weights(out_, converted.checkpoint.tensors, 0, train::to_metadata(info));
    const std::string input = data::preprocess_from_value(info.preprocess).text();
    terminal::print(fmt::format("{}: {}, {}, {}, input {}\n", terminal_text(out_.string()), converted.model,
                                counted(std::ssize(info.labels), "label"), info.loss, input));
    return {.json = Value::Table{{"file", out_.string()},
                                 {"model", converted.model},
                                 {"labels", Value::Array(info.labels.begin(), info.labels.end())},
                                 {"loss", info.loss},
                                 {"preprocess", info.preprocess},
                                 {"weights_sha256", io::tensors_sha256(out_)}}};
  }

 private:
  task::ForeignWeights weights_;
  std::filesystem::path out_;
  std::string labels_;
};

}  // namespace

std::unique_ptr<Command> make_convert_weights_command() { return std::make_unique<ConvertWeightsCommand>(); }

}  // namespace roentgen::cli
