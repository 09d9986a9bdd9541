// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/train_job.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/plural.h"
#include "data/source/dataset.h"
#include "graph/graph.h"
#include "graph/text.h"
#include "io/sha256.h"
#include "train/checkpoint_info.h"
#include "train/early_checks.h"
#include "train/ranks.h"
#include "train/recipe.h"

namespace roentgen::train {
namespace {

constexpr std::size_t kSaltDigits = 16;

void require(bool holds, std::string_view what, std::string_view expected, std::string_view got,
             std::string_view remedy) {
  if (!holds) throw ConfigError(error_text("train.run", what, expected, got, remedy));
}

bool has_both_classes(const data::SplitSummary& summary) {
  return std::any_of(summary.labels.begin(), summary.labels.end(),
                     [](const data::LabelCounts& counts) { return counts.positives > 0 && counts.negatives > 0; });
}

}  // namespace

void check_job(const TrainJob& job) {
  const data::SplitSummary& training = job.dataset.summary(data::Split::Train);
  const data::SplitSummary& validation = job.dataset.summary(data::Split::Val);
  require(training.images > 0, "training images", "at least 1", "0", "another data.split or train_list");
  const bool is_drawn = job.dataset.split_origin.find("% of the other patients") != std::string::npos;
  require(validation.images == 0 || job.recipe.train.select != "auroc" || has_both_classes(validation),
          "validation AUROC", "a label with both classes among the validation images",
          "none in " + counted(validation.images, "image"),
          is_drawn ? "train.select=loss or another data.val_fraction"
                   : "train.select=loss, or data.validation=part to draw other validation images at random");
  check_model(job.recipe, job.model, Ranks(job.group).size());
  const auto K = static_cast<std::int64_t>(job.dataset.label_names.size());
  const Shape& logits = job.model.node(job.model.output("logits")).shape;
  const Shape wanted{job.recipe.train.batch, K};
  require(logits == wanted, "model: logits", wanted.text(), logits.text(), "out=K in the last line of the graph text");
}

CheckpointInfo describe_run(const TrainJob& job) {
  const data::SplitSummary& training = job.dataset.summary(data::Split::Train);
  CheckpointInfo info{.labels = job.dataset.label_names,
                      .preprocess = job.recipe.preprocess.to_value(),
                      .loss = job.recipe.loss.name,
                      .recipe = to_toml(job.recipe),
                      .graph = graph::print_graph_any_batch(job.model),
                      .patient_namespace = job.dataset.patient_namespace,
                      .split_rule = job.recipe.data.split.rule};
  info.patient_salt =
      io::sha256_hex(fmt::format("{} {}", training.list_sha256, job.recipe.train.seed)).substr(0, kSaltDigits);
  info.training_patients = data::patient_hashes(job.dataset, data::Split::Train, info.patient_salt);
  for (const data::Split split : {data::Split::Train, data::Split::Val, data::Split::Test}) {
    const data::SplitSummary& summary = job.dataset.summary(split);
    if (summary.images == 0) continue;
    info.splits.push_back({.split = std::string(data::name_of(split)),
                           .images = summary.images,
                           .patients = summary.patients,
                           .list_sha256 = summary.list_sha256});
  }
  return info;
}

}  // namespace roentgen::train
