# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""ReFrame test of Roentgen: training speed of a node.

  reframe -c deploy/reframe/roentgen.py -r --performance-report -S RoentgenStep.program=/opt/roentgen/bin/roentgen

It runs on every system of ReFrame's configuration. Sites derive a class from it that sets `reference`.
"""
import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import parameter, performance_function, run_before, sanity_function, variable


@rfm.simple_test
class RoentgenStep(rfm.RunOnlyRegressionTest):
    """Whole training steps on random images. The program fails if a loss is not finite."""

    descr = "Training steps of Roentgen on random images"
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    program = variable(str, value="roentgen")
    model = parameter(["resnet50", "densenet121"])
    batch = variable(int, value=16)
    steps = variable(int, value=20)
    device = variable(str, value="auto")

    @run_before("run")
    def set_command(self):
        self.executable = self.program
        self.executable_opts = ["bench", "step", "--model", self.model, "--batch", str(self.batch), "--steps",
                                str(self.steps), "--device", self.device, "--ledger", "records", "--json",
                                "result.json"]
        self.keep_files = ["result.json", "records"]

    @sanity_function
    def has_a_result(self):
        return sn.assert_found(r'"checksum": "[0-9a-f]{16}"', "result.json")

    @performance_function("images/s")
    def speed(self):
        return sn.extractsingle(r'"images_per_s": ([0-9.e+-]+)', "result.json", 1, float)
