// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "dist/host_tasks.h"

#include "core/comma_list.h"
#include "core/whole_number.h"

namespace roentgen::dist {

std::optional<HostTasks> parse_host_tasks(std::string_view part) {
  const std::size_t open = part.find("(x");
  const auto tasks = whole_number(part.substr(0, open));
  std::optional<std::int64_t> hosts = 1;
  if (open != std::string_view::npos) {
    if (!part.ends_with(')')) return std::nullopt;
    hosts = whole_number(part.substr(open + 2, part.size() - open - 3));
  }
  if (!tasks || !hosts || *tasks < 1 || *hosts < 1) return std::nullopt;
  return HostTasks{.tasks = *tasks, .hosts = *hosts};
}

std::optional<std::int64_t> tasks_on_host(std::string_view list, std::int64_t host) {
  if (host < 0) return std::nullopt;
  std::optional<std::int64_t> found;
  for (const std::string_view part : comma_parts(list)) {
    const auto parsed = parse_host_tasks(part);
    if (!parsed) return std::nullopt;
    if (!found && host < parsed->hosts) found = parsed->tasks;
    host -= parsed->hosts;
  }
  return found;
}

}  // namespace roentgen::dist
