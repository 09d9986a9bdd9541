// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "core/muted_thread.h"

namespace roentgen {
namespace {

bool& flag() {
  thread_local bool is_muted = false;
  return is_muted;
}

}  // namespace

MutedThread::MutedThread() { flag() = true; }

MutedThread::~MutedThread() { flag() = false; }

bool MutedThread::is_muted() { return flag(); }

}  // namespace roentgen
