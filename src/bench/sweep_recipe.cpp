// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/sweep_recipe.h"

#include <fmt/format.h>

#include <utility>

#include "core/foreign_text.h"
#include "core/value.h"
#include "io/toml.h"
#include "task/model.h"
#include "train/recipe.h"

namespace roentgen::bench {
namespace {

/// True if the setting runs in processes that the program starts.
bool is_group(const SweepSetting& setting, const SweepOptions& options) {
  return setting.ranks > 1 || !options.hosts.empty();
}

/// Formats the options about ranks, as far as they are needed.
std::string process_options(const SweepSetting& setting, const SweepOptions& options) {
  const std::string oversubscribe = options.may_oversubscribe ? " --oversubscribe" : "";
  if (!is_group(setting, options)) return oversubscribe;
  std::string text = fmt::format(" --ranks {}{}", setting.ranks, oversubscribe);
  const std::string gdr = setting.gdr;
  for (const auto& [name, value] : {std::pair{"--hosts", &options.hosts},
                                    {"--reduce", &options.reduce},
                                    {"--wire", &options.wire},
                                    {"--gdr", &gdr}}) {
    if (!value->empty()) text += fmt::format(" {} {}", name, shell_word(*value));
  }
  return text + (options.may_share_device ? " --allow-shared-gpu" : "");
}

}  // namespace

std::string sweep_recipe(const NetworkOptions& network, const SweepSetting& setting, const SweepOptions& options,
                         std::string_view comment) {
  train::ModelRecipe model;
  task::set_model(model, network.model);
  Value train =
      Value::Table{{"batch", setting.batch}, {"device", network.device},         {"fuse", setting.fuse},
                   {"dtype", setting.dtype}, {"algorithms", network.algorithms}, {"recompute", network.recompute}};
  if (options.threads > 0) train.set("threads", options.threads);
  if (is_group(setting, options)) train.set("bucket_mb", options.bucket_mb);
  const Value table = Value::Table{
      {"model", model.file.empty() ? Value::Table{{"name", model.name}} : Value::Table{{"file", model.file}}},
      {"preprocess", Value::Table{{"size", network.image_px}, {"channels", network.channels}}},
      {"train", std::move(train)}};
  std::string text = fmt::format("# {}\n{}", terminal_text(comment), io::to_toml(table));
  static_cast<void>(train::parse_recipe(text, "bench sweep", {}));
  return text;
}

std::string long_command(const std::filesystem::path& recipe, const SweepSetting& setting,
                         const SweepOptions& options) {
  return fmt::format("roentgen bench long --recipe {} --data DIR --target auroc=0.8 --out long{}",
                     shell_word(recipe.string()), process_options(setting, options));
}

std::string train_command(const std::filesystem::path& recipe, const SweepSetting& setting,
                          const SweepOptions& options) {
  return fmt::format("roentgen train --recipe {} --data DIR --out run{}", shell_word(recipe.string()),
                     process_options(setting, options));
}

}  // namespace roentgen::bench
