// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/pipeline.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/error.h"

namespace roentgen::data {
namespace {

[[noreturn]] void refuse(std::string_view what, std::string_view expected, std::string_view got,
                         std::string_view remedy = "reading docs/reference/pipeline.md") {
  throw ConfigError(error_text("data.pipeline", what, expected, got, remedy));
}

// Checks rules that involve several stages.
void check_order(const std::vector<Stage>& stages) {
  bool is_padded = false, is_endless = false, is_shuffled = false, is_sharded = false;
  Carries carries = Carries::Nothing;
  for (const Stage& stage : stages) {
    if (const auto* shard = std::get_if<ShardStage>(&stage)) {
      if (is_endless) refuse("pipeline, stage shard", "shard before repeat", "shard after repeat");
      if (is_sharded)
        refuse("pipeline, stage shard", "only one shard", "two, which would leave out images", "removing one of them");
      is_sharded = true;
      if (carries != Carries::Files && shard->tail == Tail::Drop && !is_shuffled) {
        refuse("pipeline, stage shard", "a shuffle before shard(tail=drop)",
               "no shuffle, so that every epoch leaves out the same images", "shuffle | shard, or shard(tail=wrap)");
      }
      is_padded = carries != Carries::Files && shard->tail == Tail::Pad;
    }
    carries = gives(stage, carries);
    is_shuffled = is_shuffled || std::holds_alternative<ShuffleStage>(stage);
    if (const auto* shuffle = std::get_if<ShuffleStage>(&stage)) {
      if (is_padded) refuse("pipeline, stage shuffle", "no shard(tail=pad) before it", "one", "shuffle | shard(pad)");
      if (carries == Carries::Rows && shuffle->buffer == 0) {
        refuse("pipeline, stage shuffle", "a buffer size, because it shuffles decoded images",
               "none, which keeps all images in memory", "shuffle(1000), or shuffle | map");
      }
      if (is_endless && shuffle->buffer == 0) {
        refuse("pipeline, stage shuffle", "a buffer size, because a repeat before it never ends", "none",
               "shuffle(1000), or shuffle | repeat");
      }
    }
    const bool is_of_a_pass = std::holds_alternative<TakeStage>(stage) || std::holds_alternative<SkipStage>(stage) ||
                              std::holds_alternative<CacheStage>(stage) || std::holds_alternative<RepeatStage>(stage);
    if (is_endless && is_of_a_pass) {
      refuse(fmt::format("pipeline, stage {}", text_of(stage)), "this stage before repeat", "it after repeat");
    }
    if (std::holds_alternative<RepeatStage>(stage)) is_endless = true;
  }
}

class Printer final : public StageVisitor {
 public:
  void count(const CountSetting& setting, std::int64_t& value) override {
    if (value == setting.default_value) return;
    add(setting.name,
        value == 0 && !setting.word_for_zero.empty() ? std::string(setting.word_for_zero) : fmt::format("{}", value));
  }
  void word(std::string_view name, int& value, int default_value, const std::vector<std::string_view>& words) override {
    if (value != default_value) add(name, std::string(words.at(static_cast<std::size_t>(value))));
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void add(std::string_view name, const std::string& value) {
    text_ += fmt::format("{}{}={}", text_.empty() ? "" : ", ", name, value);
  }
  std::string text_;
};

}  // namespace

Pipeline::Pipeline(std::vector<Stage> stages) : stages_(std::move(stages)) {
  Carries carries = Carries::Nothing;
  for (const Stage& stage : stages_) carries = gives(stage, carries);
  if (carries != Carries::Batches) {
    refuse("pipeline", "a last stage that yields batches", name_of(carries), "... | map_and_batch | prefetch");
  }
  check_order(stages_);
}

Carries gives(const Stage& stage, Carries before) {
  return std::visit([before](const auto& one) { return one.gives(before); }, stage);
}

std::string text_of(const Stage& stage) {
  return std::visit(
      [](auto one) -> std::string {
        Printer printer;
        one.describe(printer);
        return printer.text().empty() ? std::string(one.kName) : fmt::format("{}({})", one.kName, printer.text());
      },
      stage);
}

std::string Pipeline::text() const {
  std::string text;
  for (const Stage& stage : stages_) text += (text.empty() ? "" : " | ") + text_of(stage);
  return text;
}

bool Pipeline::is_of_files() const { return std::holds_alternative<FilesStage>(stages_.front()); }

bool Pipeline::is_kept_on_disk() const {
  return std::ranges::any_of(stages_, [](const Stage& stage) {
    const auto* cache = std::get_if<CacheStage>(&stage);
    return cache != nullptr && cache->where == CachePlace::Disk;
  });
}

const std::vector<PipelinePreset>& pipeline_presets() {
  static const std::vector<PipelinePreset> kPresets{
      {"default", "samples | shuffle | shard | repeat | map_and_batch | prefetch",
       "shuffles the names of all images before any is read"},
      {"tf-official",
       "files | shard | shuffle | interleave(cycle=10, parallel=10) | prefetch(count=64) | shuffle(buffer=500) | "
       "repeat "
       "| map_and_batch | prefetch(count=1)",
       "TensorFlow's advice of ten steps: shard early, shuffle files, interleave, prefetch twice"},
      {"naive",
       "files | interleave | map | shard(tail=wrap) | shuffle(buffer=500) | repeat | batch | prefetch(count=1)",
       "eight steps in a naive order: each rank reads and decodes all images and discards those of other ranks"},
  };
  return kPresets;
}

Pipeline evaluation_pipeline() {
  return Pipeline({SamplesStage{}, ShardStage{.tail = Tail::Pad}, MapAndBatchStage{}, PrefetchStage{}});
}

Pipeline training_pipeline(Tail tail) {
  return Pipeline(
      {SamplesStage{}, ShuffleStage{}, ShardStage{.tail = tail}, RepeatStage{}, MapAndBatchStage{}, PrefetchStage{}});
}

}  // namespace roentgen::data
