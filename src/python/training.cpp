// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Python interface to training. Callbacks receive every record. An interrupt, or an error in a callback, stops the run
// as a signal stops the program, with everything saved.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cfenv>
#include <exception>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "data/source/dataset.h"
#include "data/source/describe.h"
#include "io/file.h"
#include "io/place.h"
#include "io/toml.h"
#include "python/core/process.h"
#include "python/core/python_terms.h"
#include "python/interrupt.h"
#include "python/module.h"
#include "python/native_call.h"
#include "python/values.h"
#include "task/init_recipe.h"
#include "task/model_list.h"
#include "task/recipe_list.h"
#include "task/train_run.h"
#include "train/observer.h"
#include "train/recipe.h"
#include "train/run_folder.h"
#include "train/run_origin.h"
#include "train/trainer.h"

namespace nb = nanobind;
namespace fs = std::filesystem;

namespace roentgen::python {
namespace {

// Passes every record to a Python function as a dict. Called without the GIL.
class CallbackObserver final : public train::Observer {
 public:
  explicit CallbackObserver(nb::callable callback) : callback_(std::move(callback)) {}

  void on_data(const data::Dataset& dataset) {
    tell(Value::Table{{"kind", "data"}, {"text", python_terms(data::describe(dataset))}});
  }
  void on_step(const train::StepRecord& record) override {
    tell(Value::Table{{"kind", "step"},
                      {"step", record.step},
                      {"total_steps", record.total_steps},
                      {"epoch", record.epoch},
                      {"loss", record.loss},
                      {"lr", record.lr},
                      {"images_per_s", record.images_per_s()},
                      {"data_wait", record.data_wait_share()}});
  }
  void on_validation(std::int64_t done, std::int64_t total) override {
    tell(Value::Table{{"kind", "validation"}, {"done", done}, {"total", total}});
    if (is_stop_asked()) std::rethrow_exception(error_);  // the updates of this epoch are saved before its validation
  }
  void on_epoch(const train::EpochRecord& record) override {
    const auto optional = [](const std::optional<double>& value) { return value ? Value(*value) : Value(); };
    tell(Value::Table{{"kind", "epoch"},
                      {"epoch", record.epoch},
                      {"step", record.step},
                      {"train_loss", record.train_loss},
                      {"val_loss", optional(record.val_loss)},
                      {"val_auroc", optional(record.val_auroc)},
                      {"is_best", record.is_best},
                      {"train_seconds", record.train_seconds},
                      {"val_seconds", record.val_seconds},
                      {"bad_images", record.bad_images}});
  }

  // True after an error in the callback, an interrupt, or at the end of the interpreter.
  [[nodiscard]] bool is_stop_asked() {
    try {
      if (!error_) throw_if_interrupted();
    } catch (...) {
      error_ = std::current_exception();
    }
    return error_ != nullptr;
  }
  // Throws the error that stopped the run, if there is one. Called with the GIL.
  void rethrow() {
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  void tell(const Value& record) {
    if (error_) return;
    const KeptArithmetic kept;
    std::fesetenv(FE_DFL_ENV);
    const nb::gil_scoped_acquire held;
    try {
      callback_(to_python(record));
    } catch (const nb::python_error&) {
      error_ = std::current_exception();
    }
  }

  const nb::callable callback_;
  std::exception_ptr error_;
};

// Reads a recipe as nested tables, from TOML text (recognised by its line breaks), a file, or the name of a built-in
// recipe.
Value recipe_table(const std::string& recipe) {
  const bool is_text = recipe.find('\n') != std::string::npos;
  Value table = io::parse_toml(is_text ? recipe : task::recipe_text(recipe).toml, is_text ? "recipe" : recipe)
                    .or_throw<ConfigError>();
  return table.is_null() ? Value::table() : table;
}

// Arguments of train(); keys of `settings` are "section.key".
struct Request {
  fs::path recipe;                // file, name or text; empty: uses `table`, or the recipe of the resumed run
  Value table;                    // recipe as nested tables
  Value settings;                 // values that override the recipe
  std::vector<std::string> data;  // folders
  fs::path out;                   // run folder
  task::EarlierRun earlier = task::EarlierRun::Refuse;
};

train::Recipe read_recipe(Request& request) {
  const train::RunFolder folder(request.out);
  if (request.earlier == task::EarlierRun::Resume && request.table.is_null()) {
    train::take_from_run(folder, request.recipe, request.data);
  }
  const bool is_file = request.table.is_null() && request.recipe.string().find('\n') == std::string::npos;
  const std::string what = is_file ? request.recipe.string() : "recipe";
  Value table = request.table.is_null() ? recipe_table(request.recipe.string()) : request.table;
  for (const auto& [key, value] : request.settings.as_table()) table.set_path(key, value);
  train::Recipe recipe = train::recipe_from_value(table, what);
  data::place_folders(recipe.data, request.data);
  if (recipe.data.root.empty() && recipe.data.sources.empty()) {
    throw ConfigError(error_text("python.train", "data", "a data folder", "none", "data=\"folder\""));
  }
  for (const std::string& each : request.data) {
    io::refuse_inside_data("out", request.out, data::folder_of(each));
  }
  return recipe;
}

task::EarlierRun earlier_run(const std::string& name) {
  if (name == "resume") return task::EarlierRun::Resume;
  return name == "overwrite" ? task::EarlierRun::Overwrite : task::EarlierRun::Refuse;
}

// Trains, and returns the outcome with the same keys as the program's JSON.
nb::object train_run(const fs::path& file, nb::handle table, const nb::dict& settings,
                     const std::vector<std::string>& data, const fs::path& out, const std::string& earlier,
                     nb::callable callback) {
  Request request{.recipe = file,
                  .table = from_python(table, "recipe"),
                  .settings = from_python(settings, "settings"),
                  .data = data,
                  .out = out,
                  .earlier = earlier_run(earlier)};
  CallbackObserver observer(std::move(callback));
  Value outcome;
  {
    const NativeCall call;
    require_threads();
    train::Recipe recipe = read_recipe(request);
    task::TrainRun run({.earlier = request.earlier,
                        .observers = {&observer},
                        .on_data = [&](const data::Dataset& dataset) { observer.on_data(dataset); },
                        .is_stop_asked = [&] { return observer.is_stop_asked(); }});
    const train::RunFolder folder(request.out);
    outcome = train::to_value(run.train(std::move(recipe), folder), folder);
  }
  observer.rethrow();
  return to_python(outcome);
}

// Creates a recipe for a folder of images. Returns the result as a dict, which includes the text of the recipe. Writes
// the recipe to `out` unless `out` is empty.
nb::object init(const fs::path& folder, const fs::path& out, const nb::dict& settings) {
  const Value given = from_python(settings, "settings");
  task::InitResult result;
  Value table;
  {
    const NativeCall call;
    require_threads();
    Value known = Value::table();
    for (const auto& [key, value] : given.as_table()) {
      task::check_init_key(key, "settings: " + key);
      known.set_path(key, value);
    }
    result = task::init_recipe({.folder = folder,
                                .out = out,
                                .asked = train::recipe_from_value(known, "settings").data,
                                .limits = {.on_step = throw_if_interrupted}});
    if (!out.empty()) io::write_file_atomically(out, result.text);
    table = task::to_value(result, out);
    table.set("text", result.text);
  }
  return to_python(table);
}

}  // namespace

void add_training(nb::module_& module) {
  module.def("recipes", [] { return to_python(task::to_value(task::built_in_recipes())); });
  module.def("recipe_text", [](const fs::path& recipe) { return task::recipe_text(recipe).toml; });
  module.def("recipe_table", [](const std::string& recipe) { return to_python(recipe_table(recipe)); });
  module.def("init", &init, nb::arg(), nb::arg(), nb::arg());
  module.def("models", [] { return to_python(task::to_value(task::built_in_models())); });
  module.def("train", &train_run, nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg());
}

}  // namespace roentgen::python
