// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "task/convert_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/folder_testing.h"
#include "data/transform/preprocess.h"
#include "graph/text.h"
#include "models/model.h"
#include "train/weights_file.h"

namespace roentgen::task {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Weights file of ResNet-18, in the form that another program writes.
struct Foreign {
  std::int64_t channels = 3;
  std::int64_t labels = 4;
  std::string prefix = "";
  bool has_operating_points = false;
  float value = 0.5F;
};

class ConvertWeights : public ::testing::Test {
 protected:
  std::filesystem::path write(const Foreign& foreign) {
    const graph::Graph graph =
        models::build_model({.name = "resnet18", .labels = foreign.labels, .channels = foreign.channels, .batch = 1});
    std::vector<train::NamedTensor> tensors;
    for (const graph::Parameter& parameter : graph.parameters()) {
      const auto elements = static_cast<std::size_t>(parameter.shape.elements());
      tensors.push_back({.name = foreign.prefix + parameter.name,
                         .shape = parameter.shape,
                         .values = std::vector<float>(elements, foreign.value)});
    }
    if (foreign.has_operating_points) {
      tensors.push_back({.name = "op_threshs", .shape = {foreign.labels}, .values = std::vector<float>(18, 0.5F)});
    }
    train::write_weights(path_, tensors, 0, {});
    return path_;
  }

  static std::string error_of(const ForeignWeights& weights) {
    try {
      static_cast<void>(convert_weights(weights));
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "no error";
  }

  TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_.path() / "w.safetensors";
};

TEST_F(ConvertWeights, of_imagenet_keep_their_thousand_outputs) {
  const ConvertedWeights converted = convert_weights({.file = write({.labels = 1000})});
  EXPECT_EQ(converted.model, "resnet18");
  const train::CheckpointInfo& info = converted.checkpoint.info;
  EXPECT_EQ(info.loss, "softmax");
  EXPECT_EQ(info.labels.size(), 1000U);
  EXPECT_EQ(info.labels.back(), "class_999");
  const data::Preprocess preprocess = data::preprocess_from_value(info.preprocess);
  EXPECT_EQ(data::preset_name(preprocess), "imagenet");
  EXPECT_EQ(preprocess.size_px, 224);
  EXPECT_THAT(converted.notes, Contains(HasSubstr("(imagenet), as the file names none")));
}

TEST_F(ConvertWeights, of_torchxrayvision_get_its_findings_and_input) {
  const ConvertedWeights converted =
      convert_weights({.file = write({.channels = 1, .labels = 18, .prefix = "model.", .has_operating_points = true})});
  const train::CheckpointInfo& info = converted.checkpoint.info;
  EXPECT_EQ(info.labels, train::torchxrayvision_labels());
  EXPECT_EQ(info.loss, "sigmoid");
  const data::Preprocess preprocess = data::preprocess_from_value(info.preprocess);
  EXPECT_EQ(data::preset_name(preprocess), "xrv");
  EXPECT_EQ(preprocess.size_px, 512);
  EXPECT_THAT(converted.notes, Contains(HasSubstr("op_threshs omitted")));
  EXPECT_EQ(converted.checkpoint.tensors.front().name, "conv1.weight");
}

TEST_F(ConvertWeights, take_what_is_said_of_them) {
  const auto file = write({.channels = 1, .labels = 2});
  EXPECT_THAT(error_of({.file = file}), HasSubstr("expected weights stored with their preprocessing"));
  const auto info =
      convert_weights({.file = file, .labels = {"Normal", "Pneumonia"}, .preset = "unit", .loss = "softmax"})
          .checkpoint.info;
  EXPECT_THAT(info.labels, ElementsAre("Normal", "Pneumonia"));
  EXPECT_EQ(info.loss, "softmax");
  EXPECT_EQ(data::preset_name(data::preprocess_from_value(info.preprocess)), "unit");
}

TEST_F(ConvertWeights, become_a_checkpoint_that_reads_back) {
  const ConvertedWeights converted = convert_weights({.file = write({})});
  const auto path = folder_.path() / "out.safetensors";
  train::write_weights(path, converted.checkpoint.tensors, 0, train::to_metadata(converted.checkpoint.info));
  const ConvertedWeights again = convert_weights({.file = path});
  EXPECT_EQ(again.model, "");
  EXPECT_EQ(again.checkpoint.info, converted.checkpoint.info);
  const auto graph = graph::parse_graph(again.checkpoint.info.graph, "graph", {.batch = 1}).or_throw();
  EXPECT_TRUE(train::compare(again.checkpoint.tensors, graph.parameters()).is_clean());
  EXPECT_THAT(error_of({.file = path, .preset = "xrv"}), HasSubstr("got a checkpoint of Roentgen"));
}

TEST_F(ConvertWeights, refuse_what_does_not_fit) {
  const auto file = write({});
  EXPECT_THAT(error_of({.file = file, .labels = {"a", "b"}}), HasSubstr("expected 4 labels, one per output, got 2"));
  EXPECT_THAT(error_of({.file = file, .labels = {"a", "b", "a", "c"}}), HasSubstr("got a twice"));
  EXPECT_THAT(error_of({.file = file, .labels = {"a", "b", "", "c"}}), HasSubstr("got an empty name"));
  EXPECT_THAT(error_of({.file = file, .model = "densenet121"}), HasSubstr("expected the tensors of densenet121"));
  EXPECT_THAT(error_of({.file = file, .preset = "none"}), HasSubstr("preset"));
  EXPECT_THAT(error_of({.file = file, .loss = "hinge"}), HasSubstr("expected sigmoid or softmax, got hinge"));
  EXPECT_THAT(error_of({.file = write({.value = -1.0F})}), HasSubstr("running_var"));
  EXPECT_THAT(error_of({.file = folder_.path() / "none"}), HasSubstr("got no such file; try checking the path"));
}

}  // namespace
}  // namespace roentgen::task
