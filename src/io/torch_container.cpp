// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// File formats as in torch/serialization.py of PyTorch 2.15 (_save, _legacy_save) and torch/_utils.py.
#include "io/torch_container.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "io/zip.h"

namespace roentgen::io::torch {
namespace {

using namespace std::string_view_literals;

// Functions that a file of weights or of a whole model may call. None is executed.
constexpr std::array kCalls{"collections.OrderedDict"sv,
                            "collections.defaultdict"sv,
                            "torch._utils._rebuild_tensor"sv,
                            "torch._utils._rebuild_tensor_v2"sv,
                            "torch._utils._rebuild_parameter"sv,
                            "torch._utils._rebuild_parameter_with_state"sv,
                            "torch.Size"sv,
                            "torch.device"sv,
                            "torch.nn.backends.thnn._get_thnn_function_backend"sv,
                            "__builtin__.set"sv,
                            "builtins.set"sv,
                            "copy_reg._reconstructor"sv,
                            "copyreg._reconstructor"sv,
                            "_codecs.encode"sv,
                            "numpy.core.multiarray.scalar"sv,
                            "numpy._core.multiarray.scalar"sv,
                            "numpy.dtype"sv};

constexpr std::array kTypes{
    ElementType{"FloatStorage", 4, DType::F32},   ElementType{"DoubleStorage", 8, DType::F64},
    ElementType{"HalfStorage", 2, DType::F16},    ElementType{"BFloat16Storage", 2, DType::Bf16},
    ElementType{"LongStorage", 8, std::nullopt},  ElementType{"IntStorage", 4, std::nullopt},
    ElementType{"ShortStorage", 2, std::nullopt}, ElementType{"CharStorage", 1, std::nullopt},
    ElementType{"ByteStorage", 1, std::nullopt},  ElementType{"BoolStorage", 1, std::nullopt}};

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool is_big_endian(const Pickle& system) {
  const auto& items = system[system.root].items;
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    if (system[items[i]].text == "little_endian") return system[items[i + 1]].integer == 0;
  }
  return false;
}

Failure big_endian(std::string_view what) {
  return failure("io.torch", what, "little-endian data", "big-endian data", "saving the weights on another machine");
}

// Reads a zip archive. Members are called PREFIX/data.pkl, PREFIX/data/KEY and so on, with a common prefix.
Result<Container> open_zip(std::span<const std::byte> file, std::string_view what) {
  const auto members = scan_zip(file, what);
  if (!members) return members.why();
  std::unordered_map<std::string_view, const ZipMember*> by_name;
  std::string prefix;
  for (const ZipMember& member : members.value()) {
    by_name[member.name] = &member;
    const std::size_t slash = member.name.find('/');
    if (slash != std::string::npos && member.name.substr(slash) == "/data.pkl")
      prefix = member.name.substr(0, slash + 1);
  }
  const auto read = [&](const std::string& name) -> Result<std::span<const std::byte>> {
    const auto found = by_name.find(name);
    if (found == by_name.end()) return std::span<const std::byte>();
    return read_zip_member(file, *found->second, what);
  };
  if (prefix.empty()) return failure("io.torch", what, "a file data.pkl in the archive", "none", kRemedy);
  if (by_name.contains(prefix + "constants.pkl")) {
    return failure("io.torch", what, "weights", "a TorchScript program",
                   "torch.save(torch.jit.load(FILE).state_dict(), OTHER)");
  }
  const auto order = read(prefix + "byteorder");
  if (!order) return order.why();
  if (text_of(order.value()) == "big") return big_endian(what);
  const auto bytes = read(prefix + "data.pkl");
  if (!bytes) return bytes.why();
  auto pickle = parse_pickle(bytes.value(), what, kCalls);
  if (!pickle) return pickle.why();
  Container container{.pickle = std::move(pickle).value(), .storages = {}};
  for (const ZipMember& member : members.value()) {
    if (!member.name.starts_with(prefix + "data/")) continue;
    const auto data = read_zip_member(file, member, what);
    if (!data) return data.why();
    container.storages[member.name.substr(prefix.size() + 5)] = data.value();
  }
  return container;
}

// Reads the older format: five pickles, then storages in the order of the keys in the last pickle. A storage is its
// number of elements (8 bytes) and the elements.
Result<Container> open_legacy(std::span<const std::byte> file, std::string_view what) {
  std::vector<Pickle> pickles;  // five: magic number, protocol, system, saved object, storage keys
  for (int i = 0; i < 5; ++i) {
    auto pickle = parse_pickle(file, what, kCalls);
    if (!pickle) return pickle.why();
    pickles.push_back(std::move(pickle).value());
    file = file.subspan(pickles.back().size_bytes);
    if (i == 0 && pickles[0][pickles[0].root].text != kLegacyMagic) {
      return failure("io.torch", what, "a file written by torch.save", "another pickle", kRemedy);
    }
  }
  if (is_big_endian(pickles[2])) return big_endian(what);
  Container container{.pickle = std::move(pickles[3]), .storages = {}};
  std::unordered_map<std::string, StorageId> ids;
  for (PickleId id = 0; id < container.pickle.nodes.size(); ++id) {
    if (auto storage = storage_id(container.pickle, id)) ids[storage->key] = std::move(*storage);
  }
  for (const PickleId key_id : pickles[4][pickles[4].root].items) {
    const std::string& key = pickles[4][key_id].text;
    const auto found = ids.find(key);
    if (found == ids.end()) return failure("io.torch", what, "known storage keys", "an unknown key", kRemedy);
    const auto type = element_type(found->second.type);
    if (!type) return failure("io.torch", what, "a storage of floats or integers", found->second.type, kRemedy);
    std::uint64_t elements = 0;
    const bool has_head = file.size() >= sizeof elements;
    if (has_head) std::memcpy(&elements, file.data(), sizeof elements);
    if (!has_head || elements > (file.size() - sizeof elements) / type->size_bytes) {
      return failure("io.torch", fmt::format("{}, storage {}", what, key), "all elements of the storage", "fewer",
                     "a complete copy of the file");
    }
    container.storages[key] = file.subspan(sizeof elements, elements * type->size_bytes);
    file = file.subspan(sizeof elements + elements * type->size_bytes);
  }
  return container;
}

}  // namespace

std::optional<StorageId> storage_id(const Pickle& pickle, PickleId id) {
  const PickleNode& node = pickle[id];
  if (node.kind != PickleKind::Persistent) return {};
  const std::vector<PickleId>& parts = pickle[node.items[0]].items;
  if (parts.size() < 5 || pickle[parts[0]].text != "storage") return {};
  // Refuses a view of another storage, as PyTorch wrote before version 0.4.
  if (parts.size() > 5 && pickle[parts[5]].kind != PickleKind::None) return {};
  const PickleNode &type = pickle[parts[1]], &key = pickle[parts[2]], &elements = pickle[parts[4]];
  if (type.kind != PickleKind::Global || key.kind != PickleKind::Text || elements.kind != PickleKind::Integer)
    return {};
  return StorageId{.type = type.text, .key = key.text, .elements = elements.integer};
}

std::optional<ElementType> element_type(std::string_view name) {
  for (const std::string_view module : {"torch.cuda."sv, "torch."sv}) {
    if (!name.starts_with(module)) continue;
    const auto found = std::ranges::find(kTypes, name.substr(module.size()), &ElementType::name);
    if (found != kTypes.end()) return *found;
  }
  return {};
}

Result<Container> open_container(std::span<const std::byte> file, std::string_view what) {
  return text_of(file).starts_with("PK\x03\x04"sv) ? open_zip(file, what) : open_legacy(file, what);
}

}  // namespace roentgen::io::torch
