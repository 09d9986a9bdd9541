// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Python interface of data::Dataset: lists a data set and returns its columns.
#include "data/source/dataset.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "data/source/describe.h"
#include "python/arrays.h"
#include "python/core/python_terms.h"
#include "python/module.h"
#include "python/native_call.h"
#include "python/values.h"
#include "train/recipe.h"

namespace nb = nanobind;
namespace fs = std::filesystem;

namespace roentgen::python {
namespace {

using SharedDataset = std::shared_ptr<data::Dataset>;

// Returns an absolute path without "." and "//", so that a later change of the working directory has no effect.
fs::path whole(const fs::path& path) {
  const fs::path absolute = fs::absolute(path);
  return std::ranges::find(absolute, "..") == absolute.end() ? absolute.lexically_normal() : absolute;
}

SharedDataset list_dataset(const std::vector<std::string>& folders, const nb::dict& options) {
  const Value table = Value::Table{{"data", from_python(options, "options of the data set")}};
  const NativeCall call;
  data::SourceOptions source = train::recipe_from_value(table, "roentgen.Dataset").data;
  data::place_folders(source, folders);
  auto dataset = std::make_shared<data::Dataset>(data::load_dataset(source));
  for (data::Sample& sample : dataset->samples) sample.path = whole(sample.path);
  return dataset;
}

std::vector<std::uint32_t> indices_of(const data::Dataset& dataset, const std::string& split) {
  if (!split.empty()) return data::samples_of(dataset, data::parse_split(split));
  std::vector<std::uint32_t> all(dataset.samples.size());
  for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
  return all;
}

// Python list of one column, for the samples `indices`.
template <typename Get>
nb::list column(const data::Dataset& dataset, const std::vector<std::uint32_t>& indices, const Get& get) {
  nb::list list;
  for (const std::uint32_t index : indices) list.append(get(dataset.samples.at(index)));
  return list;
}

nb::dict columns(const data::Dataset& dataset, const std::vector<std::uint32_t>& indices, std::string_view salt,
                 bool shows_patients) {
  nb::dict table;
  table["image"] = column(dataset, indices, [](const data::Sample& sample) { return sample.id; });
  table["path"] = column(dataset, indices, [](const data::Sample& sample) { return sample.path.string(); });
  table["split"] = column(dataset, indices, [](const data::Sample& sample) { return data::name_of(sample.split); });
  if (shows_patients) {
    table["patient"] = column(dataset, indices, [](const data::Sample& sample) { return sample.patient; });
  } else {
    table["patient"] = nb::cast(data::sample_patient_hashes(dataset, indices, salt));
  }
  table["view"] = column(dataset, indices, [](const data::Sample& sample) { return sample.view; });
  table["sex"] = column(dataset, indices, [](const data::Sample& sample) { return sample.sex; });
  table["age"] = column(dataset, indices, [](const data::Sample& sample) { return sample.age_years; });
  return table;
}

NumpyArray labels(const data::Dataset& dataset, const std::vector<std::uint32_t>& indices) {
  std::vector<float> values;
  values.reserve(indices.size() * dataset.label_names.size());
  for (const std::uint32_t index : indices) {
    const std::vector<float>& row = dataset.samples.at(index).labels;
    values.insert(values.end(), row.begin(), row.end());
  }
  return own_array(std::move(values), {indices.size(), dataset.label_names.size()});
}

}  // namespace

void add_dataset(nb::module_& module) {
  nb::class_<data::Dataset>(module, "Dataset")
      .def_prop_ro("source", [](const data::Dataset& dataset) { return dataset.source; })
      .def_prop_ro("root", [](const data::Dataset& dataset) { return dataset.root; })
      .def_prop_ro("label_names", [](const data::Dataset& dataset) { return dataset.label_names; })
      .def_prop_ro("notes",
                   [](const data::Dataset& dataset) {
                     std::vector<std::string> notes;
                     for (const std::string& note : dataset.notes) notes.push_back(python_terms(note));
                     return notes;
                   })
      .def_prop_ro("left_out_images", [](const data::Dataset& dataset) { return dataset.left_out_images; })
      .def("indices", &indices_of)
      .def("names",
           [](const data::Dataset& dataset, const std::vector<std::uint32_t>& indices) {
             return column(dataset, indices, [](const data::Sample& sample) { return sample.id; });
           })
      .def("columns", &columns)
      .def("labels", &labels)
      .def("description", [](const data::Dataset& dataset) { return to_python(data::describe_value(dataset)); })
      .def("__str__", [](const data::Dataset& dataset) { return python_terms(data::describe(dataset)); });
  module.def("list_dataset", &list_dataset);
}

}  // namespace roentgen::python
