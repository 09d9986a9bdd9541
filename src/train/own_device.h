// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Check that every rank has a device to itself.
#pragma once

namespace roentgen::engine {
class Engine;
}

namespace roentgen::train {

class Ranks;

/// Does nothing when no two ranks compute on one device (engine::Engine::device_id()); CPU cores do not count.
/// Otherwise throws ConfigError on all ranks, naming both ranks and --allow-shared-gpu. All ranks call it.
void require_own_device(const Ranks& ranks, const engine::Engine& engine);

}  // namespace roentgen::train
