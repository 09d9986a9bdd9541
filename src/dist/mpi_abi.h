// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Binary interfaces of MPI libraries: types, constants and functions that dist/mpi.cpp uses, declared without mpi.h. So
// one program works with any installed MPI (docs/adr/0026). tests/mpi_abi compares this file with the mpi.h of each
// installed MPI. Only for dist/mpi.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "dist/mpi_library.h"

namespace roentgen::dist {

/// Open MPI 3 to 5 (libmpi.so.40). Handles are pointers; predefined ones point to objects of the library.
struct OpenMpiAbi {
  using Handle = void*;
  static constexpr int kCommTypeShared = 0;     ///< MPI_COMM_TYPE_SHARED
  static constexpr int kModeNoCheck = 1;        ///< MPI_MODE_NOCHECK
  static constexpr std::intptr_t kInPlace = 1;  ///< MPI_IN_PLACE
};

/// MPICH 3.1 and later, Intel MPI, MVAPICH and Cray MPICH (libmpi.so.12; mpich.org/abi). Handles are numbers.
struct MpichAbi {
  using Handle = int;
  static constexpr int kCommTypeShared = 1;      ///< MPI_COMM_TYPE_SHARED
  static constexpr int kModeNoCheck = 1024;      ///< MPI_MODE_NOCHECK
  static constexpr std::intptr_t kInPlace = -1;  ///< MPI_IN_PLACE
};

// Values that are equal in both interfaces.
inline constexpr int kMpiSuccess = 0;         ///< MPI_SUCCESS
inline constexpr int kMpiThreadFunneled = 1;  ///< MPI_THREAD_FUNNELED
/// Size of a buffer for MPI texts: largest MPI_MAX_LIBRARY_VERSION_STRING or MPI_MAX_ERROR_STRING of all libraries.
inline constexpr std::size_t kMpiTextBytes = 8192;
/// Size of a buffer for a host name: largest MPI_MAX_PROCESSOR_NAME of all libraries.
inline constexpr int kMpiHostBytes = 256;

/// Memory for an MPI_Status of either interface; only MPI_Get_count() reads it.
struct MpiStatus {
  alignas(8) std::byte bytes[24];
};

/// List of predefined handles: X(member, MPI constant, symbol in Open MPI's library, number in MPICH's interface).
#define RG_MPI_HANDLES(X)                                                   \
  X(world, MPI_COMM_WORLD, "ompi_mpi_comm_world", 0x44000000)               \
  X(no_request, MPI_REQUEST_NULL, "ompi_request_null", 0x2c000000)          \
  X(no_info, MPI_INFO_NULL, "ompi_mpi_info_null", 0x1c000000)               \
  X(errors_return, MPI_ERRORS_RETURN, "ompi_mpi_errors_return", 0x54000001) \
  X(byte, MPI_BYTE, "ompi_mpi_byte", 0x4c00010d)                            \
  X(float32, MPI_FLOAT, "ompi_mpi_float", 0x4c00040a)                       \
  X(float64, MPI_DOUBLE, "ompi_mpi_double", 0x4c00080b)                     \
  X(int64, MPI_INT64_T, "ompi_mpi_int64_t", 0x4c00083a)                     \
  X(sum, MPI_SUM, "ompi_mpi_op_sum", 0x58000003)                            \
  X(replace, MPI_REPLACE, "ompi_mpi_op_replace", 0x5800000d)

/// List of MPI functions: X(name without the prefix MPI_, parameter types). `Handle` is the handle type of the
/// interface.
#define RG_MPI_FUNCTIONS(X)                                                         \
  X(Init_thread, (int*, char***, int, int*))                                        \
  X(Initialized, (int*))                                                            \
  X(Finalize, ())                                                                   \
  X(Error_string, (int, char*, int*))                                               \
  X(Get_processor_name, (char*, int*))                                              \
  X(Comm_dup, (Handle, Handle*))                                                    \
  X(Comm_free, (Handle*))                                                           \
  X(Comm_rank, (Handle, int*))                                                      \
  X(Comm_size, (Handle, int*))                                                      \
  X(Comm_split, (Handle, int, int, Handle*))                                        \
  X(Comm_split_type, (Handle, int, int, Handle, Handle*))                           \
  X(Comm_set_errhandler, (Handle, Handle))                                          \
  X(Allgather, (const void*, int, Handle, void*, int, Handle, Handle))              \
  X(Barrier, (Handle))                                                              \
  X(Ibcast, (void*, int, Handle, int, Handle, Handle*))                             \
  X(Iallreduce, (const void*, void*, int, Handle, Handle, Handle, Handle*))         \
  X(Iallgather, (const void*, int, Handle, void*, int, Handle, Handle, Handle*))    \
  X(Ireduce, (const void*, void*, int, Handle, Handle, int, Handle, Handle*))       \
  X(Iscatter, (const void*, int, Handle, void*, int, Handle, int, Handle, Handle*)) \
  X(Igather, (const void*, int, Handle, void*, int, Handle, int, Handle, Handle*))  \
  X(Ialltoall, (const void*, int, Handle, void*, int, Handle, Handle, Handle*))     \
  X(Ibarrier, (Handle, Handle*))                                                    \
  X(Isend, (const void*, int, Handle, int, int, Handle, Handle*))                   \
  X(Irecv, (void*, int, Handle, int, int, Handle, Handle*))                         \
  X(Test, (Handle*, int*, MpiStatus*))                                              \
  X(Wait, (Handle*, MpiStatus*))                                                    \
  X(Get_count, (const MpiStatus*, Handle, int*))                                    \
  X(Win_allocate, (std::ptrdiff_t, int, Handle, Handle, void*, Handle*))            \
  X(Win_free, (Handle*))                                                            \
  X(Win_lock_all, (int, Handle))                                                    \
  X(Win_unlock_all, (Handle))                                                       \
  X(Win_sync, (Handle))                                                             \
  X(Rget, (void*, int, Handle, int, std::ptrdiff_t, int, Handle, Handle, Handle*))  \
  X(Rget_accumulate,                                                                \
    (const void*, int, Handle, void*, int, Handle, int, std::ptrdiff_t, int, Handle, Handle, Handle, Handle*))

/// Functions and predefined handles of a loaded library. A call costs one jump through a pointer, as for a linked
/// library.
template <typename Abi>
struct MpiFunctions {
  using Handle = typename Abi::Handle;  ///< any MPI object

  /// Looks up all functions and handles in the library. Throws CommError that names a missing symbol.
  explicit MpiFunctions(const MpiLibrary& library) {
#define RG_MPI_FIND_HANDLE(name, theirs, object, number) name = handle(library, object, number);
    RG_MPI_HANDLES(RG_MPI_FIND_HANDLE)
#undef RG_MPI_FIND_HANDLE
#define RG_MPI_FIND_FUNCTION(name, parameters) name = reinterpret_cast<decltype(name)>(library.symbol("MPI_" #name));
    RG_MPI_FUNCTIONS(RG_MPI_FIND_FUNCTION)
#undef RG_MPI_FIND_FUNCTION
  }

#define RG_MPI_HANDLE(name, theirs, object, number) Handle name{};
  RG_MPI_HANDLES(RG_MPI_HANDLE)
#undef RG_MPI_HANDLE
#define RG_MPI_FUNCTION(name, parameters) int(*name) parameters = nullptr;
  RG_MPI_FUNCTIONS(RG_MPI_FUNCTION)
#undef RG_MPI_FUNCTION

 private:
  static Handle handle(const MpiLibrary& library, const char* object, int number) {
    if constexpr (std::is_pointer_v<Handle>) {
      return library.symbol(object);
    } else {
      return number;
    }
  }
};

}  // namespace roentgen::dist
