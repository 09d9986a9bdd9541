// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Compares dist/mpi_abi.h with the mpi.h of an installed MPI. Compiled once for each MPI, with RG_ABI naming the
// interface. No MPI is linked.
#include "dist/mpi_abi.h"

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <type_traits>

// Replaces Open MPI's predefined handles, which are addresses of its objects, by the names of these objects.
#ifdef OMPI_PREDEFINED_GLOBAL
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, object) #object
#endif

namespace roentgen::dist {
namespace {

using Abi = RG_ABI;
using Handle = Abi::Handle;

// True for parameters that a call passes in the same way: equal sizes, and both pointers or both numbers.
template <typename A, typename B>
constexpr bool kIsPassedAlike = sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B>;

template <typename A, typename B>
constexpr bool kIsCalledAlike = false;
template <typename... A, typename... B>
requires(sizeof...(A) ==
         sizeof...(B)) constexpr bool kIsCalledAlike<int (*)(A...), int (*)(B...)> = (kIsPassedAlike<A, B> && ...);

TEST(MpiAbi, calls_functions_as_the_header_declares_them) {
#define RG_CHECK_FUNCTION(name, parameters) \
  static_assert(kIsCalledAlike<decltype(&::MPI_##name), decltype(MpiFunctions<Abi>::name)>, #name);
  RG_MPI_FUNCTIONS(RG_CHECK_FUNCTION)
#undef RG_CHECK_FUNCTION
}

TEST(MpiAbi, has_the_predefined_handles_of_the_header) {
  const auto is_same = [](auto theirs, [[maybe_unused]] const char* object, [[maybe_unused]] int number) {
    if constexpr (std::is_pointer_v<Handle>) {
      return std::string(theirs) == object;
    } else {
      return theirs == number;
    }
  };
#define RG_CHECK_HANDLE(name, theirs, object, number) EXPECT_TRUE(is_same(theirs, object, number)) << #theirs;
  RG_MPI_HANDLES(RG_CHECK_HANDLE)
#undef RG_CHECK_HANDLE
}

TEST(MpiAbi, has_the_constants_of_the_header) {
  EXPECT_EQ(Abi::kCommTypeShared, MPI_COMM_TYPE_SHARED);
  EXPECT_EQ(Abi::kModeNoCheck, MPI_MODE_NOCHECK);
  EXPECT_EQ(Abi::kInPlace, reinterpret_cast<std::intptr_t>(MPI_IN_PLACE));
  EXPECT_EQ(kMpiSuccess, MPI_SUCCESS);
  EXPECT_EQ(kMpiThreadFunneled, MPI_THREAD_FUNNELED);
}

TEST(MpiAbi, has_room_for_what_the_library_writes) {
  EXPECT_GE(sizeof(MpiStatus), sizeof(MPI_Status));
  EXPECT_GE(alignof(MpiStatus), alignof(MPI_Status));
  EXPECT_GE(kMpiTextBytes, MPI_MAX_LIBRARY_VERSION_STRING);
  EXPECT_GE(kMpiTextBytes, MPI_MAX_ERROR_STRING);
  EXPECT_GE(kMpiHostBytes, MPI_MAX_PROCESSOR_NAME);
  EXPECT_EQ(sizeof(MPI_Aint), sizeof(std::ptrdiff_t));
}

}  // namespace
}  // namespace roentgen::dist
