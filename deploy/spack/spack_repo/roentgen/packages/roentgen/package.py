# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# Untested, because Spack was not available. Builds the sources of this checkout (../../../../spack.yaml).
# tools/dependencies_test.py compares the list of dependencies with that of tools/setup.sh.
from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Roentgen(CMakePackage):
    """Trains, evaluates and runs chest X-ray classifiers: program and C++ library. MPI is loaded at run time."""

    license("Apache-2.0")

    version("0.1.0")

    variant("dicom", default=True, description="Read DICOM files")

    generator("ninja")
    conflicts("%gcc@:11", msg="C++20 as of GCC 12")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("git", type="build")

    depends_on("cli11")
    depends_on("fmt")
    depends_on("highway@1:")
    depends_on("hwloc@2:")
    depends_on("isa-l")
    depends_on("libjpeg-turbo")
    depends_on("libspng@0.7:")
    depends_on("nlohmann-json")
    depends_on("onednn@2.6:2 cpu_runtime=omp")
    depends_on("openssl")
    depends_on("spdlog")
    depends_on("tomlplusplus")
    depends_on("xxhash")
    depends_on("zlib-api")
    depends_on("dcmtk@3.6:", when="+dicom")
    depends_on("openjpeg@2.5:", when="+dicom")

    def cmake_args(self):
        return [
            self.define_from_variant("RG_DICOM", "dicom"),
            self.define("RG_CUDA", False),
            self.define("RG_PYTHON_PACKAGE", False),
            self.define("RG_TESTS", False),
            self.define("RG_WERROR", False),
        ]
