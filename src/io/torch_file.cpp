// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/torch_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "io/file.h"
#include "io/floats.h"
#include "io/map_guard.h"
#include "io/text.h"
#include "io/torch_container.h"

namespace roentgen::io {
namespace {

using namespace std::string_view_literals;

constexpr std::int64_t kMostPerByte = 4;
constexpr int kMostDepth = 64;
constexpr std::size_t kMostTensors = 100'000, kMostRank = 32, kMostVisits = 1'000'000;

// Pairs of a key and a value of a dict.
using Entries = std::vector<std::pair<PickleId, PickleId>>;

/// Part of a storage that a tensor covers.
struct View {
  std::span<const std::byte> bytes;  // bytes of the storage, beginning with its first element
  DType dtype = DType::F32;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;  // in elements
};

// Copies a tensor's values in row-major order.
std::vector<float> gather(const View& view, std::size_t elements) {
  const std::size_t size_bytes = size_of(view.dtype);
  std::vector<std::byte> packed(elements * size_bytes);
  std::vector<std::int64_t> index(view.sizes.size());
  std::int64_t at = 0;
  for (std::size_t i = 0; i < elements; ++i) {
    std::memcpy(packed.data() + i * size_bytes, view.bytes.data() + static_cast<std::size_t>(at) * size_bytes,
                size_bytes);
    for (std::size_t axis = index.size(); axis > 0; --axis) {
      at += view.strides[axis - 1];
      if (++index[axis - 1] < view.sizes[axis - 1]) break;
      at -= view.strides[axis - 1] * view.sizes[axis - 1];
      index[axis - 1] = 0;
    }
  }
  return to_floats(packed, view.dtype);
}

bool is_row_major(const View& view) {
  std::int64_t stride = 1;
  for (std::size_t axis = view.sizes.size(); axis > 0; --axis) {
    if (view.sizes[axis - 1] != 1 && view.strides[axis - 1] != stride) return false;
    stride *= view.sizes[axis - 1];
  }
  return true;
}

std::vector<float> values_of(const View& view, std::size_t elements) {
  if (elements == 0) return {};
  if (!is_row_major(view)) return gather(view, elements);
  return to_floats(view.bytes.first(elements * size_of(view.dtype)), view.dtype);
}

// Number of elements, and index in the storage of the last one. Returns nullopt for sizes that overflow or are
// negative.
std::optional<std::pair<std::int64_t, std::int64_t>> extent_of(const View& view) {
  std::int64_t elements = 1, last = 0;
  for (std::size_t axis = 0; axis < view.sizes.size(); ++axis) {
    const std::int64_t size = view.sizes[axis];
    std::int64_t reach = 0;
    if (size < 0 || view.strides[axis] < 0 || __builtin_mul_overflow(elements, size, &elements) ||
        __builtin_mul_overflow(view.strides[axis], std::max<std::int64_t>(size - 1, 0), &reach) ||
        __builtin_add_overflow(last, reach, &last)) {
      return {};
    }
  }
  return std::pair(elements, last);
}

/// Collects the tensors. After the first failure it adds nothing more.
class Reader {
 public:
  Reader(const torch::Container& container, std::string_view what, std::size_t file_bytes)
      : pickle_(container.pickle),
        storages_(container.storages),
        what_(what),
        elements_left_(static_cast<std::int64_t>(file_bytes) * kMostPerByte) {}

  Result<TorchFile> read() && {
    const PickleId root = weights_root();
    if (const auto modules = attributes(root)) {
      const PickleNode& callee = pickle_[pickle_[root].items[0]];
      file_.class_name = class_name(callee);
      add_lists(*modules);
      add_module("", root, 0);
    } else if (const auto entries = entries_of(root)) {
      for (const auto& [key, value] : *entries) add_tensor(pickle_[key].text, value);
    } else {
      fail("", "a dict of tensors, or a model", pickle_text(pickle_, root));
    }
    if (failure_) return *std::move(failure_);
    if (file_.tensors.empty()) return failure("io.torch", what_, "tensors", "none", torch::kRemedy);
    return std::move(file_);
  }

 private:
  // Finds the dict with the weights, because files of training scripts also contain other things.
  [[nodiscard]] PickleId weights_root() const {
    const auto entries = entries_of(pickle_.root);
    if (!entries) return pickle_.root;
    for (const std::string_view key : {"state_dict"sv, "model"sv}) {
      const PickleId found = find(*entries, key);
      if (found != kNoPickle && (entries_of(found) || attributes(found))) return found;
    }
    return pickle_.root;
  }

  [[nodiscard]] std::optional<Entries> entries_of(PickleId id) const {
    const PickleNode& node = pickle_[id];
    Entries entries;
    const auto add_pairs = [&](const std::vector<PickleId>& items) {
      for (std::size_t i = 0; i + 1 < items.size(); i += 2) entries.emplace_back(items[i], items[i + 1]);
    };
    if (node.kind == PickleKind::Dict) {
      add_pairs(node.items);
    } else if (is_call(node, "collections.OrderedDict")) {
      const std::vector<PickleId>& arguments = pickle_[node.items[1]].items;
      if (!arguments.empty()) {  // Python 2 wrote a list of pairs
        for (const PickleId pair : pickle_[arguments[0]].items) add_pairs(pickle_[pair].items);
      }
      add_pairs(node.entries);
    } else {
      return {};
    }
    return entries;
  }

  // Attributes of a torch.nn.Module; nullopt for other values.
  [[nodiscard]] std::optional<Entries> attributes(PickleId id) const {
    const PickleNode& node = pickle_[id];
    if (node.state == kNoPickle) return {};
    auto entries = entries_of(node.state);
    if (!entries || find(*entries, "_parameters") == kNoPickle || find(*entries, "_modules") == kNoPickle) return {};
    return entries;
  }

  [[nodiscard]] PickleId find(const Entries& entries, std::string_view key) const {
    const auto found =
        std::ranges::find_if(entries, [&](const auto& entry) { return pickle_[entry.first].text == key; });
    return found == entries.end() ? kNoPickle : found->second;
  }

  [[nodiscard]] bool is_call(const PickleNode& node, std::string_view function) const {
    return node.kind == PickleKind::Call && pickle_[node.items[0]].text == function;
  }

  // Name of a class. Files from before PyTorch 1.6 store it together with its source text.
  [[nodiscard]] std::string class_name(const PickleNode& callee) const {
    if (callee.kind != PickleKind::Persistent) return callee.text;
    const auto& parts = pickle_[callee.items[0]].items;
    return parts.size() > 1 ? pickle_[parts[1]].text : "";
  }

  void add_lists(const Entries& attributes) {
    for (const auto& [key, value] : attributes) {
      const PickleNode& node = pickle_[value];
      const auto is_text = [&](PickleId id) { return pickle_[id].kind == PickleKind::Text; };
      if (node.kind != PickleKind::List || !std::ranges::all_of(node.items, is_text)) continue;
      for (const PickleId text : node.items) file_.lists[pickle_[key].text].push_back(pickle_[text].text);
    }
  }

  void add_module(const std::string& prefix, PickleId id, int depth) {
    const auto members = attributes(id);
    if (failure_ || !members) return;
    visits_ += members->size();
    if (depth > kMostDepth || visits_ > kMostVisits) {
      return fail(prefix, "a tree of modules", "a cycle, or more than a million attributes");
    }
    const std::vector<std::string> passing = texts_of(find(*members, "_non_persistent_buffers_set"));
    for (const std::string_view kind : {"_parameters"sv, "_buffers"sv}) {
      const PickleId found = find(*members, kind);
      const auto tensors = found == kNoPickle ? std::nullopt : entries_of(found);
      for (const auto& [key, value] : tensors.value_or(Entries())) {
        ++visits_;
        const std::string& name = pickle_[key].text;
        if (pickle_[value].kind != PickleKind::None && std::ranges::find(passing, name) == passing.end()) {
          add_tensor(prefix + name, value);
        }
      }
    }
    for (const auto& [key, value] : entries_of(find(*members, "_modules")).value_or(Entries())) {
      add_module(prefix + pickle_[key].text + ".", value, depth + 1);
    }
  }

  // Texts in a list or set.
  [[nodiscard]] std::vector<std::string> texts_of(PickleId id) const {
    if (id == kNoPickle) return {};
    const PickleNode* node = &pickle_[id];
    if (is_call(*node, "__builtin__.set") || is_call(*node, "builtins.set")) {
      const auto& arguments = pickle_[node->items[1]].items;
      if (arguments.empty()) return {};
      node = &pickle_[arguments[0]];
    }
    std::vector<std::string> texts;
    for (const PickleId text : node->items) texts.push_back(pickle_[text].text);
    return texts;
  }

  void add_tensor(const std::string& name, PickleId id) {
    if (failure_) return;
    const PickleNode* node = &pickle_[id];
    if (is_call(*node, "torch._utils._rebuild_parameter") ||
        is_call(*node, "torch._utils._rebuild_parameter_with_state")) {
      const auto& arguments = pickle_[node->items[1]].items;
      if (!arguments.empty()) node = &pickle_[arguments[0]];
    }
    const bool is_tensor =
        is_call(*node, "torch._utils._rebuild_tensor_v2") || is_call(*node, "torch._utils._rebuild_tensor");
    const std::vector<PickleId>* arguments = is_tensor ? &pickle_[node->items[1]].items : nullptr;
    if (arguments == nullptr || arguments->size() < 4) return fail(name, "only tensors", pickle_text(pickle_, id));
    if (file_.tensors.size() >= kMostTensors)
      return fail(name, fmt::format("at most {} tensors", kMostTensors), "more");
    add_view(name, *arguments);
  }

  // Adds a tensor. `arguments`: storage, offset, sizes, strides.
  void add_view(const std::string& name, const std::vector<PickleId>& arguments) {
    const auto storage = torch::storage_id(pickle_, arguments[0]);
    if (!storage) return fail(name, "a tensor with a storage", pickle_text(pickle_, arguments[0]));
    const auto type = torch::element_type(storage->type);
    if (!type) return fail(name, "f32, f64, f16, bf16 or integers", storage->type);
    if (!type->dtype) return;
    const auto data = storages_.find(storage->key);
    const auto bytes = data == storages_.end() ? std::span<const std::byte>() : data->second;
    const auto elements = static_cast<std::int64_t>(bytes.size() / type->size_bytes);
    if (storage->elements != elements || bytes.size() % type->size_bytes != 0) {
      return fail(name, fmt::format("a storage of {} elements", storage->elements),
                  fmt::format("{} bytes", bytes.size()));
    }
    View view{
        .bytes = bytes, .dtype = *type->dtype, .sizes = integers(arguments[2]), .strides = integers(arguments[3])};
    const PickleNode& offset = pickle_[arguments[1]];
    if (offset.kind != PickleKind::Integer || view.sizes.size() != view.strides.size() ||
        view.sizes.size() > kMostRank) {
      return fail(name, "an offset and as many strides as sizes", "something else");
    }
    const auto extent = extent_of(view);
    const bool is_inside = extent && offset.integer >= 0 && offset.integer <= elements &&
                           (extent->first == 0 || extent->second < elements - offset.integer);
    if (!is_inside) {
      return fail(name, fmt::format("a tensor inside its storage of {} elements", elements),
                  Shape(view.sizes).text() + " beyond its end");
    }
    elements_left_ -= extent->first;
    if (elements_left_ < 0)
      return fail(name, "tensors that together fit the file size", "tensors that use the same data many times");
    view.bytes = view.bytes.subspan(static_cast<std::size_t>(offset.integer) * type->size_bytes);
    file_.tensors.push_back(
        {.name = name, .shape = Shape(view.sizes), .values = values_of(view, static_cast<std::size_t>(extent->first))});
  }

  // Integers in a tuple or torch.Size. Other values become -1, which is invalid as a size and as a stride.
  [[nodiscard]] std::vector<std::int64_t> integers(PickleId id) const {
    const PickleNode* node = &pickle_[id];
    if (is_call(*node, "torch.Size")) {
      const auto& arguments = pickle_[node->items[1]].items;
      if (!arguments.empty()) node = &pickle_[arguments[0]];
    }
    std::vector<std::int64_t> integers;
    for (const PickleId item : node->items) {
      const PickleNode& number = pickle_[item];
      integers.push_back(number.kind == PickleKind::Integer && number.text.empty() ? number.integer : -1);
    }
    return integers;
  }

  void fail(std::string_view name, std::string_view expected, std::string_view got) {
    constexpr std::size_t kShown = 100;
    if (failure_) return;
    const std::string place =
        name.empty() ? std::string(what_) : fmt::format("{}, {}", what_, quote_string(name.substr(0, kShown)));
    failure_ = failure("io.torch", place, expected, got, torch::kRemedy);
  }

  const Pickle& pickle_;
  const std::unordered_map<std::string, std::span<const std::byte>>& storages_;
  const std::string_view what_;
  std::int64_t elements_left_;
  std::size_t visits_ = 0;  // number of attributes and tensors of modules so far
  std::optional<Failure> failure_;
  TorchFile file_;
};

}  // namespace

bool is_torch_file(std::span<const std::byte> bytes) {
  constexpr std::size_t kHead_bytes = 512, kMostBeforeMagic = 16;
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), kHead_bytes));
  if (head.starts_with("PK\x03\x04"sv)) return head.find(".npy") == std::string_view::npos;
  return head.starts_with('\x80') && head.find(torch::kLegacyMagic) <= kMostBeforeMagic;
}

Result<TorchFile> parse_torch_file(std::span<const std::byte> bytes, std::string_view what) {
  const auto container = torch::open_container(bytes, what);
  if (!container) return container.why();
  return Reader(container.value(), what, bytes.size()).read();
}

Result<TorchFile> read_torch_file(const std::filesystem::path& path) {
  const auto mapped = MappedFile::open(path);
  if (!mapped) return mapped.why();
  const auto bytes = mapped.value().bytes();
  Result<TorchFile> file = parse_torch_file(bytes, path.string());
  if (const Status whole = check_map(bytes, path); !whole) return whole.why();
  return file;
}

}  // namespace roentgen::io
