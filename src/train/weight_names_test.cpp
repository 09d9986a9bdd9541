// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "train/weight_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace roentgen::train {
namespace {

TEST(TorchvisionName, drops_what_wrappers_add) {
  EXPECT_EQ(torchvision_name("module.densenet121.features.conv0.weight"), "features.conv0.weight");
  EXPECT_EQ(torchvision_name("densenet121.classifier.0.weight"), "classifier.weight");
  EXPECT_EQ(torchvision_name("model.fc.0.bias"), "fc.bias");
  EXPECT_EQ(torchvision_name("resnet50.layer1.0.conv1.weight"), "layer1.0.conv1.weight");
}

TEST(TorchvisionName, mends_the_old_names_of_dense_layers_only) {
  EXPECT_EQ(torchvision_name("features.denseblock1.denselayer1.norm.1.weight"),
            "features.denseblock1.denselayer1.norm1.weight");
  EXPECT_EQ(torchvision_name("features.denseblock4.denselayer16.conv.2.weight"),
            "features.denseblock4.denselayer16.conv2.weight");
  EXPECT_EQ(torchvision_name("features.transition1.norm.weight"), "features.transition1.norm.weight");
  EXPECT_EQ(torchvision_name("layer1.0.conv1.weight"), "layer1.0.conv1.weight");
}

TEST(TorchvisionName, knows_the_wrappers_of_torch_compile_and_the_vgg_of_timm) {
  EXPECT_EQ(torchvision_name("_orig_mod.module.fc.weight"), "fc.weight");
  EXPECT_EQ(torchvision_name("pre_logits.fc2.bias"), "classifier.3.bias");
  EXPECT_EQ(torchvision_name("head.fc.weight"), "classifier.6.weight");
  EXPECT_EQ(torchvision_name("features.norm.1.weight"), "features.norm.1.weight") << "no dense layer";
}

TEST(OperatingPoints, are_told_by_name_under_any_prefix) {
  EXPECT_TRUE(is_operating_points("op_threshs"));
  EXPECT_TRUE(is_operating_points("module.op_threshs"));
  EXPECT_FALSE(is_operating_points("features.op_threshs"));
}

// timm's VGG has a convolution over all cells, torchvision the equivalent linear layer.
TEST(RenameTensors, flattens_a_convolution_that_is_a_linear_layer_of_the_network) {
  const std::vector<graph::Parameter> parameters{{.name = "classifier.0.weight", .shape = {2, 12}}};
  std::vector<NamedTensor> tensors{
      {.name = "pre_logits.fc1.weight", .shape = {2, 3, 2, 2}, .values = std::vector<float>(24)}};
  EXPECT_EQ(rename_tensors(tensors, parameters, "w").or_throw(), 1);
  EXPECT_TRUE(compare(tensors, parameters).is_clean());
}

}  // namespace
}  // namespace roentgen::train
