// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Opcodes are documented in CPython's Lib/pickletools.py.
#include "io/pickle.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_map>
#include <utility>

#include "io/pickle_bytes.h"

namespace roentgen::io {
namespace {

constexpr std::size_t kMostNodes = 1'000'000;

// Interprets opcodes. After the first failure every method returns a harmless value, and run() ends.
class Interpreter {
 public:
  Interpreter(std::span<const std::byte> bytes, std::string_view what, std::span<const std::string_view> calls)
      : bytes_(bytes), what_(what), calls_(calls) {
    add({});
  }

  Result<Pickle> run() && {
    while (!failure_ && !is_done_) step();
    if (failure_) return *std::move(failure_);
    pickle_.size_bytes = bytes_.position();
    return std::move(pickle_);
  }

 private:
  void step() {
    const char op = bytes_.take(1)[0];
    if (!bytes_.is_cut()) interpret(op);
    if (bytes_.is_cut()) fail("a complete pickle", "a truncated pickle");
  }

  void interpret(char op) {
    if (read_number(op) || read_text(op) || make_container(op) || fill_container(op) || use_memo(op) ||
        make_object(op)) {
      return;
    }
    switch (op) {
      case '\x80':  // PROTO
        static_cast<void>(bytes_.take(1));
        return;
      case '\x95':  // FRAME
        static_cast<void>(bytes_.take(8));
        return;
      case '.':  // STOP
        pickle_.root = pop();
        is_done_ = true;
        return;
      default:
        fail("a pickle that contains only data", fmt::format("opcode 0x{:02x}", static_cast<unsigned char>(op)));
    }
  }

  bool read_number(char op) {
    switch (op) {
      case 'N':  // NONE
        push({});
        return true;
      case '\x88':  // NEWTRUE
      case '\x89':  // NEWFALSE
        push({.kind = PickleKind::Bool, .integer = op == '\x88'});
        return true;
      case 'J':  // BININT
        push({.kind = PickleKind::Integer, .integer = bytes_.number<std::int32_t>()});
        return true;
      case 'K':  // BININT1
        push({.kind = PickleKind::Integer, .integer = bytes_.number<std::uint8_t>()});
        return true;
      case 'M':  // BININT2
        push({.kind = PickleKind::Integer, .integer = bytes_.number<std::uint16_t>()});
        return true;
      case '\x8a':  // LONG1
        push_long(bytes_.take(bytes_.number<std::uint8_t>()));
        return true;
      case '\x8b':  // LONG4
        push_long(bytes_.take(bytes_.number<std::uint32_t>()));
        return true;
      case 'G':  // BINFLOAT
        static_cast<void>(bytes_.take(8));
        push({.kind = PickleKind::Float});
        return true;
      default:
        return false;
    }
  }

  bool read_text(char op) {
    const bool is_bytes = op == 'B' || op == 'C' || op == '\x8e' || op == '\x96';
    std::uint64_t size = 0;
    switch (op) {
      case '\x8c':  // SHORT_BINUNICODE
      case 'C':     // SHORT_BINBYTES
      case 'U':     // SHORT_BINSTRING: text of Python 2
        size = bytes_.number<std::uint8_t>();
        break;
      case 'X':  // BINUNICODE
      case 'B':  // BINBYTES
      case 'T':  // BINSTRING
        size = bytes_.number<std::uint32_t>();
        break;
      case '\x8d':  // BINUNICODE8
      case '\x8e':  // BINBYTES8
      case '\x96':  // BYTEARRAY8
        size = bytes_.number<std::uint64_t>();
        break;
      default:
        return false;
    }
    push({.kind = is_bytes ? PickleKind::Bytes : PickleKind::Text, .text = std::string(bytes_.take(size))});
    return true;
  }

  bool make_container(char op) {
    switch (op) {
      case ']':  // EMPTY_LIST
        push({.kind = PickleKind::List});
        return true;
      case '}':  // EMPTY_DICT
        push({.kind = PickleKind::Dict});
        return true;
      case ')':  // EMPTY_TUPLE
        push({.kind = PickleKind::Tuple});
        return true;
      case '\x8f':  // EMPTY_SET
        push({.kind = PickleKind::Set});
        return true;
      case 'l':  // LIST
        push({.kind = PickleKind::List, .items = pop_mark()});
        return true;
      case 'd':  // DICT
        push({.kind = PickleKind::Dict, .items = pairs(pop_mark())});
        return true;
      case 't':  // TUPLE
        push({.kind = PickleKind::Tuple, .items = pop_mark()});
        return true;
      case '\x91':  // FROZENSET
        push({.kind = PickleKind::Set, .items = pop_mark()});
        return true;
      case '\x85':  // TUPLE1
      case '\x86':  // TUPLE2
      case '\x87':  // TUPLE3
        push({.kind = PickleKind::Tuple, .items = pop_several(static_cast<std::size_t>(op - '\x84'))});
        return true;
      default:
        return false;
    }
  }

  bool fill_container(char op) {
    switch (op) {
      case '(':  // MARK
        marks_.push_back(stack_.size());
        return true;
      case '0':  // POP
        static_cast<void>(pop());
        return true;
      case '1':  // POP_MARK
        static_cast<void>(pop_mark());
        return true;
      case '2': {  // DUP
        const PickleId top = pop();
        stack_.push_back(top);
        stack_.push_back(top);
        return true;
      }
      case 'a':  // APPEND
        append(PickleKind::List, pop_several(1));
        return true;
      case 'e':  // APPENDS
        append(PickleKind::List, pop_mark());
        return true;
      case '\x90':  // ADDITEMS
        append(PickleKind::Set, pop_mark());
        return true;
      case 's':  // SETITEM
        set_items(pop_several(2));
        return true;
      case 'u':  // SETITEMS
        set_items(pairs(pop_mark()));
        return true;
      default:
        return false;
    }
  }

  bool use_memo(char op) {
    switch (op) {
      case 'q':  // BINPUT
        memo_[bytes_.number<std::uint8_t>()] = top();
        return true;
      case 'r':  // LONG_BINPUT
        memo_[bytes_.number<std::uint32_t>()] = top();
        return true;
      case '\x94': {  // MEMOIZE
        const auto next = static_cast<std::uint32_t>(memo_.size());
        memo_[next] = top();
        return true;
      }
      case 'h':  // BINGET
        push_memo(bytes_.number<std::uint8_t>());
        return true;
      case 'j':  // LONG_BINGET
        push_memo(bytes_.number<std::uint32_t>());
        return true;
      default:
        return false;
    }
  }

  bool make_object(char op) {
    switch (op) {
      case 'c': {  // GLOBAL
        const std::string_view module = bytes_.line();
        push_global(module, bytes_.line());
        return true;
      }
      case '\x93': {  // STACK_GLOBAL
        const auto names = pop_several(2);
        push_global(node(names[0]).text, node(names[1]).text);
        return true;
      }
      case 'R':  // REDUCE
        call(pop_several(2));
        return true;
      case '\x81':  // NEWOBJ
        make_instance(pop_several(2));
        return true;
      case '\x92':  // NEWOBJ_EX
        make_instance(pop_several(3));
        return true;
      case 'b': {  // BUILD
        const PickleId state = pop();
        PickleNode& object = node(top());
        if (!is_opaque(object)) return fail("an object", "attributes for " + pickle_text(pickle_, top()));
        object.state = state;
        return true;
      }
      case 'Q':  // BINPERSID
        push({.kind = PickleKind::Persistent, .items = pop_several(1)});
        return true;
      default:
        return false;
    }
  }

  static bool is_opaque(const PickleNode& node) {
    return node.kind == PickleKind::Call || node.kind == PickleKind::Object;
  }

  void push_global(std::string_view module, std::string_view name) {
    push({.kind = PickleKind::Global, .text = std::string(module).append(".").append(name)});
  }

  void call(std::vector<PickleId> function_and_arguments) {
    const PickleNode& function = node(function_and_arguments[0]);
    if (function.kind != PickleKind::Global || std::ranges::find(calls_, function.text) == calls_.end()) {
      fail("only tensors", "a call of " + pickle_text(pickle_, function_and_arguments[0]));
    } else if (node(function_and_arguments[1]).kind != PickleKind::Tuple) {
      fail("a tuple of arguments for " + function.text, "something else");
    } else {
      push({.kind = PickleKind::Call, .items = std::move(function_and_arguments)});
    }
  }

  void make_instance(std::vector<PickleId> class_and_arguments) {
    const PickleKind kind = node(class_and_arguments[0]).kind;
    const bool is_class = kind == PickleKind::Global || kind == PickleKind::Persistent;
    if (!is_class) fail("a class", pickle_text(pickle_, class_and_arguments[0]));
    push({.kind = PickleKind::Object, .items = std::move(class_and_arguments)});
  }

  // Appends elements to a container. Elements of an object that acts as a list are dropped.
  void append(PickleKind kind, const std::vector<PickleId>& elements) {
    PickleNode& container = node(top());
    if (container.kind == kind) {
      container.items.insert(container.items.end(), elements.begin(), elements.end());
    } else if (!is_opaque(container)) {
      fail("a container", pickle_text(pickle_, top()));
    }
  }

  void set_items(const std::vector<PickleId>& items) {
    PickleNode& container = node(top());
    if (container.kind != PickleKind::Dict && !is_opaque(container)) fail("a dict", pickle_text(pickle_, top()));
    auto& target = container.kind == PickleKind::Dict ? container.items : container.entries;
    target.insert(target.end(), items.begin(), items.end());
  }

  std::vector<PickleId> pairs(std::vector<PickleId> items) {
    if (items.size() % 2 != 0) fail("a value for each key", "a key without a value");
    return items;
  }

  void push_long(std::string_view digits) {
    std::uint64_t bits = !digits.empty() && static_cast<signed char>(digits.back()) < 0 ? ~std::uint64_t{0} : 0;
    if (digits.size() > sizeof bits) {
      push({.kind = PickleKind::Integer, .text = std::string(digits)});
      return;
    }
    std::memcpy(&bits, digits.data(), digits.size());
    push({.kind = PickleKind::Integer, .integer = static_cast<std::int64_t>(bits)});
  }

  void push_memo(std::uint32_t number) {
    const auto found = memo_.find(number);
    if (found == memo_.end()) {
      fail("a value that was stored before", fmt::format("number {}, which was not stored", number));
    } else {
      stack_.push_back(found->second);
    }
  }

  PickleId add(PickleNode node) {
    if (pickle_.nodes.size() >= kMostNodes) {
      fail(fmt::format("at most {} values", kMostNodes), "more");
      return 0;
    }
    pickle_.nodes.push_back(std::move(node));
    return static_cast<PickleId>(pickle_.nodes.size() - 1);
  }

  void push(PickleNode node) {
    if (!failure_) stack_.push_back(add(std::move(node)));
  }

  [[nodiscard]] PickleNode& node(PickleId id) { return pickle_.nodes[id]; }
  [[nodiscard]] std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }

  // Returns the top of the stack, or node 0 after a failure.
  PickleId top() {
    if (stack_.size() > floor()) return stack_.back();
    fail("a value on the stack", "none");
    return 0;
  }

  PickleId pop() {
    const PickleId id = top();
    if (!failure_) stack_.pop_back();
    return id;
  }

  std::vector<PickleId> pop_several(std::size_t count) {
    std::vector<PickleId> ids(count);
    for (std::size_t i = count; i > 0; --i) ids[i - 1] = pop();
    return ids;
  }

  std::vector<PickleId> pop_mark() {
    if (marks_.empty()) {
      fail("a mark on the stack", "none");
      return {};
    }
    const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<PickleId> ids(begin, stack_.end());
    stack_.erase(begin, stack_.end());
    marks_.pop_back();
    return ids;
  }

  bool fail(std::string_view expected, std::string_view got) {
    if (!failure_) {
      failure_ = failure("io.pickle", fmt::format("{}, byte {} of the pickle", what_, bytes_.position()), expected, got,
                         "saving only the weights with torch.save(model.state_dict(), FILE)");
    }
    return true;
  }

  PickleBytes bytes_;
  const std::string_view what_;
  const std::span<const std::string_view> calls_;
  bool is_done_ = false;
  std::optional<Failure> failure_;
  Pickle pickle_;
  std::vector<PickleId> stack_;
  std::vector<std::size_t> marks_;  // sizes of the stack at the marks
  std::unordered_map<std::uint32_t, PickleId> memo_;
};

}  // namespace

Result<Pickle> parse_pickle(std::span<const std::byte> bytes, std::string_view what,
                            std::span<const std::string_view> calls) {
  return Interpreter(bytes, what, calls).run();
}

}  // namespace roentgen::io
