// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "runtime/control_groups.h"

#include <algorithm>
#include <string>

namespace roentgen::runtime {

void for_each_control_group(const std::filesystem::path& root, std::string_view membership, std::string_view controller,
                            const std::function<void(const std::filesystem::path& group, bool is_second)>& use) {
  const std::string asked = "," + std::string(controller) + ",";
  while (!membership.empty()) {  // lines such as "0::/a/b" or "4:cpu,cpuacct:/a/b"
    const std::size_t end = std::min(membership.find('\n'), membership.size());
    const std::string_view line = membership.substr(0, end);
    membership.remove_prefix(std::min(end + 1, membership.size()));
    const std::size_t name = line.find(':'), path = line.find(':', name + 1);
    if (name == std::string_view::npos || path == std::string_view::npos) continue;
    const std::string controllers(line.substr(name + 1, path - name - 1));
    const bool is_second = controllers.empty();
    if (!is_second && ("," + controllers + ",").find(asked) == std::string::npos) continue;
    const std::filesystem::path top = is_second ? root : root / controller;
    std::filesystem::path group = line.substr(std::min(path + 2, line.size()));
    for (; !group.empty(); group = group.parent_path()) use(top / group, is_second);
    use(top, is_second);
  }
}

}  // namespace roentgen::runtime
