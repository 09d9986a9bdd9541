# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# Debian packages by CPack (make deb): roentgen, libroentgen0.1 and libroentgen-dev, one for each component of an
# installation (cmake/library.cmake). Dependencies come from dpkg-shlibdeps. MPI is only suggested: the program starts
# without MPI, and loads the machine's MPI library for several processes.

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME roentgen)
set(CPACK_PACKAGE_CONTACT "The Roentgen authors <roentgen@noreply.invalid>" CACHE STRING "Maintainer of packages")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program library development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY >=)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(library_package libroentgen${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME roentgen)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "openmpi-bin | mpich")
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION "train, evaluate and run chest X-ray classifiers
From image files on disk to a table of AUROCs with intervals.
A research tool, not a medical device.")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${library_package})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
file(WRITE ${PROJECT_BINARY_DIR}/debian/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/debian/triggers)
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "chest X-ray classifiers, shared library
The library that programs linked with roentgen need when they run.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libroentgen-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${library_package} (= ${PROJECT_VERSION})")
# Packages that the static library needs. tools/dependencies_test.py compares the list with that of tools/setup.sh.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "libdcmtk-dev, libdnnl-dev, libfmt-dev, libhwloc-dev, \
libhwy-dev, libisal-dev, libopenjp2-7-dev, libspdlog-dev, libspng-dev, libssl-dev, libtomlplusplus-dev, \
libturbojpeg0-dev, libxxhash-dev, zlib1g-dev")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "chest X-ray classifiers, development files
Headers, the static library, and the package that CMake's
find_package(roentgen) reads.")

# Documents that Debian requires in each package.
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian_documents.cmake)
include(CPack)
