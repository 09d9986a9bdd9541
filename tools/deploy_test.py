# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Tests the job scripts in deploy/ at the end of a run, with fakes of program, srun and schedulers. Run by `make lint`."""
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Fake of the program and of srun: prints its arguments, and exits with 3 on SIGUSR1, like a stopped run. RUN contains
# the exit code of each start, or "endless". In "137:2", 137 is the code of srun and 2 that of one rank.
RUN = """#!/bin/bash
printf '%s|' "$@" >>"$LOG"
trap 'exit 3' USR1
echo >>"$LOG.starts"
read -ra codes <<<"$RUN"
code=${codes[$(($(wc -l <"$LOG.starts") - 1))]}
[[ -z ${ASK:-} ]] || { printf 'a half line' >&2; read -r <"$ASK"; seq 100000 >&2; }
[[ $code != *:* ]] || echo "srun: error: n1: task 0: Exited with exit code ${code#*:}" >&2
[[ $code == endless ]] || exit "${code%:*}"
while :; do read -rt 0.05 <><(:); done
"""
QUEUE = """#!/bin/bash
printf '%s|' queued "$@" >>"$LOG"
"""


# Fake of qstat: prints a long line, folded as PBS folds it.
STATE = """#!/bin/bash
[[ "$*" == "-f 7.pbs" ]] || exit 1
printf 'Job Id: 7.pbs\\n    Resource_List.ncpus = 64\\n    Resource_List.select = 4:ncpus=16:mpi\\n\\tprocs=2%s\\n    Resource_List.walltime = 02:00:00\\n' "${MORE:-}"
printf '    Submit_arguments = x\\n'
"""


class Deploy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name, text in (("roentgen", RUN), ("srun", RUN), ("qsub", QUEUE), ("scontrol", QUEUE),
                           ("qstat", STATE)):
            (self.folder / name).write_text(text)
            (self.folder / name).chmod(0o755)
        self.words = ["--set", "data.labels=[\"a\",\"b\"]", "--out", "a run"]
        (self.folder / "run.args").write_text("\n".join(self.words) + "\n")

    def environment(self, run):
        return {"PATH": f"{self.folder}:{os.environ['PATH']}", "LOG": str(self.folder / "log"), "RUN": run,
                "PBS_O_WORKDIR": str(self.folder), "ARGUMENTS_FILE": "run.args", "RUN_SECONDS": "0.3",
                "SLURM_JOB_ID": "7", "SLURM_JOB_NUM_NODES": "2"}

    def submit(self, script, *words, run, **more):
        ended = subprocess.run([ROOT / "deploy" / script, *words], capture_output=True, text=True, check=False,
                               cwd=self.folder, env={**self.environment(run), **more})
        return ended.returncode, (self.folder / "log").read_text()

    def test_the_schedulers_see_their_directives(self):
        """A scheduler reads only lines that begin with its mark, before the first command."""
        for script, mark, wanted in (
                ("slurm.sh", "#SBATCH ", ("--job-name", "--nodes", "--exclusive", "--time", "--signal=USR1@300", "--requeue",
                                          "--open-mode=append")),
                ("pbs.sh", "#PBS ", ("-N", "-l select=", "-l walltime=", "-r y"))):
            lines = (ROOT / "deploy" / script).read_text(encoding="utf-8").splitlines()
            head = lines[:next(i for i, line in enumerate(lines) if line and not line.startswith("#"))]
            found = [line.removeprefix(mark) for line in head if line.startswith(mark)]
            self.assertEqual(len(found), len(wanted), script)
            for directive, start in zip(found, wanted):
                self.assertTrue(directive.startswith(start), directive)

    def test_pbs_saves_before_the_walltime_and_queues_again(self):
        status, log = self.submit("pbs.sh", run="endless")
        self.assertEqual(status, 3)
        self.assertIn("train|--resume|--hosts-from|pbs|" + "|".join(self.words) + "|", log)
        self.assertIn("queued|-v|ARGUMENTS_FILE=run.args,ROENTGEN=roentgen,RUN_SECONDS=0.3|", log)
        self.assertNotIn("|-l|", log)

    def test_pbs_queues_again_what_it_was_given(self):
        (self.folder / "timeout").write_text("#!/bin/bash\nprintf 'timeout|%s|' \"$4\" >>\"$LOG\"\nexit 3\n")
        (self.folder / "timeout").chmod(0o755)
        status, log = self.submit("pbs.sh", run="0", PBS_JOBID="7.pbs", ROENTGEN="/opt/r", RUN_SECONDS="")
        self.assertEqual(status, 3)
        self.assertIn("timeout|6600|", log)
        self.assertIn("queued|-v|ARGUMENTS_FILE=run.args,ROENTGEN=/opt/r|-l|select=4:ncpus=16:mpiprocs=2|-l|walltime=02:00:00|", log)

    def test_pbs_starts_a_rank_for_each_gpu(self):
        base = "train|--resume|--hosts-from|pbs|" + "|".join(self.words)
        self.write_recipes()
        cuda, plain = "|--ppn|4|--device|cuda|", "|"
        for more, given, options in ((":ngpus=4", [], cuda), (":ngpus=4", ["--device=cuda"], "|--ppn|4|"),
                                     (":ngpus=4", ["--device=auto"], cuda), (":ngpus=4", ["--device=cuda:1"], "|--ppn|1|"),
                                     ("", ["--set", "train.device=cuda:1"], "|--ppn|1|"),
                                     (":ngpus=4", ["--device", "cpu"], plain), (":ngpus=4", ["--set=train.device=cpu"], plain),
                                     (":ngpus=4", ["--recipe", "cpu.toml"], plain), (":ngpus=4", ["--recipe=auto.toml"], cuda),
                                     (":ngpus=4", ["--recipe", "default"], cuda), (":ngpus=4", ["--ppn", "2"], plain),
                                     (":ngpus=4+1:ngpus=2", [], plain), ("", [], plain)):
            (self.folder / "run.args").write_text("\n".join(self.words + given) + "\n")
            (self.folder / "log.starts").unlink(missing_ok=True)
            (self.folder / "log").unlink(missing_ok=True)
            self.assertEqual(self.submit("pbs.sh", run="0", PBS_JOBID="7.pbs", MORE=more)[0], 0)
            log = (self.folder / "log").read_text()
            self.assertEqual(log, base + "".join("|" + word for word in given) + options)

    def test_pbs_starts_one_process_for_several_devices(self):
        self.words += ["--devices", "cuda:0,1"]
        (self.folder / "run.args").write_text("\n".join(self.words) + "\n")
        for nodes, hosts in ("n1\nn1\n", ""), ("n1\nn2\n", "--hosts-from|pbs|"):
            (self.folder / "log").unlink(missing_ok=True)
            (self.folder / "log.starts").unlink(missing_ok=True)
            (self.folder / "nodes").write_text(nodes)
            log = self.submit("pbs.sh", run="0", PBS_JOBID="7.pbs", PBS_NODEFILE="nodes", MORE=":ngpus=2")[1]
            self.assertEqual(log, f"train|--resume|{hosts}" + "|".join(self.words) + "|")

    def test_pbs_leaves_what_has_ended(self):
        for run in ("0", "2"):
            (self.folder / "log.starts").unlink(missing_ok=True)
            status, log = self.submit("pbs.sh", run=run)
            self.assertEqual(status, int(run))
            self.assertNotIn("queued", log)

    def test_slurm_queues_again_what_was_stopped(self):
        status, log = self.submit("slurm.sh", *self.words, run="3")
        self.assertEqual(status, 3)
        self.assertIn("|--kill-on-bad-exit=1|", log)
        sockets = {line for line in subprocess.run(["lscpu", "--parse=SOCKET"], capture_output=True, text=True,
                                                   check=True).stdout.splitlines() if not line.startswith("#")}
        self.assertIn(f"--ntasks={2 * len(sockets)}|--ntasks-per-node={len(sockets)}|", log)
        self.assertIn("|train|--resume|" + "|".join(self.words) + "|", log)
        self.assertIn("queued|requeue|7|", log)

    def test_slurm_starts_a_rank_for_each_gpu(self):
        for gpus in ({"SLURM_GPUS_ON_NODE": "4"}, {"SLURM_JOB_GPUS": "0,1,2,5"}):
            for given, added in (([], "|--device|cuda|"), (["--device", "auto"], "|--device|cuda|"),
                                 (["--recipe", "auto.toml"], "|--device|cuda|"), (["--recipe", "default"], "|--device|cuda|"),
                                 (["--set", "train.device=cuda"], "|"), (["--recipe=cpu.toml", "--device", "cuda"], "|")):
                log = self.start_slurm(*self.words, *given, **gpus)
                self.assertIn("--ntasks=8|--ntasks-per-node=4|--mpi=pmix|--cpus-per-task=8|--cpu-bind=cores|", log)
                self.assertTrue(log.endswith("|".join(["|train|--resume", *self.words, *given]) + added), log)

    def test_slurm_starts_one_process_for_given_devices(self):
        for given in (["--device", "cuda:1"], ["--device=cuda:0"], ["--set=train.device=cuda:1"], ["--devices", "cuda:0,1"],
                      ["--devices=cuda:0,1"], ["--devices=cuda:0,1", "--device", "cuda"]):
            for gpus in ("4", ""):
                log = self.start_slurm(*self.words, *given, SLURM_GPUS_ON_NODE=gpus)
                self.assertIn("--ntasks=2|--ntasks-per-node=1|--mpi=pmix|--cpus-per-task=32|--cpu-bind=cores|", log)
                self.assertTrue(log.endswith("|".join(["|train|--resume", *self.words, *given]) + "|"), log)

    def test_slurm_gives_ranks_whole_cores(self):
        for threads, cpus, gpus, share in ((2, 128, 6, 20), (1, 128, 6, 21), (4, 160, 6, 24), (2, 128, 4, 32), (2, 2, 4, 1)):
            (self.folder / "lscpu").write_text(f"#!/bin/sh\necho 'CPU(s): 9'\necho 'Thread(s) per core:   {threads}'\n")
            (self.folder / "lscpu").chmod(0o755)
            log = self.start_slurm(*self.words, SLURM_GPUS_ON_NODE=str(gpus), SLURM_CPUS_ON_NODE=str(cpus))
            self.assertIn(f"|--cpus-per-task={share}|", log)

    def test_slurm_starts_a_rank_for_each_socket_without_gpus(self):
        for given, gpus in ((["--device=cpu"], "4"), (["--set", "train.device=cpu"], "4"), (["--set=train.device=cpu"], "4"),
                            (["--recipe", "cpu.toml"], "4"), (["--recipe=cpu.toml"], "4"), ([], "0"), ([], "")):
            log = self.start_slurm(*self.words, *given, SLURM_GPUS_ON_NODE=gpus)
            self.assertIn("|--cpu-bind=sockets|", log)
            self.assertTrue(log.endswith("|".join(["|train|--resume", *self.words, *given]) + "|"), log)

    def start_slurm(self, *words, **more):
        for name in ("log", "log.starts"):
            (self.folder / name).unlink(missing_ok=True)
        self.write_recipes()
        status, log = self.submit("slurm.sh", *words, run="0", **{"SLURM_CPUS_ON_NODE": "32", **more})
        self.assertEqual(status, 0)
        return log

    def write_recipes(self):
        for device in ("auto", "cpu"):
            (self.folder / f"{device}.toml").write_text(f"[train]\n# device = \"cuda:1\"\n  device = \"{device}\"  # a comment\n")

    def test_slurm_passes_messages_on_without_a_copy(self):
        """They arrive although a line has not ended, and all of them. Nothing is written to a temporary folder."""
        os.mkfifo(self.folder / "ask")
        environment = {**self.environment(run="9:2"), "ASK": str(self.folder / "ask"), "TMPDIR": "/nonexistent"}
        with subprocess.Popen(["timeout", "60", ROOT / "deploy/slurm.sh", *self.words], stderr=subprocess.PIPE,
                              env=environment) as job:
            self.assertEqual(job.stderr.read(11), b"a half line")
            (self.folder / "ask").write_text("go on\n")
            lines = job.stderr.read().decode().splitlines()
        self.assertEqual(lines[0], "1")
        self.assertEqual(lines[99999:], ["100000", "srun: error: n1: task 0: Exited with exit code 2"])
        self.assertEqual(job.returncode, 2)

    def test_slurm_starts_lost_ranks_again(self):
        for run, more, starts, last in (("137 0", {}, 2, 0), ("1 143 3", {}, 3, 3), ("137 1 137 0", {}, 3, 137),
                                        ("137 0", {"RESTARTS": "0"}, 1, 137), ("1 2 0", {}, 2, 2), ("3 0", {}, 1, 3),
                                        ("137:2 0", {}, 1, 2), ("143:3 0", {}, 1, 3), ("143:1 0", {}, 2, 0)):
            for name in ("log", "log.starts"):
                (self.folder / name).unlink(missing_ok=True)
            status, log = self.submit("slurm.sh", *self.words, run=run, **more)
            self.assertEqual((status, log.count("|train|--resume|")), (last, starts), run)
            self.assertEqual(log.count("queued|requeue|7|"), int(last == 3), run)


if __name__ == "__main__":
    unittest.main()
