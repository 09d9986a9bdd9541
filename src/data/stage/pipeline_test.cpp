// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/error.h"

namespace roentgen::data {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string refusal(std::string_view text) {
  try {
    static_cast<void>(parse_pipeline(text));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no refusal";
}

TEST(Pipeline, reads_what_it_prints) {
  for (const PipelinePreset& preset : pipeline_presets()) {
    const Pipeline pipeline = parse_pipeline(preset.name);
    EXPECT_EQ(pipeline.text(), preset.text);
    EXPECT_EQ(parse_pipeline(pipeline.text()), pipeline);
  }
}

TEST(Pipeline, has_the_presets_of_the_sources) {
  EXPECT_EQ(parse_pipeline("naive").stages().size(), 8U);
  // TensorFlow's pipeline has ten steps; "file list" and "from_tensor_slices" together are `files`.
  EXPECT_EQ(parse_pipeline("tf-official").stages().size(), 9U);
  EXPECT_EQ(parse_pipeline("default"), training_pipeline(Tail::Drop));
}

TEST(Pipeline, takes_settings_by_name_or_the_first_without_and_any_spaces) {
  const Pipeline wanted({FilesStage{}, InterleaveStage{.cycle = 4, .block = 2}, MapStage{.parallel = 3}, BatchStage{},
                         PrefetchStage{.count = 1}});
  EXPECT_EQ(parse_pipeline("files|interleave( 4 ,block=2 )|map(parallel = 3)|batch|prefetch(1)"), wanted);
  EXPECT_EQ(parse_pipeline(" files | interleave(block=2, cycle=4)\n| map(3) | batch() | prefetch(1) "), wanted);
  EXPECT_EQ(wanted.text(), "files | interleave(cycle=4, block=2) | map(parallel=3) | batch | prefetch(count=1)");
}

TEST(Pipeline, writes_zero_as_a_word) {
  EXPECT_EQ(parse_pipeline("samples | shuffle(all) | repeat(forever) | map_and_batch(auto) | prefetch(auto)"),
            parse_pipeline("samples | shuffle | repeat | map_and_batch | prefetch"));
}

TEST(Pipeline, refuses_stages_that_do_not_fit) {
  EXPECT_THAT(
      refusal("samples | interleave | map_and_batch"),
      HasSubstr(
          "[data.pipeline] pipeline, stage interleave: expected a stage before it that yields files, got samples"));
  EXPECT_THAT(refusal("files | map | batch"),
              HasSubstr("stage map: expected a stage before it that yields samples, got files"));
  EXPECT_THAT(refusal("samples | batch"),
              HasSubstr("stage batch: expected a stage before it that yields rows, got samples"));
  EXPECT_THAT(refusal("shuffle | samples | map_and_batch"),
              HasSubstr("stage shuffle: expected a stage before it that yields files or samples or rows, got nothing"));
  EXPECT_THAT(refusal("samples | map_and_batch | repeat"), HasSubstr("got batches"));
  EXPECT_THAT(refusal("samples | cache | samples | map_and_batch"),
              HasSubstr("stage samples: expected a stage before it that yields nothing, got samples"));
  EXPECT_THAT(refusal("samples | shuffle"),
              HasSubstr("pipeline: expected a last stage that yields batches, got samples"));
}

TEST(Pipeline, refuses_orders_that_cannot_be_kept) {
  EXPECT_THAT(refusal("samples | repeat | shuffle | map_and_batch"),
              HasSubstr("a buffer size, because a repeat before it never ends"));
  EXPECT_THAT(refusal("samples | shard(pad) | shuffle | map_and_batch"), HasSubstr("no shard(tail=pad) before it"));
  EXPECT_THAT(refusal("samples | repeat | shard | map_and_batch"),
              HasSubstr("shard before repeat, got shard after repeat"));
  EXPECT_THAT(refusal("samples | shuffle | shard | shard(wrap) | map_and_batch"),
              HasSubstr("expected only one shard, got two"));
  EXPECT_THAT(refusal("files | shard | interleave | shuffle | shard | map_and_batch"),
              HasSubstr("expected only one shard"));
  EXPECT_THAT(refusal("samples | map | shuffle | batch"),
              HasSubstr("a buffer size, because it shuffles decoded images"));
  for (const std::string stage : {"take(count=5)", "skip(count=5)", "cache", "repeat(times=2)"}) {
    EXPECT_THAT(refusal("samples | repeat | " + stage + " | map_and_batch"),
                HasSubstr("stage " + stage + ": expected this stage before repeat"));
  }
  EXPECT_THAT(refusal("samples | map_and_batch | prefetch(65537)"), HasSubstr("auto or a number from 1 to 65536"));
  EXPECT_THAT(
      refusal("samples | shard | shuffle | repeat | map_and_batch"),
      HasSubstr(
          "got no shuffle, so that every epoch leaves out the same images; try shuffle | shard, or shard(tail=wrap)"));
}

TEST(Pipeline, refuses_bad_text_by_name) {
  EXPECT_THAT(refusal(""),
              HasSubstr("expected one of default, tf-official, naive, or stages separated by |, got nothing"));
  EXPECT_THAT(refusal("fast"), HasSubstr("got 'fast'"));
  EXPECT_THAT(refusal("samples | zip | map_and_batch"), HasSubstr("stage: expected one of files, samples, shard"));
  EXPECT_THAT(refusal("samples | | map_and_batch"), HasSubstr("got nothing"));
  EXPECT_THAT(refusal("samples | take | map_and_batch"), HasSubstr("stage take: expected count=NUMBER, got nothing"));
  EXPECT_THAT(refusal("samples | take(0) | map_and_batch"), HasSubstr("count: expected a number from 1 to"));
  EXPECT_THAT(refusal("samples | take(-3) | map_and_batch"), HasSubstr("got '-3'"));
  EXPECT_THAT(refusal("samples | take(3x) | map_and_batch"), HasSubstr("got '3x'"));
  EXPECT_THAT(refusal("samples | take(99999999999999999999) | map_and_batch"), HasSubstr("expected a number"));
  EXPECT_THAT(refusal("samples | take(1, 2) | map_and_batch"), HasSubstr("stage take: expected name=value, got '2'"));
  EXPECT_THAT(refusal("samples | take(1, count=2) | map_and_batch"), HasSubstr("count once"));
  EXPECT_THAT(refusal("samples | take(1, block=2) | map_and_batch"),
              HasSubstr("stage take: expected count, got 'block'"));
  EXPECT_THAT(refusal("samples(4) | map_and_batch"), HasSubstr("stage samples: expected no settings, got '4'"));
  EXPECT_THAT(refusal("samples | take(4 | map_and_batch"), HasSubstr("a closing bracket"));
  EXPECT_THAT(refusal("samples | shard(tail=cut) | map_and_batch"), HasSubstr("tail: expected pad or drop or wrap"));
  EXPECT_THAT(refusal("samples | map_and_batch(parallel=2000)"), HasSubstr("auto or a number from 1 to 1024"));
  EXPECT_THAT(refusal(std::string(5000, '|')), HasSubstr("at most 4096 characters"));
}

RC_GTEST_PROP(Pipeline, any_text_is_read_or_refused_in_one_line, ()) {
  const auto words = *rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(
      std::vector<std::string>{"samples",  "files", "shuffle", "shard", "interleave", "map", "batch", "map_and_batch",
                               "prefetch", "take",  "(",       ")",     "|",          "|",   "|",     "=",
                               ",",        "1",     "0",       "tail",  "pad",        "-",   "auto",  "\x01",
                               " "}));
  std::string text;
  for (const auto& word : words) text += word;
  const std::string why = refusal(text);
  if (why == "no refusal") {
    RC_ASSERT(parse_pipeline(parse_pipeline(text).text()) == parse_pipeline(text));
  } else {
    RC_ASSERT(why.starts_with("[data.pipeline] "));
    RC_ASSERT(why.find_first_of("\n\x01") == std::string::npos);
  }
}

}  // namespace
}  // namespace roentgen::data
