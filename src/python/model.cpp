// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Python interface of Predictor: models that predict images.
#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/png_writer.h"
#include "python/arrays.h"
#include "python/core/options.h"
#include "python/module.h"
#include "python/native_call.h"
#include "python/predictor.h"
#include "python/values.h"

namespace nb = nanobind;

namespace roentgen::python {
namespace {

using Pixels = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

// Image on the memory of an array, which must stay alive. Gray (H, W) or colour (H, W, 3), uint8 or uint16; the class
// roentgen.Model has checked it.
data::Image image_of(const Pixels& pixels) {
  const bool is_byte = pixels.dtype() == nb::dtype<std::uint8_t>();
  RG_ASSERT(pixels.ndim() == 2 || (pixels.ndim() == 3 && pixels.shape(2) == 3));
  RG_ASSERT(is_byte || pixels.dtype() == nb::dtype<std::uint16_t>());
  data::ImageLayout layout{.width_px = static_cast<std::int64_t>(pixels.shape(1)),
                           .height_px = static_cast<std::int64_t>(pixels.shape(0)),
                           .channels = pixels.ndim() == 3 ? 3 : 1};
  if (!is_byte) {
    layout.bits = 16;
    layout.max_value = 65535;
  }
  return data::Image::borrow(layout, {static_cast<const std::byte*>(pixels.data()), layout.bytes()});
}

// Tuple of image names, probabilities (N, K), features (N, C) and reasons.
nb::tuple arrays_of(Predicted predicted, std::size_t labels) {
  const std::size_t rows = predicted.reasons.size();
  const std::size_t channels = rows == 0 ? 0 : predicted.features.size() / rows;
  return nb::make_tuple(std::move(predicted.images), own_array(std::move(predicted.probabilities), {rows, labels}),
                        own_array(std::move(predicted.features), {rows, channels}), std::move(predicted.reasons));
}

nb::tuple predict_files(Predictor& predictor, const std::vector<std::string>& paths, bool has_features) {
  Predicted predicted;
  {
    const NativeCall call;
    predicted = predictor.predict_files(paths, has_features ? Extras::Features : Extras::None);
  }
  return arrays_of(std::move(predicted), predictor.info().labels.size());
}

nb::tuple predict_images(Predictor& predictor, const std::vector<Pixels>& arrays, bool has_features) {
  std::vector<data::Image> images;
  for (const Pixels& pixels : arrays) images.push_back(image_of(pixels));
  Predicted predicted;
  {
    const NativeCall call;
    predicted = predictor.predict_images(images, has_features ? Extras::Features : Extras::None);
  }
  return arrays_of(std::move(predicted), predictor.info().labels.size());
}

// Tuple of heat-map values, gray picture, overlay (H, W, 3), probability and method.
nb::tuple heatmap(Predictor& predictor, const std::string& path, const std::string& finding) {
  PictureMap map;
  std::vector<std::uint8_t> overlay;
  {
    const NativeCall call;
    map = predictor.heatmap(path, finding);
    overlay = eval::overlay(map.gray, map.map);
  }
  const auto height = static_cast<std::size_t>(map.map.height_px), width = static_cast<std::size_t>(map.map.width_px);
  return nb::make_tuple(own_array(std::move(map.map.values), {height, width}),
                        own_array(std::move(map.gray), {height, width}),
                        own_array(std::move(overlay), {height, width, 3}), map.probability, map.method);
}

// Encodes RGB pixels (H, W, 3) as a PNG file.
nb::bytes encode_png(const nb::ndarray<const std::uint8_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>& colours) {
  std::vector<std::byte> file;
  {
    const NativeCall call;
    file = io::encode_png({.width_px = static_cast<std::int64_t>(colours.shape(1)),
                           .height_px = static_cast<std::int64_t>(colours.shape(0)),
                           .channels = 3,
                           .pixels = std::as_bytes(std::span(colours.data(), colours.size()))});
  }
  return nb::bytes(file.data(), file.size());
}

void export_onnx(const Predictor& predictor, const std::filesystem::path& out, std::int64_t opset, bool is_folding) {
  const NativeCall call;
  predictor.export_onnx(out, opset, is_folding);
}

}  // namespace

void add_model(nb::module_& module) {
  nb::class_<Predictor>(module, "Predictor")
      .def("__init__",
           [](Predictor* self, const std::filesystem::path& file, std::int64_t batch, std::int64_t threads,
              std::int64_t workers, const std::string& model, const std::vector<std::string>& labels,
              const std::string& preset, const std::string& loss, const std::string& device, const std::string& dtype) {
             const NativeCall call;
             constexpr Range kThreads{.least = 0, .most = 4096};
             new (self)
                 Predictor({.weights = {.file = file, .model = model, .labels = labels, .preset = preset, .loss = loss},
                            .device = device,
                            .dtype = dtype,
                            .batch = within(batch, {.least = 1, .most = 1 << 20}, "python.model", "batch"),
                            .threads = within(threads, kThreads, "python.model", "threads"),
                            .workers = within(workers, kThreads, "python.model", "workers")});
           })
      .def_prop_ro("labels", [](const Predictor& predictor) { return predictor.info().labels; })
      .def_prop_ro("loss", [](const Predictor& predictor) { return predictor.info().loss; })
      .def_prop_ro("dtype", [](const Predictor& predictor) { return predictor.dtype(); })
      .def_prop_ro("notes", [](const Predictor& predictor) { return predictor.notes(); })
      .def_prop_ro("recipe", [](const Predictor& predictor) { return predictor.info().recipe; })
      .def_prop_ro("step", [](const Predictor& predictor) { return predictor.info().step; })
      .def_prop_ro("epoch", [](const Predictor& predictor) { return predictor.info().epoch; })
      .def_prop_ro("preprocess",
                   [](const Predictor& predictor) { return to_python(predictor.preprocess().to_value()); })
      .def_prop_ro("preprocess_text", [](const Predictor& predictor) { return predictor.preprocess().text(); })
      .def("predict_files", &predict_files)
      .def("predict_images", &predict_images)
      .def("heatmap", &heatmap)
      .def("export_onnx", &export_onnx);
  module.def("encode_png", &encode_png);
}

}  // namespace roentgen::python
