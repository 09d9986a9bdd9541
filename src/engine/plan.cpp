// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/plan.h"

#include <fmt/format.h>

#include <array>

#include "core/text_hash.h"

namespace roentgen::engine {
namespace {
constexpr double kMiB = 1048576.0;
}  // namespace

std::string_view name_of(Pass pass) {
  constexpr std::array<std::string_view, 4> kNames{"forward", "backward_data", "backward_weights", "auxiliary"};
  return kNames.at(static_cast<std::size_t>(pass));
}

std::string MemoryReport::text(const std::vector<std::pair<std::string, std::size_t>>& more) const {
  std::vector<std::pair<std::string, std::size_t>> parts{{"activations", activations},
                                                         {"parameters", parameters},
                                                         {"gradients", gradients},
                                                         {"inputs", inputs},
                                                         {"other", state + kept}};
  parts.insert(parts.end(), more.begin(), more.end());
  std::size_t sum = 0;
  std::string list;
  for (const auto& [name, bytes] : parts) {
    sum += bytes;
    if (bytes == 0) continue;
    list += fmt::format("{} {} {:.1f}", list.empty() ? ":" : ",", name, static_cast<double>(bytes) / kMiB);
    if (name == "activations" && workspace > 0) {
      list += fmt::format(" (scratch of threads {:.1f})", static_cast<double>(workspace) / kMiB);
    }
  }
  return fmt::format("{:.1f} MiB{}", static_cast<double>(sum) / kMiB, list);
}

std::string Plan::dtype() const {
  const auto found = choices.find(std::string(kDtypeChoice));
  return found == choices.end() ? "f32" : found->second;
}

std::string Plan::text() const {
  std::string out;
  const auto list = [&](const std::vector<TensorId>& ids) {
    std::string joined;
    for (const TensorId id : ids) {
      const PlanTensor& tensor = tensors.at(static_cast<std::size_t>(id));
      joined += fmt::format("{}{}:{}@{}", joined.empty() ? "" : " ", tensor.name, tensor.layout, tensor.offset);
    }
    return joined;
  };
  const auto add = [&](const std::string& number, const PlanEntry& entry) {
    out += fmt::format("{:>4} {} [{}] {} | {} -> {}\n", number, entry.name, entry.implementation, entry.kind,
                       list(entry.reads), list(entry.writes));
  };
  for (const PlanEntry& entry : preparations) add("once", entry);
  for (std::size_t i = 0; i < entries.size(); ++i) add(std::to_string(i), entries[i]);
  return out;
}

std::string Plan::hash() const {
  std::string identity;
  for (const auto& [key, choice] : choices) identity += key + "=" + choice + ";";
  for (const PlanEntry& entry : preparations) identity += entry.name + ":" + entry.implementation + ";";
  for (const PlanEntry& entry : entries) identity += entry.name + ":" + entry.implementation + ";";
  for (const PlanTensor& tensor : tensors) {
    // Omits scratch, because its memory and layout do not affect results.
    if (tensor.storage != Storage::Workspace) identity += tensor.name + ":" + tensor.layout + ";";
  }
  return fmt::format("{:016x}", text_hash(identity));
}

}  // namespace roentgen::engine
