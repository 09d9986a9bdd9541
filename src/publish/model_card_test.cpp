// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests that the card contains its inputs, and that a network converted to three channels computes the same.
#include "publish/model_card.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.h"
#include "core/random.h"
#include "engine/engine.h"
#include "graph/text.h"
#include "io/toml.h"
#include "models/model.h"
#include "publish/channels.h"
#include "publish/torchvision.h"

namespace roentgen::publish {
namespace {

using testing::HasSubstr;
using testing::Not;

CardInput sample(const std::string& form) {
  return {.info = {.labels = {"Mass", "Hernia"},
                   .preprocess = data::preset("xray").to_value(),
                   .recipe = "[model]\nname = \"resnet18\"\n",
                   .training_patients = {"00ab"},
                   .patient_salt = "pepper",
                   .splits = {{.split = "train", .images = 10, .patients = 4, .list_sha256 = "f00d"}},
                   .step = 12,
                   .epoch = 3,
                   .metric = "auroc",
                   .metric_value = 0.75},
          .preprocess = data::preset("xray"),
          .file = "m." + form,
          .sha256 = "c0ffee",
          .form = form};
}

Value counts(std::int64_t positives, std::int64_t negatives) {
  return Value::Table{{"positives", positives}, {"negatives", negatives}, {"unknown", 0}};
}

TEST(ModelCard, holds_figures_hashes_recipe_and_notice) {
  CardInput input = sample("onnx");
  input.temperature = 1.5;
  input.data =
      Value::Table{{"csv", Value::Array{Value::Table{{"file", "entry.csv"}, {"sha256", "beef"}}}},
                   {"splits", Value::Table{{"train", Value::Table{{"labels", Value::Table{{"Mass", counts(1, 3)}}}}}}}};
  input.evaluation = Value::Table{
      {"auroc",
       Value::Table{
           {"mean", 0.9},
           {"labels",
            Value::Table{
                {"Mass", Value::Table{{"auroc", 0.8125}, {"low", 0.75}, {"high", 0.875}, {"positives", 5}, {"n", 50}}},
                {"Hernia", Value::Table{{"auroc", Value()}, {"positives", 0}, {"n", 50}}}}}}},
      {"split", Value::Table{{"name", "test"}, {"images", 50}, {"list_sha256", "1157"}}}};
  const std::string card = model_card(input);
  for (const char* text :
       {"Not a medical device", "`m.onnx`", "c0ffee", "| 0 | Mass | 1 (25.0%) | 5 of 50 | 0.812 (0.750 to 0.875) |",
        "| 1 | Hernia |  | 0 of 50 | undefined |", "Mean AUROC 0.900 on split \"test\", 50 images", "1157", "entry.csv",
        "beef", "f00d", "12 updates, 3 epochs; best validation auroc 0.7500", "name = \"resnet18\"", "divided by 1.5",
        "onnxruntime.InferenceSession(\"m.onnx\")"}) {
    EXPECT_THAT(card, HasSubstr(text));
  }
  EXPECT_THAT(card, Not(HasSubstr("00ab")));
  EXPECT_THAT(card, Not(HasSubstr("pepper")));
}

TEST(ModelCard, says_why_a_figure_has_no_interval) {
  CardInput input = sample("onnx");
  const Value few = Value::Table{{"auroc", 0.8125}, {"low", nullptr}, {"high", nullptr}, {"no_interval", "too few"}};
  input.evaluation =
      Value::Table{{"auroc", Value::Table{{"mean", 0.8125}, {"labels", Value::Table{{"Mass", few}, {"Hernia", few}}}}}};
  EXPECT_THAT(model_card(input), HasSubstr("| 0.812 (no interval: too few) |"));
}

TEST(ModelCard, says_what_it_was_not_given) {
  EXPECT_THAT(model_card(sample("onnx")), HasSubstr("No evaluation was given"));
}

// Labels, file names and recipe names are untrusted text, which may contain markup.
TEST(ModelCard, holds_no_markup_of_foreign_text) {
  CardInput input = sample("onnx");
  input.info.labels = {"<script>alert(1)</script>", "a|b\nc"};
  input.info.recipe = "[model]\nname = \"resnet18\"\n[data]\nlabels = [\"<script>alert(1)</script>\", \"a\u202eb\"]\n";
  input.file = "a\"); import os; os.system(\"id\") #.onnx";
  const std::string card = model_card(input);
  EXPECT_THAT(card, Not(HasSubstr("<script")));
  EXPECT_THAT(card, HasSubstr("| 0 | &lt;script&gt;alert(1)&lt;/script&gt; |  |  |  |\n"));
  EXPECT_THAT(card, HasSubstr("| 1 | a&#124;b\\\\nc |  |  |  |\n"));
  EXPECT_THAT(card, HasSubstr("labels = [\"\\u003cscript>alert(1)\\u003c/script>\", \"a\\u202eb\"]"));
  EXPECT_THAT(card, HasSubstr("InferenceSession(\"a\\\"); import os; os.system(\\\"id\\\") #.onnx\")\n"));
}

TEST(ModelCard, refuses_other_tables) {
  CardInput input = sample("onnx");
  input.evaluation = Value::Table{{"x", 1}};
  EXPECT_THROW((void)model_card(input), ConfigError);
  input = sample("onnx");
  input.data = Value::Table{{"x", 1}};
  EXPECT_THROW((void)model_card(input), ConfigError);
}

TEST(PythonExample, is_of_torchvision_only_where_that_has_the_network) {
  CardInput input = sample("safetensors");
  EXPECT_THAT(python_example(input), Not(HasSubstr("torchvision.models")));  // torchvision has no one-channel models
  input.preprocess = data::with_channels(input.preprocess, 3);
  EXPECT_THAT(python_example(input), HasSubstr("torchvision.models.resnet18(num_classes=len(labels))"));
  input.info.recipe += "width = 32\n";
  EXPECT_THAT(python_example(input), Not(HasSubstr("torchvision.models")));
  input.info.recipe = "[model]\nname = \"resnet18(); import os; os.system('id')\"\n";
  EXPECT_THAT(python_example(input), Not(HasSubstr("os.system")));
}

TEST(TorchvisionObstacle, names_the_setting_that_torchvision_does_not_have) {
  const auto obstacle = [](const std::string& model) {
    return torchvision_obstacle(io::parse_toml("[model]\n" + model, "recipe").or_throw());
  };
  EXPECT_EQ(obstacle("name = \"densenet121\"\nwidth = 64\n"), "");
  EXPECT_EQ(obstacle("name = \"resnet18\"\nwidth = 32\n"), "model.width = 32");
  EXPECT_EQ(obstacle("name = \"resnet18\"\nstem = \"small\"\n"), "model.stem = \"small\"");
  EXPECT_EQ(obstacle("name = \"inception_v4\"\n"), "model.name = \"inception_v4\"");
  EXPECT_EQ(obstacle("file = \"net.txt\"\n"), "model.file = \"net.txt\"");
}

TEST(PythonExample, fits_as_the_network_was_fed) {
  CardInput input = sample("onnx");
  EXPECT_THAT(python_example(input), Not(HasSubstr("ImageOps")));
  input.preprocess.fit = data::Fit::Crop;
  EXPECT_THAT(python_example(input), HasSubstr("ImageOps.fit"));
  input.preprocess.fit = data::Fit::Pad;
  EXPECT_THAT(python_example(input), HasSubstr("ImageOps.pad"));
}

// Returns the logits for one random gray picture, repeated over the input channels of the graph.
std::vector<float> logits_of(const graph::Graph& graph, const std::vector<train::NamedTensor>& weights) {
  const auto engine = engine::make_engine("cpu");
  const auto executable = engine->compile(graph, {.form = engine::Form::Inference, .threads = 1});
  for (const train::NamedTensor& tensor : weights) {
    for (std::size_t i = 0; i < graph.parameters().size(); ++i) {
      if (graph.parameters()[i].name != tensor.name) continue;
      executable->load(static_cast<std::int32_t>(i), tensor.values);
    }
  }
  const Shape& shape = graph.node(graph.find("image")).shape;
  auto* slot = reinterpret_cast<float*>(executable->slot(0, 0).data());
  const std::int64_t plane = shape[2] * shape[3];
  for (std::int64_t c = 0; c < shape[1]; ++c) {
    Random random(5, RandomStage::Test);
    for (std::int64_t i = 0; i < plane; ++i) slot[c * plane + i] = static_cast<float>(random.normal());
  }
  executable->bind_slot(0);
  executable->forward();
  const std::span<const float> logits = executable->read("logits");
  return {logits.begin(), logits.end()};
}

TEST(UnfoldChannels, gives_the_logits_of_before) {
  const graph::Graph gray =
      models::build_model({.name = "resnet18", .labels = 3, .channels = 1, .image_px = 32, .batch = 1, .width = 16});
  std::vector<train::NamedTensor> weights;
  for (const graph::Parameter& parameter : gray.parameters()) {
    weights.push_back({parameter.name, parameter.shape, graph::initial_values(parameter, 1)});
  }
  const std::vector<float> before = logits_of(gray, weights);
  train::CheckpointInfo info{.graph = graph::print_graph_any_batch(gray)};
  data::Preprocess preprocess = data::preset("xray");
  unfold_channels(3, info, preprocess, weights);
  EXPECT_EQ(preprocess, data::with_channels(data::preset("xray"), 3));
  EXPECT_EQ(data::preprocess_from_value(info.preprocess), preprocess);
  const graph::Graph unfolded = graph::parse_graph(info.graph, "unfolded", {.batch = 1}).or_throw();
  const std::vector<float> after = logits_of(unfolded, weights);
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t i = 0; i < before.size(); ++i)
    EXPECT_NEAR(after[i], before[i], 1e-5F * (1.0F + std::abs(before[i])));
}

TEST(UnfoldChannels, leaves_what_fits_and_refuses_what_cannot_be) {
  train::CheckpointInfo info;
  data::Preprocess preprocess = data::preset("xray");
  std::vector<train::NamedTensor> weights;
  unfold_channels(1, info, preprocess, weights);
  EXPECT_EQ(preprocess, data::preset("xray"));
  EXPECT_THROW(unfold_channels(2, info, preprocess, weights), ConfigError);
  info.graph =
      "graph \"x\"\ninput image (N, 1, 8, 8)\nflat = flatten(image)\nfc = linear(flat, out=2)\noutput logits = fc\n";
  EXPECT_THROW(unfold_channels(3, info, preprocess, weights), ConfigError);
}

}  // namespace
}  // namespace roentgen::publish
