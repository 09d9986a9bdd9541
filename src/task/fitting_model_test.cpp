// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests with parameter names and shapes of networks from torchvision, timm and other libraries
// (tests/golden/torch/names.csv, written by tools/peers/torch_files_golden.py).
#include "task/fitting_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <sstream>

#include "core/error.h"
#include "io/csv.h"

namespace roentgen::task {
namespace {

using ::testing::HasSubstr;
using Tensors = std::vector<train::NamedTensor>;

// Tensors of networks by "library model", with shapes but without values.
const std::map<std::string, Tensors>& library_networks() {
  static const std::map<std::string, Tensors> kNetworks = [] {
    const char* source = std::getenv("ROENTGEN_SOURCE_DIR");
    const auto path = std::filesystem::path(source == nullptr ? "." : source) / "tests/golden/torch/names.csv";
    const io::Csv csv = io::read_csv(path).or_throw();
    std::map<std::string, Tensors> networks;
    for (const auto& row : csv.rows) {
      std::vector<std::int64_t> sizes;
      std::istringstream text(row[3]);
      for (std::string size; std::getline(text, size, 'x');) sizes.push_back(std::stoll(size));
      if (row[2] == "op_threshs") continue;  // train::read_weights_file() omits this tensor
      networks[row[0] + " " + row[1]].push_back({.name = row[2], .shape = Shape(std::move(sizes)), .values = {}});
    }
    return networks;
  }();
  return kNetworks;
}

std::string error_of(Tensors tensors, const std::string& name) {
  try {
    static_cast<void>(fit_model(tensors, name, "w.pt"));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

TEST(FittingModel, is_found_for_the_names_of_every_library) {
  ASSERT_EQ(library_networks().size(), 7U);
  for (const auto& [network, tensors] : library_networks()) {
    SCOPED_TRACE(network);
    Tensors renamed = tensors;
    const FittingModel model = fit_model(renamed, "", network);
    EXPECT_EQ(model.name, network.substr(network.find(' ') + 1));
    EXPECT_TRUE(train::compare(renamed, model.graph.parameters()).is_clean());
    const bool is_gray = network.starts_with("torchxrayvision");
    EXPECT_EQ(model.graph.node(model.graph.find("image")).shape[1], is_gray ? 1 : 3);
    EXPECT_EQ(model.graph.node(model.graph.output("logits")).shape[1], is_gray ? 18 : 1000);
  }
}

TEST(FittingModel, takes_the_old_names_of_dense_layers_and_prefixes) {
  Tensors tensors = library_networks().at("torchvision densenet121");
  for (train::NamedTensor& tensor : tensors) {
    for (const std::string part : {"norm1", "norm2", "conv1", "conv2"}) {
      const std::size_t at = tensor.name.find("." + part + ".");
      if (at != std::string::npos) tensor.name.replace(at + 1, 5, part.substr(0, 4) + "." + part.substr(4));
    }
    tensor.name = "module.model." + tensor.name;
  }
  EXPECT_EQ(fit_model(tensors, "", "w.pt").name, "densenet121");
}

TEST(FittingModel, is_strict_and_names_the_closest_network) {
  Tensors tensors = library_networks().at("timm resnet50");
  tensors.pop_back();
  tensors.front().shape = {64, 3, 3, 3};
  tensors.push_back({.name = "extra", .shape = {1}, .values = {}});
  EXPECT_THAT(error_of(tensors, ""), HasSubstr("w.pt: expected the tensors of resnet50, got 1 missing (fc.bias), 1 "
                                               "unexpected (extra), 1 of another shape (conv1.weight: (64, 3, 3, 3)"));
  EXPECT_THAT(error_of(library_networks().at("timm resnet50"), "resnet18"),
              HasSubstr("expected the tensors of resnet18, got"));
  EXPECT_THAT(error_of(tensors, "resnet19"), HasSubstr("resnet19"));
}

}  // namespace
}  // namespace roentgen::task
