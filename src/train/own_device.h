// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Ranks on devices of which each has one to itself.
#pragma once

namespace roentgen::engine {
class Engine;
}

namespace roentgen::train {

class Ranks;

/// Does nothing where no two ranks compute on one device (engine::Engine::device_id()); the host's cores count as none.
/// Otherwise throws ConfigError on all ranks, naming both and --allow-shared-gpu. All ranks call it.
void require_own_device(const Ranks& ranks, const engine::Engine& engine);

}  // namespace roentgen::train
