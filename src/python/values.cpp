// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "python/values.h"

#include <nanobind/stl/string.h>

#include <cstdint>
#include <string>

#include "core/error.h"

namespace nb = nanobind;

namespace roentgen::python {
namespace {

bool is_path(nb::handle object) { return nb::hasattr(object, "__fspath__"); }

std::string text_of(nb::handle object) { return nb::cast<std::string>(nb::str(object)); }

}  // namespace

nb::object to_python(const Value& value) {
  if (value.is_bool()) return nb::bool_(value.as_bool());
  if (value.is_integer()) return nb::int_(value.as_integer());
  if (value.is_double()) return nb::float_(value.as_double());
  if (value.is_string()) return nb::str(value.as_string().data(), value.as_string().size());
  if (value.is_array()) {
    nb::list list;
    for (const Value& item : value.as_array()) list.append(to_python(item));
    return list;
  }
  if (value.is_table()) {
    nb::dict dict;
    for (const auto& [key, item] : value.as_table()) dict[nb::str(key.data(), key.size())] = to_python(item);
    return dict;
  }
  return nb::none();
}

Value from_python(nb::handle object, const char* what) {
  if (object.is_none()) return {};
  if (nb::isinstance<nb::bool_>(object)) return nb::cast<bool>(object);
  if (nb::isinstance<nb::int_>(object)) {
    std::int64_t number = 0;
    if (nb::try_cast(object, number)) return number;
    throw ConfigError(error_text("python.values", what, "a 64-bit number", "a larger number", "a smaller number"));
  }
  if (nb::isinstance<nb::float_>(object)) return nb::cast<double>(object);
  if (nb::isinstance<nb::str>(object) || is_path(object)) return text_of(object);
  if (nb::isinstance<nb::dict>(object)) {
    Value table = Value::table();
    for (const auto& [key, item] : nb::borrow<nb::dict>(object)) {
      if (!nb::isinstance<nb::str>(key)) {
        throw ConfigError(error_text("python.values", what, "keys of type str", text_of(key), "a string as key"));
      }
      const std::string name = text_of(key);
      table.set(name, from_python(item, name.c_str()));
    }
    return table;
  }
  if (nb::isinstance<nb::list>(object) || nb::isinstance<nb::tuple>(object)) {
    Value array = Value::array();
    for (const nb::handle item : object) array.push_back(from_python(item, what));
    return array;
  }
  if (nb::hasattr(object, "item")) return from_python(object.attr("item")(), what);  // a numpy number
  throw ConfigError(error_text("python.values", what, "a number, string, list or dict",
                               text_of(object.type().attr("__name__")), "a value of one of these types"));
}

}  // namespace roentgen::python
