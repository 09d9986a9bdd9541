// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Implements NcclCalls by NCCL. The library is loaded when it is first needed, so the program starts without it. Its
// communicators do not block: a call that must wait for other ranks returns ncclInProgress.
#include <dlfcn.h>
#include <nccl.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "dist/nccl_calls.h"
#include "runtime/cuda/stream.h"

namespace roentgen::dist {
namespace {

using runtime::cuda::as_cuda;

// Oldest accepted version of NCCL. Before it, ncclCommAbort() could hang while another thread used the group (NCCL's
// issue 992).
constexpr int kLeastVersion = NCCL_VERSION(2, 19, 1);
constexpr const char* kRemedy =
    "pip install nvidia-nccl-cu13, ROENTGEN_NCCL=FILE with another libnccl.so.2, or --reduce auto";

// List of the NCCL functions that are loaded.
#define RG_NCCL_FUNCTIONS(X) \
  X(GetUniqueId)             \
  X(GetErrorString)          \
  X(GetLastError)            \
  X(CommInitRankConfig)      \
  X(CommGetAsyncError)       \
  X(CommFinalize)            \
  X(CommDestroy)             \
  X(CommAbort)               \
  X(AllReduce)               \
  X(GroupStart)              \
  X(GroupEnd)                \
  X(Send)                    \
  X(Recv)

// Formats NCCL's version number: 22809 gives "2.28.9". Versions up to 2.8 have shorter numbers: 2708 gives "2.7.8".
std::string text_of(int number) {
  constexpr int kLeastNew = 10'000, kMinor = 100;
  const int major = number < kLeastNew ? 1'000 : 10'000;
  return std::to_string(number / major) + "." + std::to_string(number % major / kMinor) + "." +
         std::to_string(number % kMinor);
}

/// The loaded NCCL library. It stays loaded until the process ends.
struct NcclLibrary {
  NcclLibrary() {
    const char* asked = std::getenv("ROENTGEN_NCCL");
    const std::string file = asked == nullptr || *asked == '\0' ? "libnccl.so.2" : asked;
    void* const handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* reason = ::dlerror();
      refuse("NCCL " + least_nccl_version() + " or newer on this machine",
             reason == nullptr ? file + ": not loaded" : reason);
    }
    const auto get_version = reinterpret_cast<decltype(&::ncclGetVersion)>(::dlsym(handle, "ncclGetVersion"));
    if (get_version == nullptr) refuse("a library with the function ncclGetVersion", file + " without it");
    int number = 0;
    get_version(&number);
    version = "NCCL " + text_of(number);
    // An old library lacks some of the functions, so its version is checked before they are looked up.
    if (number < kLeastVersion) refuse("NCCL " + least_nccl_version() + " or newer", version);
#define RG_NCCL_FIND(name)                                                \
  name = reinterpret_cast<decltype(name)>(::dlsym(handle, "nccl" #name)); \
  if (name == nullptr) refuse("a library with the function nccl" #name, file + " without it");
    RG_NCCL_FUNCTIONS(RG_NCCL_FIND)
#undef RG_NCCL_FIND
  }

  [[noreturn]] static void refuse(std::string_view wanted, const std::string& got) {
    throw CommError(error_text("dist.nccl", "NCCL", wanted, got, kRemedy));
  }

  std::string version;
#define RG_NCCL_FUNCTION(name) decltype(&::nccl##name) name = nullptr;
  RG_NCCL_FUNCTIONS(RG_NCCL_FUNCTION)
#undef RG_NCCL_FUNCTION
};

const NcclLibrary& library() {
  static const NcclLibrary loaded;
  return loaded;
}

// Returns the configuration of a communicator that does not block. It gives only the fields of NCCL 2.14. The library
// takes all others from its own defaults, so its ncclConfig_t may be smaller or larger than this header's.
ncclConfig_t non_blocking() {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.size = offsetof(ncclConfig_t, blocking) + sizeof config.blocking;
  config.version = NCCL_VERSION(2, 14, 0);
  config.blocking = 0;
  return config;
}

class NcclGroup final : public NcclCalls {
 public:
  NcclGroup() = default;
  NcclGroup(const NcclGroup&) = delete;
  NcclGroup& operator=(const NcclGroup&) = delete;
  ~NcclGroup() override {
    ncclResult_t state = ncclInProgress;
    if (is_ending_ && nccl_.CommGetAsyncError(group_, &state) == ncclSuccess && state == ncclSuccess) {
      nccl_.CommDestroy(group_);
    } else {
      abort();
    }
  }
  [[nodiscard]] std::string_view version() const override { return nccl_.version; }
  [[nodiscard]] NcclId make_id() override {
    ncclUniqueId made;
    check(nccl_.GetUniqueId(&made), "id of the group");
    NcclId id{};
    static_assert(sizeof made == sizeof id);
    std::memcpy(id.data(), &made, sizeof made);
    return id;
  }
  void join(const NcclId& id, int rank, int size, runtime::Stream& stream) override {
    static_cast<void>(as_cuda(stream).launch_handle());  // sets the CUDA device of this thread
    ncclUniqueId name;
    std::memcpy(&name, id.data(), sizeof name);
    ncclConfig_t config = non_blocking();
    check(nccl_.CommInitRankConfig(&group_, size, name, rank, &config), "start of the group");
  }
  [[nodiscard]] bool is_idle() override {
    ncclResult_t state = ncclSuccess;
    check(nccl_.CommGetAsyncError(group_, &state), "state of the group");
    check(state, "work of the group");
    return state != ncclInProgress;
  }
  void all_reduce_mean(runtime::DeviceSpan<float> data, runtime::Stream& stream) override {
    check(nccl_.AllReduce(data.address, data.address, data.count, ncclFloat32, ncclAvg, group_,
                          as_cuda(stream).launch_handle()),
          "average of gradients");
  }
  void exchange(std::span<const NcclMessage> sends, std::span<const NcclMessage> receives,
                runtime::Stream& stream) override {
    const cudaStream_t queue = as_cuda(stream).launch_handle();
    ncclResult_t result = nccl_.GroupStart();
    const auto add = [&](const NcclMessage& message, auto call) {
      if (result != ncclSuccess && result != ncclInProgress) return;
      const std::size_t bytes = message.values.count * sizeof(std::uint16_t);
      result = call(message.values.address, bytes, ncclUint8, message.rank, group_, queue);
    };
    for (const NcclMessage& each : sends) add(each, nccl_.Send);
    for (const NcclMessage& each : receives) add(each, nccl_.Recv);
    const ncclResult_t ended = nccl_.GroupEnd();  // also after an error, because a group of calls must end
    check(result, "messages of gradients");
    check(ended, "messages of gradients");
  }
  void end() override {
    check(nccl_.CommFinalize(group_), "end of the group");
    is_ending_ = true;
  }
  void abort() noexcept override {
    if (group_ != nullptr) nccl_.CommAbort(std::exchange(group_, nullptr));
  }

 private:
  void check(ncclResult_t result, std::string_view what) const {
    if (result == ncclSuccess || result == ncclInProgress) return;
    throw CommError(error_text("dist.nccl", what, "no error",
                               std::string(nccl_.GetErrorString(result)) + ": " + nccl_.GetLastError(group_),
                               "NCCL_DEBUG=WARN for more messages, or --reduce auto"));
  }

  const NcclLibrary& nccl_ = library();
  ncclComm_t group_ = nullptr;
  bool is_ending_ = false;
};

}  // namespace

std::unique_ptr<NcclCalls> make_nccl_calls() { return std::make_unique<NcclGroup>(); }

std::string least_nccl_version() { return text_of(kLeastVersion); }

}  // namespace roentgen::dist
