// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The only list of models: X(name, parameters, side, description). Parameters: number of trained parameters with 1000
// outputs and 3 channels, auxiliary classifiers included. Side: side of the images that the model was designed for, px.
// Description: one line that helps people choose. A new model needs a function `graph::Graph name(const ModelConfig&)`
// in a file of src/models, and one line here.
#pragma once

#include "models/model.h"

#define RG_MODEL_LIST(X)                                                                                       \
  X(resnet18, 11'689'512, 224, "residual network of 18 layers: quick, for thousands of images")                \
  X(resnet34, 21'797'672, 224, "residual network of 34 layers")                                                \
  X(resnet50, 25'557'032, 224, "residual network of 50 layers, with bottlenecks")                              \
  X(resnet101, 44'549'160, 224, "residual network of 101 layers")                                              \
  X(resnet152, 60'192'808, 224, "residual network of 152 layers")                                              \
  X(densenet121, 7'978'856, 224, "densely connected, 121 layers: the usual choice for chest X-rays (CheXNet)") \
  X(densenet169, 14'149'480, 224, "densely connected, 169 layers")                                             \
  X(densenet201, 20'013'928, 224, "densely connected, 201 layers")                                             \
  X(vgg16, 138'357'544, 224, "plain convolutions, 16 layers")                                                  \
  X(vgg16_bn, 138'365'992, 224, "vgg16 with batch norms")                                                      \
  X(vgg19, 143'667'240, 224, "plain convolutions, 19 layers")                                                  \
  X(vgg19_bn, 143'678'248, 224, "vgg19 with batch norms")                                                      \
  X(googlenet, 13'004'888, 224, "Inception v1 with batch norms and auxiliary classifiers")                     \
  X(inception_v3, 27'161'264, 299, "Inception v3, with an auxiliary classifier")                               \
  X(inception_v4, 42'679'816, 299, "Inception v4")

namespace roentgen::models {

// Declares the function of every model. A missing definition is a link error that names the model.
#define RG_MODEL_DECLARATION(name, parameters, image_px, summary) \
  [[nodiscard]] graph::Graph name(const ModelConfig& config);
RG_MODEL_LIST(RG_MODEL_DECLARATION)
#undef RG_MODEL_DECLARATION

}  // namespace roentgen::models
