// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>

#include "core/error.h"
#include "dist/gpu_network.h"
#include "dist/mpi_library.h"
#include "dist/nccl_calls.h"
#include "doctor/command_output.h"
#include "doctor/inventory.h"
#include "doctor/probe.h"
#include "engine/engine.h"
#include "io/environment.h"

namespace roentgen::doctor {
namespace {

constexpr std::chrono::milliseconds kProgramLimit{10'000};

std::vector<std::string> command_of(Program program) {
  switch (program) {
    case Program::NvidiaSmi:
      return {"nvidia-smi", "--query-gpu=" + std::string(kGpuFields), "--format=csv,noheader,nounits"};
    case Program::NvidiaTopology:
      return {"nvidia-smi", "topo", "-m"};
    case Program::Mpirun:
      return {"mpirun", "--version"};
    case Program::OfedInfo:
      return {"ofed_info", "-s"};
  }
  return {};
}

/// Returns the version number of a library by calling one of its functions; nullopt if it cannot be loaded. The library
/// stays loaded.
template <typename Function, typename Call>
std::optional<std::string> called(const char* file, const char* function, int flags, Call&& call) {
  void* const handle = ::dlopen(file, flags);
  if (handle == nullptr) return std::nullopt;
  const auto found = reinterpret_cast<Function>(::dlsym(handle, function));
  if (found == nullptr) return std::nullopt;
  return call(found);
}

std::optional<std::string> cudnn_version(int flags) {
  return called<std::size_t (*)()>("libcudnn.so.9", "cudnnGetVersion", flags, [](auto* version) {
    const std::size_t number = version();
    return std::optional(fmt::format("cuDNN {}.{}.{}", number / 10000, number / 100 % 100, number % 100));
  });
}

std::optional<std::string> driver_version(int flags) {
  return called<int (*)(int*)>("libcuda.so.1", "cuDriverGetVersion", flags, [](auto* version) {
    int number = 0;
    if (version(&number) != 0) return std::optional<std::string>();
    return std::optional(fmt::format("CUDA {}.{}", number / 1000, number / 10 % 100));
  });
}

std::optional<std::string> mpi_version(Effort effort) {
  if (effort == Effort::Quick) {
    const auto library = dist::loaded_mpi();
    return library ? std::optional(library->version) : std::nullopt;
  }
  try {
    return dist::load_mpi().version;
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<std::string> nccl_version() {
  try {
    return std::string(dist::make_nccl_calls()->version());
  } catch (const Error&) {
    return std::nullopt;
  }
}

class MachineProbe final : public Probe {
 public:
  explicit MachineProbe(Effort effort) : effort_(effort) {}

  [[nodiscard]] std::optional<std::string> read(const std::filesystem::path& file) const override {
    std::ifstream stream(file);
    if (!stream) return std::nullopt;
    std::string text{std::istreambuf_iterator<char>(stream), {}};
    if (stream.bad()) return std::nullopt;
    text.erase(text.find_last_not_of(" \t\r\n") + 1);
    return text;
  }

  [[nodiscard]] std::vector<std::string> list(const std::filesystem::path& folder) const override {
    std::vector<std::string> names;
    std::error_code failure;
    for (std::filesystem::directory_iterator each(folder, failure), end; !failure && each != end;
         each.increment(failure)) {
      names.push_back(each->path().filename().string());
    }
    std::ranges::sort(names);
    return names;
  }

  [[nodiscard]] std::optional<std::string> link(const std::filesystem::path& file) const override {
    std::error_code failure;
    const std::filesystem::path target = std::filesystem::read_symlink(file, failure);
    return failure ? std::nullopt : std::optional(target.filename().string());
  }

  [[nodiscard]] std::optional<std::string> variable(const std::string& name) const override {
    const char* const value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  }

  [[nodiscard]] std::optional<std::string> output(Program program) const override {
    if (effort_ == Effort::Quick && program != Program::NvidiaSmi) return std::nullopt;
    return command_output(command_of(program), kProgramLimit);
  }

  [[nodiscard]] std::optional<std::string> version(Library library) const override {
    const int flags = RTLD_NOW | RTLD_LOCAL | (effort_ == Effort::Quick ? RTLD_NOLOAD : 0);
    switch (library) {
      case Library::CudaDriver:
        return driver_version(flags);
      case Library::Cudnn:
        return cudnn_version(flags);
      case Library::Mpi:
        return mpi_version(effort_);
      case Library::Nccl:
        return effort_ == Effort::Quick ? std::nullopt : nccl_version();
      case Library::Ucx: {
        const std::string text = effort_ == Effort::Quick ? "" : dist::ucx_version();
        return text.empty() ? std::nullopt : std::optional(text);
      }
      case Library::Verbs:
        return ::dlopen("libibverbs.so.1", flags) == nullptr ? std::nullopt : std::optional<std::string>("found");
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<FileSystem> file_system(const std::filesystem::path& folder) const override {
    std::error_code failure;
    const std::filesystem::path real = std::filesystem::canonical(folder, failure);
    struct statvfs space {};
    if (failure || ::statvfs(real.c_str(), &space) != 0) return std::nullopt;
    return FileSystem{.type = file_system_type(read("/proc/self/mountinfo").value_or(""), real),
                      .bytes = std::uint64_t{space.f_frsize} * space.f_blocks,
                      .free_bytes = std::uint64_t{space.f_frsize} * space.f_bavail};
  }

  [[nodiscard]] runtime::CudaInventory cuda_devices() const override { return runtime::find_cuda_devices(); }

  [[nodiscard]] std::string cuda_engine_failure() const override {
    if (effort_ == Effort::Quick) return {};
    try {
      static_cast<void>(engine::make_engine("cuda"));
      return {};
    } catch (const Error& error) {
      return error.what();
    }
  }

  [[nodiscard]] Build build() const override {
    const Value report = io::environment_report();
    const Value* const cuda = report.find_path("libraries.cuda");
    return {.type = report.find_path("program.build_type")->as_string(),
            .cuda = cuda != nullptr && cuda->is_string() ? cuda->as_string() : std::string()};
  }

  [[nodiscard]] bool has_pidfd_open() const override {
    const auto self = static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0U));
    if (self >= 0) ::close(self);
    return self >= 0;
  }

 private:
  Effort effort_;
};

}  // namespace

std::unique_ptr<Probe> make_machine_probe(Effort effort) { return std::make_unique<MachineProbe>(effort); }

std::string file_system_type(const std::string& mounts, const std::filesystem::path& folder) {
  std::istringstream lines(mounts);
  std::string type;
  std::size_t longest = 0;
  for (std::string line; std::getline(lines, line);) {
    // "36 35 98:0 /root /mount/point rw,noatime master:1 - ext4 /dev/root rw": the fifth word, and the one after " - ".
    std::istringstream words(line);
    std::string word;
    std::string mount;
    for (int i = 0; i < 5; ++i) words >> mount;
    while (words >> word && word != "-") continue;
    if (!(words >> word)) continue;
    const std::string prefix = mount == "/" ? mount : mount + "/";
    const bool is_above = folder == mount || folder.string().starts_with(prefix);
    if (!is_above || mount.size() < longest) continue;
    longest = mount.size();
    type = word;
  }
  return type;
}

}  // namespace roentgen::doctor
