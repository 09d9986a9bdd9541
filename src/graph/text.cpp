// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Prints graphs as text; text_parser.cpp parses them.
#include "graph/text.h"

#include <array>
#include <charconv>
#include <type_traits>

#include "core/error.h"

namespace roentgen::graph {
namespace {
/// Returns the shortest text that parses to the same double.
std::string number_text(double value) {
  std::array<char, 32> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  RG_ASSERT(error == std::errc{});
  return {buffer.data(), end};
}

std::string extent_text(const Extent& extent) {
  return std::to_string(extent.height) + "x" + std::to_string(extent.width);
}

std::string init_text(const Init& init) {
  switch (init.kind) {
    case Init::Kind::Constant:
      return "constant:" + number_text(init.value);
    case Init::Kind::Normal:
      return "normal:" + number_text(init.value);
    case Init::Kind::NormalFanOut:
      return "he_fan_out";
    case Init::Kind::NormalFanIn:
      return "he_fan_in";
    case Init::Kind::UniformFanIn:
      return init.fan_in == 0 ? "uniform_fan_in" : "uniform_fan_in:" + std::to_string(init.fan_in);
  }
  RG_ASSERT(!"a known kind of init");
  return {};
}

/// Prints ", name=value" for every attribute that differs from its default.
class Printer final : public AttributeVisitor {
 public:
  [[nodiscard]] const std::string& text() const { return text_; }

  void integer(std::string_view name, std::int64_t& value, std::int64_t default_value) override {
    if (value != default_value) print(name, std::to_string(value));
  }
  void number(std::string_view name, double& value, double default_value) override {
    if (value != default_value) print(name, number_text(value));
  }
  void flag(std::string_view name, bool& value, bool default_value) override {
    if (value != default_value) print(name, value ? "yes" : "no");
  }
  void extent(std::string_view name, Extent& value, Extent default_value) override {
    if (value != default_value) print(name, extent_text(value));
  }
  void init(std::string_view name, Init& value, const Init& default_value) override {
    if (value != default_value) print(name, init_text(value));
  }
  void numbers(std::string_view name, std::vector<double>& value) override {
    if (value.empty()) return;
    std::string list;
    for (const double item : value) list += (list.empty() ? "" : ", ") + number_text(item);
    print(name, "[" + list + "]");
  }
  void word(std::string_view name, int& value, int default_value, const std::vector<std::string_view>& words) override {
    if (value != default_value) print(name, words.at(static_cast<std::size_t>(value)));
  }

 private:
  void print(std::string_view name, std::string_view value) {
    text_.append(", ").append(name).append("=").append(value);
  }

  std::string text_;
};

std::string quoted(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) {
    if (c == '\n') {
      text += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"";
}

std::string input_text(const Node& node, std::string_view batch) {
  std::string dims;
  for (int axis = 0; axis < node.shape.rank(); ++axis) {
    if (axis > 0) dims += ", ";
    dims += axis == 0 && !batch.empty() ? std::string(batch) : std::to_string(node.shape[axis]);
  }
  return "input " + node.name + " (" + dims + ")\n";
}

std::string op_text(const Graph& graph, const Node& node) {
  std::string text = node.name + " = " + std::string(op_name(node.op)) + "(";
  for (std::size_t i = 0; i < node.inputs.size(); ++i) text += (i > 0 ? ", " : "") + graph.node(node.inputs[i]).name;
  Printer printer;
  Op op = node.op;  // visit() takes a variable, since the parser also writes through it
  std::visit(
      [&](auto& alternative) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(alternative)>, Input>) alternative.visit(printer);
      },
      op);
  return text + printer.text() + ")\n";
}

/// Prints a graph. If `batch` is not empty, it replaces the first dimension of the inputs.
std::string print(const Graph& graph, std::string_view batch) {
  std::string text = "graph " + quoted(graph.name()) + "\n";
  for (const Node& node : graph.nodes()) text += node.is_input() ? input_text(node, batch) : op_text(graph, node);
  for (const auto& [name, id] : graph.outputs()) text += "output " + name + " = " + graph.node(id).name + "\n";
  return text;
}
}  // namespace

std::string print_graph(const Graph& graph) { return print(graph, ""); }
std::string print_graph_any_batch(const Graph& graph) { return print(graph, "N"); }

}  // namespace roentgen::graph
