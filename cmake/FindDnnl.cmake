# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# Finds oneDNN (libdnnl) without its own package file, which requires OpenCL on Debian. Defines Dnnl::Dnnl and
# Dnnl_VERSION. Version 3 has another interface, so it is rejected here instead of by compiler errors.
find_path(DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.hpp)
find_library(DNNL_LIBRARY dnnl)
set(Dnnl_VERSION "")
if(DNNL_INCLUDE_DIR)
  file(STRINGS ${DNNL_INCLUDE_DIR}/oneapi/dnnl/dnnl_version.h numbers REGEX "DNNL_VERSION_(MAJOR|MINOR|PATCH) ")
  string(REGEX MATCHALL "[0-9]+" numbers "${numbers}")
  list(JOIN numbers "." Dnnl_VERSION)
endif()
if(Dnnl_VERSION AND (Dnnl_VERSION VERSION_LESS 2.6 OR NOT Dnnl_VERSION VERSION_LESS 3))
  message(FATAL_ERROR "[cmake.dnnl] ${DNNL_INCLUDE_DIR}: expected oneDNN of at least 2.6 and below 3, "
    "got ${Dnnl_VERSION}; try -DDNNL_INCLUDE_DIR=DIR and -DDNNL_LIBRARY=FILE of another")
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Dnnl REQUIRED_VARS DNNL_LIBRARY DNNL_INCLUDE_DIR VERSION_VAR Dnnl_VERSION)
if(Dnnl_FOUND AND NOT TARGET Dnnl::Dnnl)
  add_library(Dnnl::Dnnl UNKNOWN IMPORTED)
  set_target_properties(Dnnl::Dnnl PROPERTIES IMPORTED_LOCATION ${DNNL_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${DNNL_INCLUDE_DIR})
endif()
