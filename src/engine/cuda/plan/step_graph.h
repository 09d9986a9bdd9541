// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Step graphs: work of a stream that is captured once and then launched as a whole. The interface does not depend on
// CUDA, so that tests run it on the emulated device.
#pragma once

#include <memory>

#include "core/error.h"
#include "runtime/stream.h"

namespace roentgen::engine::cuda {

/// Captured work, including its kernel arguments at capture. Not thread-safe.
class StepGraph {
 public:
  virtual ~StepGraph() = default;
  /// Queues the captured work on the stream. Throws DeviceError.
  virtual void launch(runtime::Stream& stream) = 0;
};

/// Captures the work of streams. Not thread-safe.
class GraphRecorder {
 public:
  virtual ~GraphRecorder() = default;
  /// Starts the capture: from now on, work queued on the stream is recorded instead of run. Throws DeviceError.
  virtual void begin(runtime::Stream& stream) = 0;
  /// Ends the capture and returns the work since begin(). Throws DeviceError if some of it cannot be captured.
  [[nodiscard]] virtual std::unique_ptr<StepGraph> end(runtime::Stream& stream) = 0;
};

/// Recorder that uses CUDA graphs.
[[nodiscard]] std::unique_ptr<GraphRecorder> make_cuda_graph_recorder();

/// Part of a step that queues the same work every time; only values in device memory change. The first run queues it
/// directly, because libraries initialise during it. The second run captures it; later runs launch the graph. Not
/// thread-safe.
class RecordedWork {
 public:
  /// Calls queue(), which queues the work on `stream`, or launches the graph. If `recorder` is null, it always calls
  /// queue().
  template <typename Queue>
  void run(GraphRecorder* recorder, runtime::Stream& stream, const Queue& queue) {
    if (graph_ == nullptr && (recorder == nullptr || !was_queued_)) {
      queue();
      was_queued_ = true;
      return;
    }
    if (graph_ == nullptr) graph_ = capture(*recorder, stream, queue);
    graph_->launch(stream);
  }

 private:
  template <typename Queue>
  static std::unique_ptr<StepGraph> capture(GraphRecorder& recorder, runtime::Stream& stream, const Queue& queue) {
    recorder.begin(stream);
    try {
      queue();
    } catch (...) {
      // The stream must not stay in capture mode. The caller gets the first error.
      try {
        static_cast<void>(recorder.end(stream));
      } catch (const DeviceError&) {
      }
      throw;
    }
    return recorder.end(stream);
  }
  std::unique_ptr<StepGraph> graph_;
  bool was_queued_ = false;
};

}  // namespace roentgen::engine::cuda
