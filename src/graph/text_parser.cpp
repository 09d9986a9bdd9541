// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Parser of graph text, one statement a line. The text is untrusted: every size is bounded before shape inference reads
// it, so that no size can overflow. Every error names file and line.
#include <algorithm>
#include <optional>
#include <type_traits>
#include <unordered_map>

#include "core/error_parts.h"
#include "graph/builder.h"
#include "graph/text.h"
#include "graph/text_attributes.h"
#include "graph/text_cursor.h"

namespace roentgen::graph {
namespace {
/// Largest number of elements in a value: far more than any machine can store, but byte counts cannot overflow.
constexpr double kMaxElements = 0x1p40;
/// Bound for the product of input elements and attributes. No product in shape inference can be larger.
constexpr double kMaxWork = 0x1p62;
constexpr std::string_view kRemedy = "correcting the line; roentgen inspect --model resnet18 --print shows valid lines";

Op make_op(std::string_view name) {
  std::string known;
#define RG_MAKE_OP(Kind)                       \
  if (name == Kind::kInfo.name) return Kind{}; \
  known += (known.empty() ? "" : ", ") + std::string(Kind::kInfo.name);
  RG_OP_LIST(RG_MAKE_OP)
#undef RG_MAKE_OP
  refuse("one of the ops " + known, shown(name));
}

double element_count(const Shape& shape) {
  double count = 1.0;
  for (const std::int64_t dim : shape.dims()) count *= static_cast<double>(dim);
  return count;
}

class Parser {
 public:
  explicit Parser(const Symbols& symbols) : symbols_(symbols) {}

  void line(std::string_view text) {
    Cursor cursor(text);
    if (cursor.at_end()) return;
    const std::string_view first = cursor.word("a statement");
    if (!builder_) {
      if (first != "graph") refuse("graph \"NAME\" as the first statement", shown(first));
      builder_.emplace(cursor.quoted());
      cursor.expect_end();
    } else if (cursor.accept('=')) {
      op(cursor, first);
    } else if (first == "input") {
      input(cursor);
    } else if (first == "output") {
      output(cursor);
    } else {
      refuse("input, output or NAME = OP(...)", shown(text));
    }
  }
  Graph finish() && {
    if (!builder_) refuse("graph \"NAME\"", "no statement");
    return std::move(*builder_).build();
  }

 private:
  void input(Cursor& cursor) {
    const std::string_view name = cursor.word("a name");
    cursor.expect('(');
    std::vector<std::int64_t> dims;
    do {
      dims.push_back(parse_integer(cursor.value(), "a dimension", symbols_));
    } while (cursor.accept(','));
    cursor.expect(')');
    cursor.expect_end();
    const Shape shape(std::move(dims));
    check_elements(element_count(shape));
    ids_[std::string(name)] = builder_->input(std::string(name), shape);
  }

  void output(Cursor& cursor) {
    const std::string_view name = cursor.word("a name");
    cursor.expect('=');
    const NodeId id = value(cursor.word("a value"));
    cursor.expect_end();
    builder_->output(std::string(name), id);
  }

  void op(Cursor& cursor, std::string_view name) {
    Op op = make_op(cursor.word("an op"));
    cursor.expect('(');
    std::vector<NodeId> inputs;
    std::unordered_map<std::string_view, std::string_view> attributes;
    while (!cursor.at(')')) {
      const std::string_view word = cursor.word("an input or an attribute");
      if (!cursor.accept('=')) {
        if (!attributes.empty()) refuse("inputs before attributes", shown(word));
        inputs.push_back(value(word));
      } else if (!attributes.emplace(word, cursor.value()).second) {
        refuse("each attribute once", shown(word) + " again");
      }
      if (!cursor.at(')')) cursor.expect(',');
    }
    cursor.expect(')');
    cursor.expect_end();
    AttributeReader reader(std::move(attributes), symbols_);
    std::visit(
        [&](auto& alternative) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(alternative)>, Input>) alternative.visit(reader);
        },
        op);
    reader.expect_all_used();
    double work = reader.work();
    if (!inputs.empty()) work *= element_count(builder_->shape(inputs.front()));
    if (work > kMaxWork) refuse("sizes whose product stays below 2^62", "a larger product");
    const NodeId id = builder_->add(std::string(name), std::move(op), inputs);
    check_elements(element_count(builder_->shape(id)));
    ids_[std::string(name)] = id;
  }

  [[nodiscard]] NodeId value(std::string_view name) const {
    const auto found = ids_.find(std::string(name));
    if (found == ids_.end()) refuse("the name of a value on a line above", shown(name));
    return found->second;
  }
  static void check_elements(double count) {
    if (count > kMaxElements) refuse("a tensor of at most 2^40 elements", "a larger tensor");
  }

  const Symbols& symbols_;
  std::optional<Builder> builder_;
  std::unordered_map<std::string, NodeId> ids_;
};

/// Removes the comment from a line. A '#' inside double quotes does not start a comment.
std::string_view without_comment(std::string_view line) {
  bool is_quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (is_quoted && line[i] == '\\') {
      ++i;
    } else if (line[i] == '"') {
      is_quoted = !is_quoted;
    } else if (line[i] == '#' && !is_quoted) {
      return line.substr(0, i);
    }
  }
  return line;
}

/// Adds the file and line to an error message: "[graph.conv2d] conv1: expected ..." becomes "[graph.text] FILE line N:
/// conv2d conv1: expected ...".
Failure refused_at(const std::string& place, std::string_view message) {
  const ErrorParts parts = error_parts(message);
  const std::string op = parts.thing.substr(parts.thing.find('.') + 1);
  return failure("graph.text", place + ": " + op + " " + parts.what, parts.expected, parts.got,
                 parts.remedy.empty() ? kRemedy : parts.remedy);
}
}  // namespace

Result<Graph> parse_graph(std::string_view text, std::string_view what, const Symbols& symbols) {
  Parser parser(symbols);
  std::int64_t number = 0;
  const auto place = [&] { return std::string(what) + " line " + std::to_string(number); };
  try {
    while (!text.empty()) {
      ++number;
      const std::size_t end = text.find('\n');
      parser.line(trimmed(without_comment(text.substr(0, end))));
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    number = std::max<std::int64_t>(number, 1);
    return std::move(parser).finish();
  } catch (const Refusal& refusal) {
    return failure("graph.text", place(), refusal.expected, refusal.got, kRemedy);
  } catch (const Error& error) {
    return refused_at(place(), error.what());
  }
}

}  // namespace roentgen::graph
