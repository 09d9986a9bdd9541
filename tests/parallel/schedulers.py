# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Trainings under schedulers and launchers: `schedulers.py PROGRAM mpich|pbs|slurm`. Exit code 77 where one is not installed.

mpich: MPICH's launcher hydra.
pbs: the job script deploy/pbs.sh with the variables of a job, and fakes of qsub and qstat.
slurm: a cluster of this one node, made in a temporary folder (munge, slurmctld, slurmd), and real jobs in it.
"""
import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

from slurm_cluster import Cluster, find_daemon, look_again

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = ""
SKIPPED = 77
NET = """graph "tiny"
input image (N, C, S, S)
conv1 = conv2d(image, out=8, kernel=3x3, stride=2x2, pad=1x1, bias=no)
norm1 = batch_norm(conv1)
relu1 = relu(norm1)
pool = global_avg_pool(relu1)
flat = flatten(pool)
fc = linear(flat, out=K)
output logits = fc
"""
RECIPE = """[preprocess]
size = 32
[train]
epochs = 3
batch = 4
threads = 1
checkpoint_steps = 2
[optimizer]
lr = 0.01
"""
LONG = ["--set", "train.epochs=200"]
HOST = ["--device", "cpu"]  # although the node has "GPUs"


class Workplace(unittest.TestCase):
    """A folder with images and a recipe; jobs train into it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="rgjob")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "net.txt").write_text(NET)
        (self.folder / "recipe.toml").write_text(RECIPE)
        self.environment = {**os.environ, "OMP_NUM_THREADS": "1", "ROENTGEN": PROGRAM}
        for name in [name for name in self.environment if name.startswith(("SLURM_", "PBS_", "PMI", "OMPI_"))]:
            del self.environment[name]
        self.run_program("synth", self.folder / "data", "--images", "80", "--size", "32", "--seed", "1")

    def words(self, out, *more):
        return [str(word) for word in ("--recipe", self.folder / "recipe.toml", "--model", self.folder / "net.txt", "--data",
                                       self.folder / "data", "--out", self.folder / out, "--oversubscribe", *more)]

    def run_program(self, *words):
        return self.check([PROGRAM, *map(str, words)])

    def call(self, words, **more):
        return subprocess.run(words, capture_output=True, text=True, check=False, cwd=self.folder,
                              env={**self.environment, **more})

    def check(self, words, **more):
        ended = self.call(words, **more)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        return ended

    def tensors(self, out):
        """Bytes after the header. Only the header may differ."""
        data = (self.folder / out / "checkpoints/resume.safetensors").read_bytes()
        self.assertGreater(len(data), 1000)
        return data[8 + int.from_bytes(data[:8], "little"):]

    def assert_same_bits(self, left, right):
        self.assertTrue(self.tensors(left) == self.tensors(right), f"{left} and {right} have other weights")

    def wait_for_updates(self, out, count, alive=lambda: True):
        log = self.folder / out / "log.jsonl"
        while not log.exists() or log.read_text().count('"loss"') < count:
            self.assertTrue(alive(), f"{out} ended before update {count}\n" + "".join(
                path.read_text() for path in self.folder.glob("job.out")))
            look_again()


class Mpich(Workplace):
    NEEDED = ("mpiexec.hydra",)

    def test_hydra_trains_as_one_group(self):
        self.check(["mpiexec.hydra", "-n", "2", PROGRAM, "train", *self.words("job")])
        libraries = json.loads((self.folder / "job/environment.json").read_text())["libraries"]
        self.assertIn("MPICH", libraries["mpi"])
        self.run_program("train", *self.words("plain", "--ranks", "2"))
        self.assert_same_bits("job", "plain")

    def test_open_mpi_under_hydra_is_refused_by_name(self):
        refused = self.call(["mpiexec.hydra", "-n", "2", PROGRAM, "train", *self.words("job")], ROENTGEN_MPI="openmpi")
        if "expected an MPI library on this machine" in refused.stderr:
            self.skipTest("Open MPI is not installed")
        self.assertIn("[cli.launch] mpiexec (hydra): expected MPICH, which supports PMI, got Open MPI", refused.stderr)
        self.assertFalse((self.folder / "job").exists())


class Pbs(Workplace):
    NEEDED = ()

    def submit(self, *words, **more):
        """Runs the job script on this node, as the first of a job with two processes here."""
        (self.folder / "bin").mkdir(exist_ok=True)
        for name, text in (("qsub", f"#!/bin/sh\necho queued \"$@\" >>{self.folder}/queue\n"), ("qstat", "#!/bin/sh\nexit 1\n")):
            (self.folder / "bin" / name).write_text(text)
            (self.folder / "bin" / name).chmod(0o755)
        (self.folder / "nodes").write_text(f"{socket.gethostname()}\n" * 2)
        (self.folder / "run.args").write_text("\n".join(words) + "\n")
        return self.call(["bash", str(ROOT / "deploy/pbs.sh")], PATH=f"{self.folder}/bin:{os.environ['PATH']}",
                         PBS_NODEFILE=str(self.folder / "nodes"), PBS_O_WORKDIR=str(self.folder), PBS_JOBID="7.pbs",
                         ARGUMENTS_FILE="run.args", **more)

    def test_trains_to_the_end_on_one_node(self):
        ended = self.submit(*self.words("job"))
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertFalse((self.folder / "queue").exists())
        self.run_program("train", *self.words("plain", "--ranks", "2"))
        self.assert_same_bits("job", "plain")

    def test_saves_before_the_walltime_and_goes_on_to_the_same_bits(self):
        starts = 0
        while not (ended := self.submit(*self.words("job", *LONG), RUN_SECONDS="5")).returncode == 0:
            self.assertEqual(ended.returncode, 3, ended.stderr)
            starts += 1
            self.assertEqual((self.folder / "queue").read_text().count("queued -v ARGUMENTS_FILE=run.args"), starts)
        self.run_program("train", *self.words("plain", "--ranks", "2", *LONG))
        self.assert_same_bits("job", "plain")


class Slurm(Workplace):
    NEEDED = ("munged", "slurmctld", "slurmd", "sbatch")
    cluster = None

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        cls.addClassCleanup(cls.cluster.close)
        cls.cluster.start()

    def setUp(self):
        super().setUp()
        self.environment.update(self.cluster.environment)

    def srun(self, out, *words, more=(), **variables):
        return self.call(["srun", "--ntasks=2", *words, PROGRAM, "train", *self.words(out, *more)], **variables)

    def submit(self, *words, **variables):
        """Queues a job. Returns its id."""
        return self.check(["sbatch", "--parsable", f"--output={self.folder}/job.out", *words], **variables).stdout.strip()

    def bin(self, name, text):
        """Writes a program that jobs run instead of the one with this name. Returns PATH for it."""
        (self.folder / "bin").mkdir(exist_ok=True)
        (self.folder / "bin" / name).write_text("#!/bin/bash\n" + text)
        (self.folder / "bin" / name).chmod(0o755)
        return f"{self.folder}/bin:{os.environ['PATH']}"

    def rank(self, out, number):
        """Process id of one of two ranks that train into `out`."""
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                words = (process / "cmdline").read_bytes().decode().split("\0")
                variables = (process / "environ").read_bytes().decode().split("\0")
                if words[0] == PROGRAM and str(self.folder / out) in words and f"SLURM_PROCID={number}" in variables and \
                        "SLURM_STEP_NUM_TASKS=2" in variables:
                    return int(process.name)
        raise AssertionError(f"no rank {number} trains into {out}")

    def state(self, job):
        return self.check(["scontrol", "show", "job", job]).stdout

    def is_alive(self, job):
        return not any(f"JobState={end}" in self.state(job) for end in ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT"))

    def wait_for_end(self, job):
        """Waits for a job. A job that was queued again starts when the node is free, instead of after two minutes.

        It starts in a later second than the one in which it ended: slurmd refuses credentials that are not newer. It also
        starts after the daemons of its ended step, which have up to 4 s. Otherwise they end the new step, too.
        """
        is_moved = False
        while self.is_alive(job):
            is_idle = self.check(["sinfo", "--noheader", "--format=%T"]).stdout.strip() == "idle"
            has_daemons = self.call(["pgrep", "--full", rf"slurmstepd: \[{job}\."]).returncode == 0
            if not is_moved and is_idle and not has_daemons and "Reason=BeginTime" in self.state(job):
                self.call(["scontrol", "update", f"JobId={job}", "StartTime=now+2"])
                is_moved = True
            look_again()
        self.assertIn("JobState=COMPLETED", self.state(job), (self.folder / "job.out").read_text() + self.state(job))

    def own_job(self, out):
        """Queues a batch script that starts two ranks. Returns the job's id."""
        script = self.folder / "job.sh"
        script.write_text("#!/bin/bash\nexec srun --mpi=pmix --ntasks=2 \"$ROENTGEN\" train --resume \"$@\"\n")
        return self.submit("--ntasks=2", "--requeue", "--open-mode=append", str(script), *self.words(out, *LONG))

    def test_srun_with_pmix_trains_as_one_group(self):
        ended = self.srun("job", "--mpi=pmix")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.run_program("train", *self.words("plain", "--ranks", "2"))
        self.assert_same_bits("job", "plain")

    def test_ranks_know_the_cores_that_srun_gave_them(self):
        for kind, library in (("pmix", "openmpi"), ("pmi2", "mpich")):
            with self.subTest(kind):
                ended = self.srun(f"{kind}-map", f"--mpi={kind}", "--cpus-per-task=1", "--cpu-bind=cores", more=["--verbose"],
                                  ROENTGEN_MPI=library)
                if "expected an MPI library on this machine" in ended.stderr:
                    self.skipTest(f"{library} is not installed: tools/setup.sh --schedulers")
                self.assertEqual(ended.returncode, 0, ended.stderr)
                cores = re.search(r"ranks: 0 on \S+ cores (\S+); 1 on \S+ cores (\S+)", ended.stderr)
                self.assertIsNotNone(cores, ended.stderr)
                self.assertNotEqual(cores[1], cores[2])
                # The cores are the rank's own, but too few.
                refused = self.srun(f"{kind}-refused", f"--mpi={kind}", "--cpus-per-task=1", "--cpu-bind=cores",
                                    more=["--comm-threads", "1"], ROENTGEN_MPI=library)
                self.assertIn("--comm-threads 1: expected at least two cores for the rank", refused.stderr)

    def test_srun_without_mpi_is_refused(self):
        ended = self.srun("job", "--mpi=none")
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("[cli.launch] SLURM_STEP_NUM_TASKS=2: expected a group of 2 processes", ended.stderr)
        self.assertFalse((self.folder / "job").exists())

    def test_srun_with_pmi2_takes_mpich_and_refuses_open_mpi_by_name(self):
        refused = self.srun("job", "--mpi=pmi2", ROENTGEN_MPI="openmpi")
        if "an MPI library" not in refused.stderr:  # it is installed
            self.assertIn("[cli.launch] srun --mpi=pmi2: expected MPICH, which supports PMI2, got Open MPI", refused.stderr)
            self.assertFalse((self.folder / "job").exists())
        ended = self.srun("job", "--mpi=pmi2", ROENTGEN_MPI="mpich")
        if "expected an MPI library on this machine" in ended.stderr:
            self.skipTest("MPICH is not installed: tools/setup.sh --schedulers")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.run_program("train", *self.words("plain", "--ranks", "2"))
        self.assert_same_bits("job", "plain")

    def test_a_job_that_the_scheduler_queues_again_goes_on_to_the_same_bits(self):
        job = self.own_job("job")
        self.wait_for_updates("job", 10, lambda: self.is_alive(job))
        self.check(["scontrol", "requeue", job])
        self.wait_for_end(job)
        self.assertIn("Restarts=1", self.state(job))
        self.assertIn("resumed at step ", (self.folder / "job.out").read_text())
        self.run_program("train", *self.words("plain", "--ranks", "2", *LONG))
        self.assert_same_bits("job", "plain")

    def test_the_job_script_queues_itself_again_before_its_limit(self):
        job = self.submit(str(ROOT / "deploy/slurm.sh"), *self.words("job", *LONG, *HOST))
        self.wait_for_updates("job", 10, lambda: self.is_alive(job))
        self.check(["scancel", "--signal=USR1", job])  # what the option --signal sends then
        self.wait_for_end(job)
        self.assertIn("Restarts=1", self.state(job))
        text = (self.folder / "job.out").read_text()
        self.assertIn("stopped with everything saved: queueing the job again", text)
        self.assertIn("resumed at step ", text)
        sockets = len({line for line in self.check(["lscpu", "--parse=SOCKET"]).stdout.splitlines() if line[0] != "#"})
        self.run_program("train", *self.words("plain", "--ranks", str(sockets), *LONG))
        self.assert_same_bits("job", "plain")

    def test_the_job_script_starts_the_ranks_again_after_one_was_killed(self):
        path = self.bin("lscpu", "printf '0\\n1\\n'\n")  # two sockets, so two ranks
        job = self.submit(str(ROOT / "deploy/slurm.sh"), *self.words("job", *LONG, *HOST), PATH=path)
        self.wait_for_updates("job", 10, lambda: self.is_alive(job))
        os.kill(self.rank("job", 1), signal.SIGKILL)
        self.wait_for_end(job)
        self.assertIn("Restarts=0", self.state(job))
        text = (self.folder / "job.out").read_text()
        self.assertIn("restart 1 of 2: srun ended with exit code 1", text)  # 137 or 143
        self.assertNotIn("restart 2 of 2", text)
        self.assertIn("resumed at step ", text)
        self.run_program("train", *self.words("plain", "--ranks", "2", *LONG))
        self.assert_same_bits("job", "plain")

    def test_the_job_script_does_not_start_again_if_one_rank_cannot_write(self):
        words = self.words("job", *HOST, "--out", "/dev/null/job")
        words[words.index("--out"):words.index("--out") + 2] = []  # the one of words()
        job = self.submit(str(ROOT / "deploy/slurm.sh"), *words, PATH=self.bin("lscpu", "printf '0\\n1\\n'\n"))
        while self.is_alive(job):
            look_again()
        text = (self.folder / "job.out").read_text()
        self.assertIn("/dev/null/job", text)
        self.assertNotIn("restart", text)
        self.assertIn("ExitCode=2:0", self.state(job))

    def test_the_job_script_starts_a_rank_for_each_gpu(self):
        self.bin("ranks", "echo \"rank $SLURM_PROCID, cards $CUDA_VISIBLE_DEVICES, $(taskset -pc $$ | sed 's/.*: /core /'), $*\"\n")
        self.wait_for_end(self.submit("--gpus-per-node=2", str(ROOT / "deploy/slurm.sh"), "--out", "x", ROENTGEN=f"{self.folder}/bin/ranks"))
        lines = sorted((self.folder / "job.out").read_text().splitlines())
        pattern = r"rank {}, cards 0,1, core (\S+), train --resume --out x --device cuda"
        found = [re.fullmatch(pattern.format(rank), line) for rank, line in enumerate(lines)]
        self.assertTrue(len(found) == 2 and all(found), lines)
        self.assertNotEqual(found[0][1], found[1][1])

    def test_the_job_script_starts_one_process_for_given_gpus(self):
        path = f"{self.folder}/bin/ranks"
        self.bin("ranks", "echo \"rank $SLURM_PROCID of $SLURM_STEP_NUM_TASKS, cards $CUDA_VISIBLE_DEVICES, $*\"\n")
        for given in (["--device", "cuda:1"], ["--devices", "cuda:0,1"]):
            self.wait_for_end(self.submit("--gpus-per-node=2", str(ROOT / "deploy/slurm.sh"), *given, ROENTGEN=path))
            lines = (self.folder / "job.out").read_text().splitlines()
            self.assertEqual(lines[-1:], [f"rank 0 of 1, cards 0,1, train --resume {' '.join(given)}"], lines)

    def test_hosts_come_from_the_job(self):
        script = self.folder / "job.sh"
        script.write_text("#!/bin/bash\nexec \"$ROENTGEN\" train --hosts-from slurm \"$@\"\n")
        self.wait_for_end(self.submit("--ntasks=2", str(script), *self.words("job")))
        self.run_program("train", *self.words("plain", "--ranks", "2"))
        self.assert_same_bits("job", "plain")


def main():
    global PROGRAM
    PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
    case = {"mpich": Mpich, "pbs": Pbs, "slurm": Slurm}[sys.argv[2]]
    missing = [name for name in case.NEEDED if find_daemon(name) is None]
    if missing:
        print(f"SKIPPED: no {', '.join(missing)} on this machine, so nothing was tried there; "
              "try tools/setup.sh --schedulers")
        return SKIPPED
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(case)
    suite = unittest.TestSuite(test for test in suite if not sys.argv[3:] or test.id().split(".")[-1] in sys.argv[3:])
    return 0 if unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
