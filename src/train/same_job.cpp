// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/same_job.h"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "data/source/dataset.h"
#include "dist/comm_thread.h"
#include "io/toml.h"
#include "train/checkpoint_info.h"
#include "train/early_checks.h"
#include "train/ranks.h"
#include "train/recipe.h"
#include "train/same_images.h"
#include "train/train_job.h"

namespace roentgen::train {
namespace {

// Names only the first key that differs, because the whole text is too long for one line.
void require_same_recipe(const Ranks& ranks, const Recipe& recipe) {
  const auto difference = find_difference(ranks, to_toml(recipe), {.name = "comparing jobs"});
  if (!difference) return;
  const auto parse = [](const std::string& text) { return io::parse_toml(text, "recipe").or_throw<ConfigError>(); };
  const ChangedKey changed =
      find_changed_key(parse(difference->first), parse(difference->other))
          .value_or(ChangedKey{.key = "recipe", .first = "the same text", .other = "a text in another form"});
  throw ConfigError(error_text("train.ranks", fmt::format("{} on rank {}", changed.key, difference->rank),
                               changed.first + ", as on rank 0", changed.other,
                               "the same recipe and options on all hosts"));
}

}  // namespace

void require_same_job(const TrainJob& job, const CheckpointInfo& info) {
  const Ranks ranks(job.group);
  if (ranks.size() == 1) return;
  constexpr std::string_view kSameData = "the same --data on all hosts";
  constexpr std::string_view kSameOptions = "the same options on all hosts";
  for (const std::string_view split : {"train", "val"}) {
    require_same_text(ranks, split, split_text(info.splits, split), kSameData);
  }
  require_same_text(ranks, "labels", fmt::format("{}", fmt::join(info.labels, ", ")), kSameData);
  require_same_text(ranks, "--reduce and --wire", job.group->way(), kSameOptions);
  require_same_text(ranks, "--update", text_of(job.servers), kSameOptions);
  require_same_text(ranks, "--stop-after", fmt::to_string(job.stop_after_steps), kSameOptions);
  require_same_recipe(ranks, job.recipe);
  std::vector<std::uint32_t> used = data::samples_of(job.dataset, data::Split::Train);
  const std::vector<std::uint32_t> validation = data::samples_of(job.dataset, data::Split::Val);
  used.insert(used.end(), validation.begin(), validation.end());
  require_same_images(ranks, job.dataset, used);
}

}  // namespace roentgen::train
