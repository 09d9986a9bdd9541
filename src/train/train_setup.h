// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// TrainSetup: all parts of a run at its first step, built from a job in a fixed order of steps. Internal to the
// trainer.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "data/stage/image_store.h"
#include "data/stage/loader.h"
#include "engine/engine.h"
#include "runtime/core_list.h"
#include "train/checkpoint_info.h"
#include "train/ema.h"
#include "train/observer.h"
#include "train/ranks.h"
#include "train/resume.h"
#include "train/run_input.h"
#include "train/schedule/schedule.h"
#include "train/stepper.h"
#include "train/trace.h"
#include "train/trained_pixels.h"

namespace roentgen::train {

struct TrainJob;

/// Parts of a run; later ones depend on earlier ones. Move-only; the job must outlive it. Not thread-safe.
struct TrainSetup {
  Ranks ranks;
  /// Cores for the compute threads.
  std::unique_ptr<runtime::BoundToCores> bound;
  RunInput input;
  /// Metadata of the checkpoints, without step, epoch and metric.
  CheckpointInfo info;
  /// Recorder of the trace; null without TrainJob::trace.
  std::unique_ptr<Tracer> tracer;
  /// Network compiled for training.
  std::unique_ptr<engine::Executable> executable;
  /// Network compiled for inference; null without validation images.
  std::unique_ptr<engine::Executable> validator;
  std::unique_ptr<TrainedPixels> pixels;
  std::unique_ptr<Stepper> stepper;
  std::unique_ptr<Schedule> schedule;
  /// Moving average of the weights; null without train.ema.
  std::unique_ptr<Ema> ema;
  /// Position of the run; step 0 for a fresh run.
  RunState state;
  /// True if the run was resumed with running statistics averaged over ranks. False if each rank has its own
  /// statistics, or none yet.
  bool has_averaged_statistics = false;
  std::unique_ptr<data::Loader> loader;
  /// log.jsonl and TensorBoard, on rank 0.
  std::vector<std::unique_ptr<Observer>> logs;
  /// All observers: those of the job, then `logs`.
  std::vector<Observer*> observers;
  /// Planned peak of memory in bytes, without the input.
  std::size_t planned_bytes = 0;
};

/// Makes the setup of a job. The table lists all steps in order. Collective steps have phases (dist::Phase), in which
/// the ranks of the group wait for each other. Every rank must reach them, once and in this order. Memory means
/// weights, running statistics, optimizer and averages.
///
///   step                     needs                     gives                   collective: phases
///   check_job                job                       a refusal or nothing
///   BoundToCores             recipe                    bound
///   plan_input               job                       input
///   describe_run             job                       info
///   require_same_job         job, info                 a refusal or nothing    comparing jobs, comparing data
///   open_memory_cache        input                     store                   sharing the cache
///   Tracer                   job.trace                 tracer                  clocks
///   read_resume              job, info                 resume                  resume file
///   compile_training         input, resume, tracer     executable, plan        plan
///   compile_validation       job                       validator               plan
///   TrainedPixels, Stepper   resume, executable        pixels, stepper
///   updates_per_epoch        input                     updates, schedule
///   load_first_weights, Ema  executable                memory of rank 0
///   load_resume              resume, memory            memory of rank 0
///   share_memory             memory of rank 0          equal memory of all     first weights
///   scatter_statistics       resume                    each rank's statistics  statistics
///   on_ready, on rank 0                                run folder
///   Tracer::keep_in          tracer, run folder        files of the trace      trace
///   first state              resume                    state
///   Loader                   input, state, executable  loader
///   greet_servers            plan, memory, state       servers that serve
///   write_plan, on rank 0    run folder, plan          plan.json
///   open_logs, on rank 0     run folder, state         logs, observers
///
/// Before on_ready, only the files of train.cache=disk are written, and all errors that need no image are found. Throws
/// ConfigError (a recipe, init or resume file that does not fit, or ranks that differ), DataError (disk), and CommError
/// like dist::CommThread. Only the loader throws later: for labels that are no class index, and for a pipeline that
/// cannot resume with another number of ranks.
[[nodiscard]] TrainSetup make_train_setup(const TrainJob& job);

}  // namespace roentgen::train
