# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# Finds oneDNN (libdnnl) without its own package file, which on Debian demands OpenCL. Gives Dnnl::Dnnl.
find_path(DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.hpp)
find_library(DNNL_LIBRARY dnnl)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Dnnl REQUIRED_VARS DNNL_LIBRARY DNNL_INCLUDE_DIR)
if(Dnnl_FOUND AND NOT TARGET Dnnl::Dnnl)
  add_library(Dnnl::Dnnl UNKNOWN IMPORTED)
  set_target_properties(Dnnl::Dnnl PROPERTIES IMPORTED_LOCATION ${DNNL_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${DNNL_INCLUDE_DIR})
endif()
