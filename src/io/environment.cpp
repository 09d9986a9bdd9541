// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/environment.h"

#include <gnu/libc-version.h>
#include <openssl/crypto.h>
#include <sched.h>
#include <spng.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "build_info.h"  // cmake/build_info.cmake writes it into the build folder

namespace roentgen::io {
namespace {
/// Instruction sets that determine which kernels run, as /proc/cpuinfo spells them.
constexpr std::array<std::string_view, 12> kFlags{"sse4_2",      "avx2",     "fma",         "f16c",
                                                  "avx512f",     "avx512bw", "avx512_vnni", "avx512_bf16",
                                                  "avx512_fp16", "avx_vnni", "amx_bf16",    "amx_int8"};
/// Variables that change threads or kernels and contain numbers or plain words. Other variables of these families
/// contain paths.
constexpr std::array<std::string_view, 25> kVariables{"DNNL_CPU_ISA_HINTS",    "DNNL_DEFAULT_FPMATH_MODE",
                                                      "DNNL_MAX_CPU_ISA",      "DNNL_PRIMITIVE_CACHE_CAPACITY",
                                                      "DNNL_VERBOSE",          "GOMP_CPU_AFFINITY",
                                                      "GOMP_SPINCOUNT",        "GOMP_STACKSIZE",
                                                      "KMP_AFFINITY",          "KMP_BLOCKTIME",
                                                      "ONEDNN_CPU_ISA_HINTS",  "ONEDNN_DEFAULT_FPMATH_MODE",
                                                      "ONEDNN_MAX_CPU_ISA",    "ONEDNN_VERBOSE",
                                                      "OMP_CANCELLATION",      "OMP_DYNAMIC",
                                                      "OMP_MAX_ACTIVE_LEVELS", "OMP_NESTED",
                                                      "OMP_NUM_THREADS",       "OMP_PLACES",
                                                      "OMP_PROC_BIND",         "OMP_SCHEDULE",
                                                      "OMP_STACKSIZE",         "OMP_THREAD_LIMIT",
                                                      "OMP_WAIT_POLICY"};

/// Text after the colon in the first line of /proc/cpuinfo that starts with `key`.
std::string cpuinfo(std::string_view key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with(key) && colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
}

Value positive(long count) { return count > 0 ? Value(count) : Value(); }

/// Number of cores that this process may use. The mask grows until it is as large as the kernel's, because machines can
/// have over 1,024 cores.
Value affinity_cores() {
  for (std::size_t sets = 1; sets <= 64; sets *= 2) {
    std::vector<cpu_set_t> mask(sets);
    if (::sched_getaffinity(0, sets * sizeof(cpu_set_t), mask.data()) == 0) {
      return CPU_COUNT_S(sets * sizeof(cpu_set_t), mask.data());
    }
  }
  return {};
}

Value cpu_report() {
  const std::string model = cpuinfo("model name");
  const std::string flags = " " + cpuinfo("flags") + " ";
  Value present = Value::array();
  for (const std::string_view flag : kFlags) {
    if (flags.find(" " + std::string(flag) + " ") != std::string::npos) present.push_back(flag);
  }
  Value report = Value::table();
  report.set("model", model.empty() ? Value() : Value(model));
  report.set("logical_cores", positive(::sysconf(_SC_NPROCESSORS_ONLN)));
  report.set("affinity_cores", affinity_cores());
  report.set("flags", std::move(present));
  return report;
}

Value memory_bytes() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page_bytes = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page_bytes > 0 ? Value(pages * page_bytes) : Value();
}

Value kernel_report() {
  Value report = Value::table();
  struct utsname names {};
  if (::uname(&names) != 0) return {};
  report.set("name", names.sysname);
  report.set("release", names.release);
  report.set("machine", names.machine);
  return report;
}

/// True if a value contains only numbers, words and lists ("{0,1}:4", "granularity=fine"), so it is no path and no
/// address.
bool is_plain(std::string_view value) {
  return std::ranges::all_of(value, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("_+-=.,:{}() ").find(c) != std::string_view::npos;
  });
}

Value variables_report() {
  Value report = Value::table();
  for (const std::string_view name : kVariables) {
    const char* value = std::getenv(std::string(name).c_str());
    if (value != nullptr && is_plain(value)) report.set(name, value);
  }
  return report;
}

Value libraries_report() {
  const unsigned xxhash = ::XXH_versionNumber();
  Value report = Value::table();
  report.set("glibc", ::gnu_get_libc_version());
  for (const auto& [name, version] : build_info::kLibraries) {
    report.set(name, *version == '\0' ? Value() : Value(version));
  }
  report.set("openssl", ::OpenSSL_version(OPENSSL_VERSION_STRING));
  report.set("spng", ::spng_version_string());
  report.set("xxhash", std::to_string(xxhash / 10000) + "." + std::to_string(xxhash / 100 % 100) + "." +
                           std::to_string(xxhash % 100));
  return report;
}

std::string compiler() {
#ifdef __clang__
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}
}  // namespace

std::string_view program_version() { return build_info::kVersion; }
std::string_view program_commit() { return build_info::kCommit; }

Value environment_report() {
  Value program = Value::table();
  program.set("version", program_version());
  program.set("commit", program_commit());
  program.set("compiler", compiler());
  program.set("build_type", build_info::kBuildType);
  Value report = Value::table();
  report.set("program", std::move(program));
  report.set("cpu", cpu_report());
  report.set("memory_bytes", memory_bytes());
  report.set("kernel", kernel_report());
  report.set("variables", variables_report());
  report.set("libraries", libraries_report());
  return report;
}

}  // namespace roentgen::io
