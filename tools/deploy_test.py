# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""What the job scripts in deploy/ do when a run ends, with stand-ins for mpirun, srun and the schedulers. Run by `make lint`."""
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Stands for mpirun: says its arguments, and ends with 3 on SIGUSR1, as a run that was stopped does.
RUN = """#!/bin/bash
printf '%s|' "$@" >>"$LOG"
trap 'exit 3' USR1
[[ $RUN == endless ]] || exit "$RUN"
while :; do read -rt 0.05 <><(:); done
"""
QUEUE = """#!/bin/bash
printf '%s|' queued "$@" >>"$LOG"
"""


class Deploy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name, text in (("mpirun", RUN), ("srun", RUN), ("qsub", QUEUE), ("scontrol", QUEUE)):
            (self.folder / name).write_text(text)
            (self.folder / name).chmod(0o755)
        self.words = ["--set", "data.labels=[\"a\",\"b\"]", "--out", "a run"]
        (self.folder / "run.args").write_text("\n".join(self.words) + "\n")

    def submit(self, script, *words, run):
        environment = {"PATH": f"{self.folder}:{os.environ['PATH']}", "LOG": str(self.folder / "log"), "RUN": run,
                       "PBS_O_WORKDIR": str(self.folder), "ARGUMENTS_FILE": "run.args", "RUN_SECONDS": "0.3",
                       "SLURM_JOB_ID": "7"}
        ended = subprocess.run([ROOT / "deploy" / script, *words], capture_output=True, text=True, check=False,
                               env=environment)
        return ended.returncode, (self.folder / "log").read_text()

    def test_pbs_saves_before_the_walltime_and_queues_again(self):
        status, log = self.submit("pbs.sh", run="endless")
        self.assertEqual(status, 3)
        self.assertIn("|train|--resume|" + "|".join(self.words) + "|", log)
        self.assertIn("queued|-v|ARGUMENTS_FILE=run.args|", log)

    def test_pbs_leaves_what_has_ended(self):
        for run in ("0", "2"):
            status, log = self.submit("pbs.sh", run=run)
            self.assertEqual(status, int(run))
            self.assertNotIn("queued", log)

    def test_slurm_queues_again_what_was_stopped(self):
        status, log = self.submit("slurm.sh", *self.words, run="3")
        self.assertEqual(status, 3)
        self.assertIn("|train|--resume|" + "|".join(self.words) + "|", log)
        self.assertIn("queued|requeue|7|", log)


if __name__ == "__main__":
    unittest.main()
