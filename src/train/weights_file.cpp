// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/weights_file.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "io/file.h"
#include "io/safetensors.h"
#include "io/torch_file.h"
#include "train/weight_names.h"

namespace roentgen::train {
namespace {

bool is_torch(const std::filesystem::path& path) {
  const auto file = io::MappedFile::open(path).or_throw<ConfigError>();
  return io::is_torch_file(file.bytes());
}

void read_torch(const std::filesystem::path& path, WeightsFile& file) {
  io::TorchFile torch = io::read_torch_file(path).or_throw<ConfigError>();
  for (io::TorchTensor& tensor : torch.tensors) {
    file.tensors.push_back(
        {.name = std::move(tensor.name), .shape = std::move(tensor.shape), .values = std::move(tensor.values)});
  }
  file.is_torchxrayvision = torch.class_name.starts_with("torchxrayvision.");
  for (const char* key : {"pathologies", "targets"}) {
    if (const auto found = torch.lists.find(key); found != torch.lists.end()) file.labels = found->second;
  }
}

void read_safetensors(const std::filesystem::path& path, WeightsFile& file) {
  const auto reader = io::SafetensorsReader::open(path).or_throw<ConfigError>();
  file.tensors = read_tensors(reader, kOptimizerPrefix);
  if (reader.metadata().contains("format") && reader.metadata().contains("preprocess")) {
    file.info = from_metadata(reader.metadata(), file.what, "a complete copy of the file").or_throw<ConfigError>();
  }
}

}  // namespace

WeightsFile read_weights_file(const std::filesystem::path& path) {
  WeightsFile file{.tensors = {}, .what = path.string()};
  is_torch(path) ? read_torch(path, file) : read_safetensors(path, file);
  const auto points = std::ranges::find_if(file.tensors, is_operating_points, &NamedTensor::name);
  if (points != file.tensors.end()) {
    file.tensors.erase(points);
    file.is_torchxrayvision = true;
    file.notes.emplace_back(
        "op_threshs omitted: torchxrayvision rescales its probabilities by them; here they stay unchanged");
  }
  if (file.is_torchxrayvision && file.labels.empty()) file.labels = torchxrayvision_labels();
  return file;
}

const std::vector<std::string>& torchxrayvision_labels() {
  static const std::vector<std::string> kLabels{"Atelectasis",  "Consolidation",
                                                "Infiltration", "Pneumothorax",
                                                "Edema",        "Emphysema",
                                                "Fibrosis",     "Effusion",
                                                "Pneumonia",    "Pleural_Thickening",
                                                "Cardiomegaly", "Nodule",
                                                "Mass",         "Hernia",
                                                "Lung Lesion",  "Fracture",
                                                "Lung Opacity", "Enlarged Cardiomediastinum"};
  return kLabels;
}

}  // namespace roentgen::train
