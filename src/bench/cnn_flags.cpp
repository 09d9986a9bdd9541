// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/cnn_flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <tuple>
#include <utility>

#include "bench/options.h"
#include "bench/speed.h"
#include "core/error.h"
#include "models/model.h"

namespace roentgen::bench {
namespace {

constexpr std::int64_t kUsualBatches = 100;
constexpr double kFlip = 0.5;
/// Smallest area of a random crop, as in the distortions of ImageNet (Szegedy et al. 2015, section 6).
constexpr double kCropArea = 0.08;
constexpr double kCropAspect = 4.0 / 3.0;

/// Flags that change nothing here, with the reason.
constexpr std::array<std::pair<std::string_view, std::string_view>, 15> kNoEffect{{
    {"--num_inter_threads", "operations of one network run one after another"},
    {"--kmp_blocktime", "threads are Roentgen's own"},
    {"--kmp_affinity", "threads are Roentgen's own"},
    {"--kmp_settings", "threads are Roentgen's own"},
    {"--mkl", "kernels are Roentgen's own"},
    {"--gpu_thread_mode", "kernels are Roentgen's own"},
    {"--per_gpu_thread_count", "kernels are Roentgen's own"},
    {"--use_datasets", "the pipeline always fetches ahead"},
    {"--datasets_use_prefetch", "the pipeline always fetches ahead"},
    {"--datasets_prefetch_buffer_size", "the pipeline tunes its buffers"},
    {"--batch_group_size", "the pipeline tunes its buffers"},
    {"--hierarchical_copy", "gradients are averaged in buckets"},
    {"--gradient_repacking", "gradients are averaged in buckets"},
    {"--summary_verbosity", "no summaries are written"},
    {"--fp16_enable_auto_loss_scale", "the loss scale always adapts"},
}};

/// Flags with only one allowed value, because another one would change what is measured.
constexpr std::array<std::tuple<std::string_view, std::string_view, std::string_view>, 6> kOnly{{
    {"--forward_only", "false", "roentgen bench infer"},
    {"--eval", "false", "roentgen eval"},
    {"--fp16_vars", "false", "weights in f32"},
    {"--print_training_accuracy", "false", "roentgen eval, for accuracies"},
    {"--cross_replica_sync", "true", "roentgen bench scaling --update async"},
    {"--variable_consistency", "strong", "roentgen bench scaling --update async"},
}};

/// Flags that are true or false, so that absl takes them without a value, and with the prefix "no".
constexpr std::array<std::string_view, 14> kSwitches{"--distortions",
                                                     "--use_fp16",
                                                     "--xla",
                                                     "--xla_compile",
                                                     "--mkl",
                                                     "--use_datasets",
                                                     "--forward_only",
                                                     "--datasets_use_prefetch",
                                                     "--hierarchical_copy",
                                                     "--eval",
                                                     "--fp16_vars",
                                                     "--fp16_enable_auto_loss_scale",
                                                     "--cross_replica_sync",
                                                     "--print_training_accuracy"};

[[noreturn]] void refuse(std::string_view flag, std::string_view expected, std::string_view got,
                         std::string_view remedy) {
  throw ConfigError(error_text("bench.cnn", flag, expected, got, remedy));
}

/// Text of a flag's value as a truth value; throws ConfigError for others.
bool is_true(std::string_view flag, std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const std::string_view word : {"true", "t", "yes", "y", "1"}) {
    if (text == word) return true;
  }
  for (const std::string_view word : {"false", "f", "no", "n", "0"}) {
    if (text == word) return false;
  }
  refuse(flag, "true or false", text, fmt::format("{}=true", flag));
}

/// Refuses a text that is not in the list.
void require_one_of(std::string_view flag, std::string_view text, const std::vector<std::string_view>& known,
                    std::string_view remedy = {}) {
  if (std::ranges::find(known, text) != known.end()) return;
  refuse(flag, fmt::to_string(fmt::join(known, ", ")), text,
         remedy.empty() ? fmt::format("{}={}", flag, known.front()) : remedy);
}

std::string model_named(const std::string& name) {
  if (name == "inception3") return "inception_v3";
  if (name == "inception4") return "inception_v4";
  return name.ends_with("_v1.5") ? name.substr(0, name.size() - 5) : name;
}

bool is_bottlenecked(std::string_view model) {
  return model == "resnet50" || model == "resnet101" || model == "resnet152";
}

/// Builds a plan from flags, one group of flags after another.
class Planner {
 public:
  Planner(const CnnFlags& flags, const CnnMachine& machine) : flags_(flags), machine_(machine) {}

  CnnPlan plan() {
    set_device();
    set_network();
    set_steps();
    set_update();
    set_optimizer();
    set_input();
    set_others();
    return std::move(plan_);
  }

 private:
  void note(std::string_view flag, std::string_view value, std::string_view text) {
    plan_.notes.push_back(fmt::format("{}={} {}", flag, value, text));
  }
  [[nodiscard]] bool is_cuda() const { return plan_.network.device == "cuda"; }
  [[nodiscard]] bool has_several() const { return plan_.devices > 1 || machine_.processes > 1; }

  void set_device() {
    require_one_of("--device", flags_.device, {"gpu", "cpu"});
    const bool wants_cuda = flags_.device == "gpu";
    plan_.network.device = wants_cuda && machine_.cuda_devices > 0 ? "cuda" : "cpu";
    if (wants_cuda && !is_cuda()) note("--device", "gpu", "becomes cpu: this machine has no CUDA device");
    plan_.devices = flags_.num_gpus;
    if (is_cuda() && plan_.devices > machine_.cuda_devices) {
      refuse("--num_gpus", fmt::format("at most {}, the CUDA devices of this machine", machine_.cuda_devices),
             fmt::to_string(flags_.num_gpus), fmt::format("--num_gpus={}", machine_.cuda_devices));
    }
    if (!is_cuda() && plan_.devices > 1) {
      plan_.devices = 1;
      note("--num_gpus", fmt::to_string(flags_.num_gpus), "becomes 1: the CPU of a machine counts as one device");
    }
  }

  void set_network() {
    NetworkOptions& network = plan_.network;
    network.model = model_named(flags_.model);
    network.image_px = models::own_image_px(network.model);
    network.batch = flags_.batch_size;
    network.threads = static_cast<int>(flags_.num_intra_threads);
    require_one_of("--data_name", flags_.data_name, {"imagenet", "cifar10"});
    network.labels = flags_.data_name == "imagenet" ? 1000 : 10;
    if (flags_.data_name == "cifar10") network.image_px = 32;
    if (network.model != flags_.model) note("--model", flags_.model, "becomes " + network.model);
    if (network.model == flags_.model && is_bottlenecked(network.model)) {
      note("--model", network.model, "is v1.5, with the stride in the 3x3 convolution");
    }
    if (!flags_.data_format.empty()) {
      require_one_of("--data_format", flags_.data_format, {"NCHW", "NHWC"});
      note("--data_format", flags_.data_format, "has no effect: the layout is chosen by layer");
    }
    if (!flags_.use_fp16.empty() && is_true("--use_fp16", flags_.use_fp16)) {
      network.dtype = is_cuda() ? "f16" : "bf16";
      note("--use_fp16", flags_.use_fp16,
           fmt::format("becomes --dtype {}{}", network.dtype,
                       is_cuda() ? ", with an adaptive loss scale" : ": CPUs have no arithmetic in f16"));
    }
    for (const auto& [flag, value] : {std::pair{"--xla", flags_.xla}, {"--xla_compile", flags_.xla_compile}}) {
      if (value.empty()) continue;
      network.fuse = is_true(flag, value) ? "on" : "off";
      note(flag, value, fmt::format("becomes --fuse {}: Roentgen's own fusion of layers", network.fuse));
    }
    if (flags_.xla.empty() && flags_.xla_compile.empty()) {
      plan_.notes.emplace_back("--xla was not given: layers are fused, as by --fuse on; --xla=false fuses none");
    }
    if (network.threads > 0) note("--num_intra_threads", fmt::to_string(network.threads), "becomes --threads");
  }

  void set_steps() {
    plan_.network.warmup = flags_.num_warmup_batches;
    plan_.network.steps = flags_.num_batches > 0 ? flags_.num_batches : kUsualBatches;
    plan_.display_every = flags_.display_every;
    plan_.epochs = flags_.num_epochs;
    if (plan_.epochs == 0) return;
    plan_.network.steps = 0;
    if (flags_.num_batches > 0) refuse("--num_epochs", "no --num_batches beside it", "both", "one of them");
    if (flags_.data_dir.empty()) refuse("--num_epochs", "also --data_dir", "no --data_dir", "--num_batches");
  }

  void set_update() {
    const std::string& update = flags_.variable_update;
    if (!update.empty()) {
      require_one_of("--variable_update", update,
                     {"replicated", "horovod", "parameter_server", "collective_all_reduce", "independent"});
    }
    if (machine_.processes > 1 && update != "horovod") {
      refuse("--variable_update", fmt::format("horovod with {} processes", machine_.processes),
             update.empty() ? "none" : update, "--variable_update=horovod, or no mpirun");
    }
    if (update == "horovod" && flags_.num_gpus > 1) {
      refuse("--num_gpus", "1 with --variable_update=horovod", fmt::to_string(flags_.num_gpus),
             fmt::format("mpirun -np {} roentgen bench cnn", flags_.num_gpus));
    }
    if (update == "independent" && has_several()) {
      refuse("--variable_update", "devices that train together", update, "--variable_update=replicated");
    }
    if (update == "parameter_server" || update == "collective_all_reduce") {
      note("--variable_update", update,
           "becomes replicated: each device keeps all weights, and gradients are averaged");
    }
    if (!flags_.local_parameter_device.empty()) {
      require_one_of("--local_parameter_device", flags_.local_parameter_device, {"gpu", "cpu"});
      note("--local_parameter_device", flags_.local_parameter_device,
           "has no effect: the device that computes keeps the weights");
    }
    set_reduce();
  }

  void set_reduce() {
    const std::string& spec = flags_.all_reduce_spec;
    if (!spec.empty()) {
      require_one_of("--all_reduce_spec", spec, {"nccl", "xring"});
      if (!has_several()) {
        note("--all_reduce_spec", spec, "has no effect: there is only one device");
      } else {
        plan_.reduce = spec == "xring" ? "ring" : is_cuda() ? "nccl" : "auto";
        note("--all_reduce_spec", spec, fmt::format("becomes --reduce {}", plan_.reduce));
      }
    }
    const std::string& device = flags_.horovod_device;
    if (device.empty() || device == "none") return;
    require_one_of("--horovod_device", device, {"gpu", "cpu", "none"});
    if (flags_.variable_update != "horovod" || !has_several()) {
      note("--horovod_device", device, "has no effect: there is only one process");
    } else {
      plan_.reduce = device == "gpu" && is_cuda() ? "nccl" : "allreduce";
      note("--horovod_device", device, fmt::format("becomes --reduce {}", plan_.reduce));
    }
  }

  void set_optimizer() {
    require_one_of("--optimizer", flags_.optimizer, {"sgd", "momentum", "adam"});
    plan_.optimizer.name = flags_.optimizer == "adam" ? "adam" : "sgd";
    std::get<engine::Sgd>(plan_.optimizer.rules).momentum = flags_.optimizer == "momentum" ? flags_.momentum : 0.0;
    plan_.optimizer.weight_decay = flags_.weight_decay;
    plan_.optimizer.lr = flags_.init_learning_rate;
    if (flags_.optimizer == "momentum") note("--optimizer", "momentum", "becomes sgd with momentum");
  }

  void set_input() {
    if (!flags_.data_dir.empty()) plan_.data_dir = flags_.data_dir.back();
    const std::int64_t threads = flags_.datasets_num_private_threads;
    plan_.workers = static_cast<int>(threads);
    if (threads > 0) {
      note("--datasets_num_private_threads", fmt::to_string(threads),
           plan_.data_dir.empty() ? "has no effect: images are random" : "becomes the threads that decode images");
    }
    if (!plan_.data_dir.empty()) {
      note("--data_dir", plan_.data_dir, "gives the images; labels are random, because only speed is measured");
    }
    if (flags_.distortions.empty() && !plan_.data_dir.empty()) {
      plan_.notes.emplace_back("--distortions was not given: images are not augmented, unlike in tf_cnn_benchmarks");
    }
    if (flags_.distortions.empty() || !is_true("--distortions", flags_.distortions)) return;
    plan_.has_distortions = !plan_.data_dir.empty();
    note("--distortions", flags_.distortions,
         plan_.data_dir.empty() ? "has no effect: images are random" : "becomes random crops and mirror images");
  }

  void set_others() {
    for (const auto& [flag, reason] : kNoEffect) {
      const std::string& value = flags_.others.at(std::string(flag));
      if (!value.empty()) note(flag, value, fmt::format("has no effect: {}", reason));
    }
    for (const auto& [flag, only, remedy] : kOnly) {
      std::string value = flags_.others.at(std::string(flag));
      if (value.empty()) continue;
      if (only != "strong") value = is_true(flag, value) ? "true" : "false";
      if (value != only) refuse(flag, only, value, remedy);
    }
  }

  const CnnFlags& flags_;
  const CnnMachine& machine_;
  CnnPlan plan_;
};

}  // namespace

std::vector<Option> CnnFlags::options() {
  const Range positive{.low = 1, .high = kMany}, any{.low = 0, .high = kMany};
  std::vector<Option> all{
      {.name = "--device", .target = &device, .doc = "gpu (the CPU if there is no GPU) or cpu"},
      {.name = "--model",
       .target = &model,
       .doc = "built-in model (see roentgen models); also inception3, resnet50_v1.5"},
      {.name = "--data_format", .target = &data_format, .doc = "no effect here"},
      {.name = "--optimizer", .target = &optimizer, .doc = "sgd, momentum or adam"},
      {.name = "--distortions", .target = &distortions, .doc = "true or false: random crops and mirror images"},
      {.name = "--use_fp16", .target = &use_fp16, .doc = "true or false: compute in 16 bits"},
      {.name = "--local_parameter_device", .target = &local_parameter_device, .doc = "no effect here"},
      {.name = "--variable_update",
       .target = &variable_update,
       .doc = "replicated, horovod (under mpirun), parameter_server, independent"},
      {.name = "--all_reduce_spec", .target = &all_reduce_spec, .doc = "nccl or xring"},
      {.name = "--horovod_device", .target = &horovod_device, .doc = "gpu, cpu or none: where gradients are averaged"},
      {.name = "--data_dir",
       .target = &data_dir,
       .doc = "folder of images or record files; default: random images",
       .is_input = true},
      {.name = "--data_name", .target = &data_name, .doc = "imagenet or cifar10: number of outputs, and of pixels"},
      {.name = "--xla", .target = &xla, .doc = "true or false: fuse layers"},
      {.name = "--xla_compile", .target = &xla_compile, .doc = "true or false: fuse layers"},
      {.name = "--batch_size", .target = &batch_size, .doc = "images per device", .range = positive},
      {.name = "--num_gpus", .target = &num_gpus, .doc = "devices, each with a process", .range = positive},
      {.name = "--num_batches",
       .target = &num_batches,
       .doc = "number of steps: measured; before the measurement",
       .range = positive},
      {.name = "--num_epochs",
       .target = &num_epochs,
       .doc = "epochs of --data_dir, instead of --num_batches",
       .range = positive},
      {.name = "--num_warmup_batches",
       .target = &num_warmup_batches,
       .doc = "number of steps: measured; before the measurement",
       .range = positive},
      {.name = "--display_every", .target = &display_every, .doc = "steps between two lines", .range = positive},
      {.name = "--datasets_num_private_threads",
       .target = &datasets_num_private_threads,
       .doc = "threads that decode images; 0 = all cores",
       .range = any},
      {.name = "--num_intra_threads",
       .target = &num_intra_threads,
       .doc = "compute threads; 0 = all cores",
       .range = any},
      {.name = "--momentum", .target = &momentum, .doc = "settings of the optimizer", .range = {0, 1, false, true}},
      {.name = "--weight_decay", .target = &weight_decay, .doc = "settings of the optimizer", .range = {0, 1}},
      {.name = "--init_learning_rate",
       .target = &init_learning_rate,
       .doc = "settings of the optimizer",
       .range = {0, 1}}};
  for (const auto& [flag, reason] : kNoEffect) {
    all.push_back(
        {.name = std::string(flag), .target = &others[std::string(flag)], .doc = fmt::format("no effect: {}", reason)});
  }
  for (const auto& [flag, only, remedy] : kOnly) {
    all.push_back(
        {.name = std::string(flag), .target = &others[std::string(flag)], .doc = fmt::format("only {}", only)});
  }
  for (Option& option : all) option.is_switch = std::ranges::find(kSwitches, option.name) != kSwitches.end();
  return all;
}

CnnPlan plan_of(const CnnFlags& flags, const CnnMachine& machine) { return Planner(flags, machine).plan(); }

data::Augment distortions() {
  return {.crop_area_min = kCropArea, .crop_aspect_max = kCropAspect, .flip_probability = kFlip};
}

std::string CnnOutput::add(double step_s, double loss) {
  step_s_.push_back(step_s);
  const auto step = static_cast<std::int64_t>(step_s_.size());
  if (step > 1 && step % display_every_ != 0) return {};
  const std::string line = fmt::format("{}\t{}\t{:.3f}\n", step, tf_cnn_text(speed_of(step_s_, images_)), loss);
  return step == 1 ? "Step\tImg/sec\ttotal_loss\n" + line : line;
}

std::string CnnOutput::end(double images_per_s) {
  constexpr std::size_t kDashes = 64;
  const std::string dashes(kDashes, '-');
  return fmt::format("{0}\ntotal images/sec: {1:.2f}\n{0}\n", dashes, images_per_s);
}

std::string cnn_lines(const Value& result, std::int64_t display_every) {
  CnnOutput output(result.at("batch").as_double() * result.at("ranks").as_double(), display_every);
  const Value::Array& times = result.at("samples").at("step_s").as_array();
  const Value::Array& losses = result.at("losses").as_array();
  std::string text;
  for (std::size_t i = 0; i < times.size(); ++i) text += output.add(times[i].as_double(), losses[i].as_double());
  return text + CnnOutput::end(result.at("total_images_per_s").as_double());
}

}  // namespace roentgen::bench
