// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// roentgen._native: libroentgen for the Python package. Errors of roentgen become Python exceptions with the same line.
#include "python/module.h"

#include "core/error.h"
#include "core/log.h"

namespace nb = nanobind;

NB_MODULE(_native, module) {
  using namespace roentgen;
  // The most general one first: translators are asked in reverse order.
  static nb::exception<Error> error(module, "Error", PyExc_RuntimeError);
  nb::exception<ConfigError>(module, "ConfigError", error);
  nb::exception<DataError>(module, "DataError", error);
  nb::exception<ShapeError>(module, "ShapeError", error);
  nb::exception<DeviceError>(module, "DeviceError", error);
  nb::exception<CommError>(module, "CommError", error);
  python::add_dataset(module);
  python::add_loader(module);
  python::add_model(module);
  python::add_scores(module);
  python::add_training(module);
}
