// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/sweep_recipe.h"

#include <fmt/format.h>

#include "core/foreign_text.h"
#include "core/value.h"
#include "dist/gpu_network.h"
#include "io/toml.h"
#include "task/model.h"
#include "train/recipe.h"

namespace roentgen::bench {
namespace {

std::string ranks_option(const SweepSetting& setting) {
  return setting.ranks > 1 ? fmt::format(" --ranks {}", setting.ranks) : std::string();
}

}  // namespace

std::string sweep_recipe(const NetworkOptions& network, const SweepSetting& setting, std::int64_t threads,
                         std::string_view comment) {
  train::ModelRecipe model;
  task::set_model(model, network.model);
  Value train =
      Value::Table{{"batch", setting.batch}, {"device", network.device},         {"fuse", setting.fuse},
                   {"dtype", setting.dtype}, {"algorithms", network.algorithms}, {"recompute", network.recompute}};
  if (threads > 0) train.set("threads", threads);
  const Value table = Value::Table{
      {"model", model.file.empty() ? Value::Table{{"name", model.name}} : Value::Table{{"file", model.file}}},
      {"preprocess", Value::Table{{"size", network.image_px}, {"channels", network.channels}}},
      {"train", std::move(train)}};
  std::string text = fmt::format("# {}\n{}", terminal_text(comment), io::to_toml(table));
  static_cast<void>(train::parse_recipe(text, "bench sweep", {}));
  return text;
}

std::string long_command(const std::filesystem::path& recipe, const SweepSetting& setting) {
  const std::string level = setting.gdr.empty() ? "" : dist::gdr_level(setting.gdr);
  return fmt::format("{}{}roentgen bench long --recipe {} --data DIR --target auroc=0.8 --out long{}",
                     level.empty() ? "" : "NCCL_NET_GDR_LEVEL=", level.empty() ? "" : level + " ",
                     shell_word(recipe.string()), ranks_option(setting));
}

std::string train_command(const std::filesystem::path& recipe, const SweepSetting& setting) {
  return fmt::format("roentgen train --recipe {} --data DIR --out run{}{}{}", shell_word(recipe.string()),
                     ranks_option(setting), setting.gdr.empty() ? "" : " --gdr ", setting.gdr);
}

}  // namespace roentgen::bench
