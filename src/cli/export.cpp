// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// roentgen export: writes a checkpoint in formats that other programs read, with its model card.
#include <fmt/format.h>

#include <iterator>

#include "cli/command_list.h"
#include "cli/output_file.h"
#include "core/foreign_text.h"
#include "core/plural.h"
#include "core/terminal.h"
#include "publish/model_card.h"
#include "task/device_option.h"
#include "task/export_model.h"

namespace roentgen::cli {
namespace {

class ExportCommand final : public Command {
 public:
  ExportCommand()
      : Command("export", "Write a checkpoint as ONNX or plain safetensors, with a model card.",
                "roentgen export --checkpoint best.safetensors --out model.onnx --evaluation eval.json\n"
                "roentgen export --checkpoint best.safetensors --out model.safetensors --channels 3") {}
  [[nodiscard]] std::vector<Option> options() override {
    return {
        {.name = "--checkpoint",
         .target = &export_.checkpoint,
         .doc = "checkpoint written by roentgen train",
         .need = Need::Required},
        {.name = "--out",
         .target = &export_.out,
         .doc = "output file, .onnx or .safetensors; the model card becomes FILE.md",
         .need = Need::Required,
         .is_output = true},
        {.name = "--to",
         .target = &export_.form,
         .doc = "output format: onnx or safetensors (default: by ending of --out)"},
        {.name = "--evaluation",
         .target = &export_.evaluation,
         .doc = "JSON of roentgen eval with the AUROCs for the model card",
         .value_name = "FILE"},
        {.name = "--points",
         .target = &export_.points,
         .doc = "file of eval --save-points, whose temperature goes into the export",
         .value_name = "FILE"},
        task::device_option(export_.device),
        {.name = "--opset", .target = &export_.opset, .doc = "version of the ONNX operator set", .range = {13, 17}},
        {.name = "--fold-batch-norm", .target = &export_.is_folding, .doc = "onnx: fold batch norms into convolutions"},
        {.name = "--channels",
         .target = &export_.channels,
         .doc = "safetensors: 3 = RGB input for a one-channel network; 0 = as it is",
         .range = {0, 3}},
        {.name = "--keep-patients",
         .target = &export_.keeps_patients,
         .doc = "safetensors: keep hashes of training patients, for the leak check"}};
  }
  [[nodiscard]] Folders folders() const override {
    return {.data = {},
            .made = {},
            .own = export_.out.empty() ? Paths{} : Paths{export_.card()},
            .runs = run_of(export_.checkpoint)};
  }

  [[nodiscard]] CommandResult run() override {
    static_cast<void>(task::export_form(export_));
    check_output_file("--out", export_.card(), {});
    const publish::CardInput card = task::export_model(export_);
    terminal::print(fmt::format("{}: {}, {}, SHA-256 {}\n{}: model card\n\n{}", terminal_text(export_.out.string()),
                                card.form, counted(std::ssize(card.info.labels), "label"), card.sha256.substr(0, 12),
                                terminal_text(export_.card().string()), publish::python_example(card)));
    return {.json = Value::Table{{"file", export_.out.string()},
                                 {"form", card.form},
                                 {"sha256", card.sha256},
                                 {"card", export_.card().string()},
                                 {"temperature", card.temperature}}};
  }

 private:
  task::ExportOptions export_;
};

}  // namespace

std::unique_ptr<Command> make_export_command() { return std::make_unique<ExportCommand>(); }

}  // namespace roentgen::cli
