// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Python module roentgen._native: libroentgen for the package roentgen. Converts roentgen's errors to Python exceptions
// with the same text.
#include "python/module.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <exception>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/log.h"
#include "python/core/native_work.h"
#include "python/core/python_terms.h"

namespace nb = nanobind;

namespace {

// Adds a Python exception `name` with a docstring for errors of type E, and returns it.
template <typename E>
nb::object add_error(nb::module_& module, const char* name, const char* text, nb::handle base) {
  const std::string full = std::string("roentgen.") + name;
  const nb::object type = nb::steal(PyErr_NewExceptionWithDoc(full.c_str(), text, base.ptr(), nullptr));
  module.attr(name) = type;  // keeps the type alive
  nb::register_exception_translator(
      [](const std::exception_ptr& thrown, void* exception) {
        try {
          std::rethrow_exception(thrown);
        } catch (const E& error) {
          PyErr_SetString(static_cast<PyObject*>(exception), roentgen::python::python_terms(error.what()).c_str());
        }
      },
      type.ptr());
  return type;
}

void set_log_level(const std::string& name) {
  using roentgen::log::Level;
  for (const auto& [known, level] : {std::pair{"debug", Level::Debug}, std::pair{"info", Level::Info},
                                     std::pair{"warning", Level::Warning}, std::pair{"error", Level::Error}}) {
    if (name == known) return roentgen::log::set_level(level);
  }
  throw roentgen::ConfigError(
      roentgen::error_text("python.log", "level", "a known name", name, "one of debug, info, warning, error"));
}

}  // namespace

NB_MODULE(_native, module) {
  using namespace roentgen;
  // Disables leak warnings. Daemon threads or a traceback may hold objects beyond the interpreter's end, and the system
  // frees them.
  nb::set_leak_warnings(false);
  log::set_level(log::Level::Warning);  // hides progress lines, which would clutter notebooks
  module.def("set_log_level", &set_log_level);
  module.def("python_terms", &python::python_terms);
  // Converts InterpreterEnds to SystemExit, which ends a thread without a message.
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const python::InterpreterEnds& end) {
      PyErr_SetString(PyExc_SystemExit, end.what());
    }
  });
  module.def("end_native_work", &python::end_native_work, nb::call_guard<nb::gil_scoped_release>());
  nb::module_::import_("atexit").attr("register")(module.attr("end_native_work"));
  // Registers the most general exception first, because nanobind tries translators in reverse order.
  const nb::object error = add_error<Error>(
      module, "Error", "Base class of the errors of Roentgen. The message is one line.", PyExc_RuntimeError);
  add_error<ConfigError>(module, "ConfigError", "Wrong argument, recipe or checkpoint.", error);
  add_error<DataError>(module, "DataError", "Images, labels or files that cannot be read or used.", error);
  add_error<ShapeError>(module, "ShapeError", "Arrays whose shapes do not match.", error);
  add_error<DeviceError>(module, "DeviceError", "Missing or failing device, such as a GPU.", error);
  add_error<CommError>(module, "CommError", "Failed communication between processes.", error);
  python::add_dataset(module);
  python::add_evaluation(module);
  python::add_loader(module);
  python::add_model(module);
  python::add_scores(module);
  python::add_training(module);
}
