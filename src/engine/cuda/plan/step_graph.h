// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Step graphs: work of a stream that is queued once, captured, and from then on launched as one. The interface names no
// library, so that tests run it on the emulated device.
#pragma once

#include <memory>

#include "core/error.h"
#include "runtime/stream.h"

namespace roentgen::engine::cuda {

/// Captured work with the arguments of its capture. One thread.
class StepGraph {
 public:
  virtual ~StepGraph() = default;
  /// Queues all of it. Throws DeviceError.
  virtual void launch(runtime::Stream& stream) = 0;
};

/// Captures work of streams. One thread.
class GraphRecorder {
 public:
  virtual ~GraphRecorder() = default;
  /// From now on work queued on the stream is captured instead. Throws DeviceError.
  virtual void begin(runtime::Stream& stream) = 0;
  /// The work since begin(). Throws DeviceError where some of it can not be captured.
  [[nodiscard]] virtual std::unique_ptr<StepGraph> end(runtime::Stream& stream) = 0;
};

/// CUDA graphs.
[[nodiscard]] std::unique_ptr<GraphRecorder> make_cuda_graph_recorder();

/// Part of a step that queues the same work every time, except for values in device memory. The first run queues it
/// directly, since libraries prepare themselves then. The second run captures it; later runs launch the graph. One
/// thread.
class RecordedWork {
 public:
  /// Calls queue(), which queues the work on `stream`, or launches the graph. `recorder`: null: always queues.
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
      // The stream must not stay in capture; the first error is the one to tell.
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
