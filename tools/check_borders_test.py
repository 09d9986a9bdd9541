# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Each rule of check_borders.py must find its offence and let the clean form pass. Run by `make lint`."""
import pathlib
import tempfile
import unittest

import check_borders

SPDX = "// SPDX-License-Identifier: Apache-2.0\n// SPDX-FileCopyrightText: The Roentgen authors\n//\n"


class CheckBorders(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for room in check_borders.ROOMS:
            self.write(f"{room}/a.h", "#pragma once\n")

    def write(self, path, text, spdx=SPDX):
        file = self.root / "src" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(spdx + text)

    def findings(self):
        return check_borders.check_sources(self.root)[0]

    def assert_finds(self, *words):
        found = self.findings()
        self.assertEqual(len(found), 1, found)
        for word in words:
            self.assertIn(word, found[0])

    def test_clean_tree_passes(self):
        self.write("train/b.cpp", '#include "engine/a.h"\n#include "core/a.h"\n#include <vector>\n')
        self.assertEqual(self.findings(), [])

    def test_edge_outside_the_table_is_found(self):
        self.write("core/b.cpp", '#include "io/a.h"\n')
        self.assert_finds("src/core/b.cpp", "io/a.h")

    def test_what_prints_past_the_terminal_is_found(self):
        self.write("cli/b_test.cpp", "void f() { std::printf(\"x\"); }\n")
        self.write("core/terminal.cpp", "void f() { std::fwrite(a, 1, 2, stdout); std::snprintf(a, 1, b); }\n")
        self.assertEqual(self.findings(), [])
        self.write("cli/b.cpp", 'void f() { fmt::print("{}", name); }\n')
        self.assert_finds("src/cli/b.cpp", "line 4 prints")

    def test_pointer_into_an_arena_above_the_engines_is_found(self):
        line = "float* f(Arena& arena) { return arena.device().address; }\n"
        for room in ("engine/cuda", "engine/plan", "dist"):
            self.write(f"{room}/b.cpp", line)
        self.assertEqual(self.findings(), [])
        for room in ("train", "eval", "cli", "bench"):
            with self.subTest(room=room):
                self.write(f"{room}/b.cpp", line)
                self.assert_finds(f"src/{room}/b.cpp", "line 4 points into an arena", "download()")
                self.write(f"{room}/b.cpp", "")

    def test_host_memory_of_an_arena_outside_engines_of_the_host_is_found(self):
        for path in ("engine/cpu/b.cpp", "engine/cpu/plan/b.h", "engine/reference/b.h", "engine/cuda/b_test.cpp",
                     "engine/plan/b_testing.h", "train/b_test.cpp"):
            self.write(path, "#pragma once\nfloat* f(Arena& arena) { return arena.host().data(); }\n")
        self.assertEqual(self.findings(), [])
        for line in ("float* f(Arena& arena) { return arena.host().data(); }\n",
                     "float* f(Arena* arena) { return arena->host().data(); }\n",
                     "float* f(DeviceSpan<float> span) { return span.host().data(); }\n"):
            for room in ("engine", "engine/plan", "engine/cuda", "dist", "train", "eval", "cli"):
                with self.subTest(room=room, line=line):
                    self.write(f"{room}/b.cpp", line)
                    self.assert_finds(f"src/{room}/b.cpp", "line 4 points into an arena", "device()")
                    self.write(f"{room}/b.cpp", "")

    def test_backend_in_the_plan_of_all_engines_is_found(self):
        self.write("engine/cpu/b.cpp", '#include "engine/plan/a.h"\nvoid avx2_kernel();\n')
        self.write("engine/plan/b.cpp", '#include "engine/a.h"\nvoid kernel(Addresses a, std::size_t alignment);\n')
        self.assertEqual(self.findings(), [])
        self.write("engine/plan/b.cpp", "void* f() { return make_cpu_device(); }\n")
        self.assert_finds("src/engine/plan/b.cpp", "line 4 names a backend")
        for name in ("// Order of oneDNN's kernels.", "dnnl::stream s;", "cudnnHandle_t h;", "cublas_gemm();",
                     "// Block of an AVX-512 kernel.", "bool has_amx();", "launch_on_gpu();", "omp_get_max_threads();"):
            with self.subTest(name=name):
                self.write("engine/plan/b.cpp", name + "\n")
                self.assert_finds("src/engine/plan/b.cpp", "line 4 names a backend")

    def test_plan_of_all_engines_includes_none(self):
        self.write("engine/plan/b.cpp", '#include "train/a.h"\n')
        self.assert_finds("src/engine/plan/b.cpp", "room engine/plan may include")

    def test_cpu_and_cuda_never_see_each_other(self):
        self.write("engine/cuda/b.cpp", '#include "engine/cpu/a.h"\n')
        self.assert_finds("engine/cpu/a.h")

    def test_only_an_engines_tests_see_models(self):
        self.write("engine/cpu/b_test.cpp", '#include "models/a.h"\n')
        self.assertEqual(self.findings(), [])
        self.write("engine/cpu/b.cpp", '#include "models/a.h"\n')
        self.assert_finds("src/engine/cpu/b.cpp", "models/a.h")

    def test_train_sees_engine_interfaces_only(self):
        self.write("train/b.cpp", '#include "engine/cpu/a.h"\n')
        self.assert_finds("engine/cpu/a.h")

    def test_backend_header_outside_its_room_is_found(self):
        self.write("train/b.cpp", "#include <oneapi/dnnl/dnnl.hpp>\n")
        self.assert_finds("dnnl.hpp", "engine/cpu/")

    def test_backend_header_in_its_room_passes(self):
        self.write("engine/cpu/b.h", "#pragma once\n#include <oneapi/dnnl/dnnl.hpp>\n")
        self.write("dist/nccl.cpp", "#include <cuda_runtime.h>\n")
        self.assertEqual(self.findings(), [])

    def test_mpi_header_is_found_in_any_room(self):
        self.write("dist/mpi.cpp", "#include <mpi.h>\n")
        self.assert_finds("src/dist/mpi.cpp", "mpi.h", "tests/mpi_abi/")

    def test_slow_header_in_two_files_is_found(self):
        self.write("io/json.cpp", "#include <nlohmann/json.hpp>\n")
        self.assertEqual(self.findings(), [])
        self.write("io/toml.cpp", "#include <nlohmann/json.hpp>\n")
        self.assert_finds("nlohmann/", "io/toml.cpp")

    def test_slow_header_in_a_header_is_found(self):
        self.write("core/log.h", "#pragma once\n#include <spdlog/spdlog.h>\n")
        self.assert_finds("spdlog/", "core/log.h")

    def test_parent_include_is_found(self):
        self.write("io/b.cpp", '#include "../core/a.h"\n')
        self.assert_finds("../core/a.h")

    def test_missing_file_is_found(self):
        self.write("io/b.cpp", '#include "core/none.h"\n')
        self.assert_finds("core/none.h")

    def test_missing_spdx_is_found(self):
        self.write("io/b.cpp", "", spdx="")
        self.assert_finds("SPDX")

    def test_missing_pragma_once_is_found(self):
        self.write("io/b.h", "")
        self.assert_finds("#pragma once")

    def test_header_of_highway_targets_has_its_own_guard(self):
        self.write("io/b-inl.h", "")
        self.assert_finds("HWY_TARGET_TOGGLE")
        self.write("io/b-inl.h", "#if defined(B_INL_H_) == defined(HWY_TARGET_TOGGLE)\n#endif\n")
        self.assertNotIn("pragma", str(self.findings()))

    def test_long_file_needs_a_reason(self):
        self.write("io/b.cpp", "\n" * 400)
        self.assert_finds("400 lines")
        self.write("io/b.cpp", "// Over 400 lines: one table.\n" + "\n" * 400)
        self.assertEqual(self.findings(), [])

    def test_too_many_conditions_are_found(self):
        self.write("io/b.cpp", "#if A\n#endif\n" * 3)
        self.assert_finds("#if", "io/b.cpp:4")

    def test_highways_own_conditions_do_not_count(self):
        self.write("engine/cpu/b.cpp", "#if HWY_ONCE\n#endif\n" * 3)
        self.assertEqual(self.findings(), [])

    def test_folder_that_is_no_room_is_found(self):
        self.write("util/b.cpp", "")
        self.assert_finds("util/b.cpp", "no room")


if __name__ == "__main__":
    unittest.main()
