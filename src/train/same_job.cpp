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
#include "io/json.h"
#include "io/toml.h"
#include "train/checkpoint_info.h"
#include "train/ranks.h"
#include "train/recipe.h"
#include "train/same_images.h"
#include "train/trainer.h"
#include "train/trainer_setup.h"

namespace roentgen::train {
namespace {

// Names the key that differs first; the whole text would be no line.
void require_same_recipe(const Ranks& ranks, const Recipe& recipe) {
  const std::string text = to_toml(recipe);
  const std::string first = ranks.broadcast(text, {.name = "comparing jobs"});
  if (first == text) return;
  constexpr std::string_view kRemedy = "the same recipe and options on all hosts";
  const Value theirs = io::parse_toml(first, "recipe of rank 0").or_throw<ConfigError>();
  const Value own = io::parse_toml(text, "recipe").or_throw<ConfigError>();
  const auto shown = [](const Value* value) { return value == nullptr ? "nothing" : io::to_json(*value, -1); };
  for (const Value* keys : {&own, &theirs}) {  // what is empty is in neither
    for (const auto& [section, table] : keys->as_table()) {
      for (const auto& [name, value] : table.as_table()) {
        const std::string key = fmt::format("{}.{}", section, name);
        const Value* here = own.find_path(key);
        const Value* there = theirs.find_path(key);
        if (here != nullptr && there != nullptr && *here == *there) continue;
        throw ConfigError(error_text("train.ranks", fmt::format("{} of rank {}", key, ranks.rank()),
                                     shown(there) + ", as rank 0", shown(here), kRemedy));
      }
    }
  }
  throw ConfigError(error_text("train.ranks", fmt::format("recipe of rank {}", ranks.rank()), "that of rank 0",
                               "another text of the same keys", kRemedy));
}

}  // namespace

void require_same_job(const TrainJob& job) {
  const Ranks ranks(job.group);
  if (ranks.size() == 1) return;
  const auto require_same = [&](std::string_view what, const std::string& own, std::string_view remedy) {
    require_same_text(ranks, what, own, remedy);
  };
  const std::vector<SplitRecord> splits = describe_run(job).splits;
  for (const std::string_view split : {"train", "val"}) {
    require_same(split, split_text(splits, split), "the same --data on all hosts");
  }
  require_same("labels", fmt::format("{}", fmt::join(job.dataset.label_names, ", ")), "the same --data on all hosts");
  require_same("--reduce and --wire", job.group->way(), "the same options on all hosts");
  require_same("--stop-after", fmt::to_string(job.stop_after_steps), "the same options on all hosts");
  require_same_recipe(ranks, job.recipe);
  std::vector<std::uint32_t> used = data::samples_of(job.dataset, data::Split::Train);
  const std::vector<std::uint32_t> validation = data::samples_of(job.dataset, data::Split::Val);
  used.insert(used.end(), validation.begin(), validation.end());
  require_same_images(ranks, job.dataset, used);
}

}  // namespace roentgen::train
