// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include <algorithm>
#include <string>

#include "doctor/inventory.h"

namespace roentgen::doctor {
namespace {

template <typename T>
Value optional_value(const std::optional<T>& value) {
  return value ? Value(*value) : Value();
}

Value text_value(const std::string& text) { return text.empty() ? Value() : Value(text); }

/// Formats cores as "0-3,8"; empty for none.
std::string core_text(const std::vector<int>& cores) {
  std::string text;
  for (std::size_t i = 0; i < cores.size();) {
    std::size_t last = i;
    while (last + 1 < cores.size() && cores[last + 1] == cores[last] + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(cores[i]);
    if (last > i) text += "-" + std::to_string(cores[last]);
    i = last + 1;
  }
  return text;
}

Value cpu_value(const Cpu& cpu) {
  Value governors = Value::array();
  for (const std::string& governor : cpu.governors) governors.push_back(governor);
  return Value::Table{{"model", text_value(cpu.model)},
                      {"online", cpu.online},
                      {"allowed", core_text(cpu.allowed)},
                      {"quota_cores", optional_value(cpu.quota_cores)},
                      {"governors", std::move(governors)},
                      {"scaling_driver", text_value(cpu.scaling_driver)},
                      {"energy_preference", text_value(cpu.energy_preference)},
                      {"mhz_limit", optional_value(cpu.mhz_limit)},
                      {"mhz_max", optional_value(cpu.mhz_max)},
                      {"turbo", optional_value(cpu.is_turbo_allowed)}};
}

Value system_value(const System& system) {
  return Value::Table{{"kernel", text_value(system.kernel)},
                      {"memlock_bytes", system.may_lock_any ? Value() : optional_value(system.memlock_bytes)},
                      {"open_files", system.open_files},
                      {"transparent_huge_pages", text_value(system.transparent_huge_pages)},
                      {"huge_pages", system.huge_pages},
                      {"numa_balancing", system.is_numa_balancing},
                      {"memory_bytes", system.memory_bytes},
                      {"memory_limit_bytes", optional_value(system.memory_limit_bytes)}};
}

Value gpu_value(const Gpu& gpu) {
  return Value::Table{{"index", gpu.index},
                      {"name", gpu.name},
                      {"bus", gpu.bus},
                      {"driver", gpu.driver},
                      {"persistent", optional_value(gpu.is_persistent)},
                      {"compute_mode", gpu.compute_mode},
                      {"ecc_errors", optional_value(gpu.ecc_errors)},
                      {"power_limit_w", optional_value(gpu.power_limit_w)},
                      {"default_power_limit_w", optional_value(gpu.default_power_limit_w)},
                      {"clock_mhz", optional_value(gpu.clock_mhz)},
                      {"max_clock_mhz", optional_value(gpu.max_clock_mhz)},
                      {"throttle_reasons", gpu.throttle_reasons},
                      {"link_generation", optional_value(gpu.link_generation)},
                      {"max_link_generation", optional_value(gpu.max_link_generation)},
                      {"link_lanes", optional_value(gpu.link_lanes)},
                      {"max_link_lanes", optional_value(gpu.max_link_lanes)},
                      {"temperature_c", optional_value(gpu.temperature_c)}};
}

Value pci_value(const PciDevice& device) {
  return Value::Table{{"bus", device.bus},
                      {"kind", device.kind},
                      {"id", device.id},
                      {"driver", text_value(device.driver)},
                      {"numa_node", device.numa_node < 0 ? Value() : Value(device.numa_node)},
                      {"speed", text_value(device.speed)},
                      {"max_speed", text_value(device.max_speed)},
                      {"lanes", text_value(device.width)},
                      {"max_lanes", text_value(device.max_width)}};
}

template <typename Items, typename Convert>
Value array_of(const Items& items, Convert&& convert) {
  Value array = Value::array();
  for (const auto& item : items) array.push_back(convert(item));
  return array;
}

/// True if a value contains only numbers, words and lists, so that it names no path and no address.
bool is_plain(const std::string& value) {
  return value.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_+-=.,:{}()* ") ==
         std::string::npos;
}

Value texts(const std::map<std::string, std::string>& entries) {
  Value table = Value::table();
  for (const auto& [name, text] : entries) {
    if (is_plain(text)) table.set(name, text);
  }
  return table;
}

}  // namespace

Value to_value(const Inventory& inventory) {
  return Value::Table{{"cpu", cpu_value(inventory.cpu)},
                      {"numa_nodes", array_of(inventory.nodes,
                                              [](const NumaNode& node) {
                                                return Value::Table{{"index", node.index},
                                                                    {"cores", core_text(node.cpus)},
                                                                    {"memory_bytes", node.memory_bytes}};
                                              })},
                      {"system", system_value(inventory.system)},
                      {"file_systems", array_of(inventory.file_systems,
                                                [](const NamedFileSystem& each) {
                                                  return Value::Table{{"use", each.use},
                                                                      {"type", each.system.type},
                                                                      {"size_bytes", each.system.bytes},
                                                                      {"free_bytes", each.system.free_bytes}};
                                                })},
                      {"pci", array_of(inventory.pci, pci_value)},
                      {"gpus", array_of(inventory.gpus, gpu_value)},
                      {"gpu_links", array_of(inventory.gpu_links, [](const std::string& line) { return Value(line); })},
                      {"peer_memory_module", inventory.has_peer_memory},
                      {"ports", array_of(inventory.ports,
                                         [](const Port& port) {
                                           return Value::Table{{"adapter", port.adapter},  {"port", port.number},
                                                               {"state", port.state},      {"physical", port.physical},
                                                               {"rate", port.rate},        {"layer", port.layer},
                                                               {"firmware", port.firmware}};
                                         })},
                      {"ofed", text_value(inventory.ofed)},
                      {"libraries", texts(inventory.libraries)},
                      {"mpirun", is_plain(inventory.mpirun) ? text_value(inventory.mpirun) : Value()},
                      {"variables", texts(inventory.variables)}};
}

}  // namespace roentgen::doctor
