# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Slurm on one node, run by this user in a temporary folder: munge, slurmctld, slurmd. The node has two files as "GPUs"."""
import contextlib
import getpass
import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import tempfile

NODE = socket.gethostname().split(".")[0]


def look_again():
    """Lets other processes run between two queries of a scheduler, each of which is a separate process."""
    select.select([], [], [], 0.1)


def free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def find_daemon(name):
    return shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin:/usr/local/sbin")


class Cluster:
    """Slurm on this node as this user, running until close()."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="rgslurm"))
        self.folder.chmod(0o755)
        for name in ("munge", "state", "spool", "log"):
            (self.folder / name).mkdir(mode=0o755)
        (self.folder / "munge").chmod(0o711)
        self.daemons = []
        self.environment = {"SLURM_CONF": str(self.folder / "slurm.conf")}

    def start(self):
        munge = self.folder / "munge"
        (munge / "key").write_bytes(os.urandom(1024))
        (munge / "key").chmod(0o400)
        (self.folder / "slurm.conf").write_text(self.configuration())
        # Two files that Slurm takes for GPUs.
        (self.folder / "gres.conf").write_text(f"NodeName={NODE} Name=gpu File=/dev/null\nNodeName={NODE} Name=gpu File=/dev/zero\n")
        self.daemon("munged", "--force", "--foreground", f"--key-file={munge}/key", f"--socket={munge}/socket",
                    f"--pid-file={munge}/pid", f"--log-file={munge}/log", f"--seed-file={munge}/seed")
        while not (munge / "socket").exists():
            self.require_alive()
            look_again()
        self.daemon("slurmctld", "-D", "-c")
        self.daemon("slurmd", "-D")
        while self.call("sinfo", "--noheader", "--format=%T").stdout.strip() != "idle":
            self.require_alive()
            look_again()

    def configuration(self):
        user, name = getpass.getuser(), NODE
        control, node = free_ports(2)
        folder = self.folder
        return f"""ClusterName=test
SlurmctldHost={name}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={control}
SlurmdPort={node}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/log/slurmctld
SlurmdLogFile={folder}/log/slurmd
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
KillWait=2
SchedulerParameters=sched_interval=1,batch_sched_delay=0
GresTypes=gpu
NodeName={name} NodeAddr=127.0.0.1 CPUs={max(2, os.cpu_count())} Gres=gpu:2 State=UNKNOWN
PartitionName=test Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""

    def daemon(self, name, *words):
        output = open(self.folder / "log" / (name + ".out"), "wb")
        self.daemons.append(subprocess.Popen([find_daemon(name), *words], stdout=output, stderr=subprocess.STDOUT,
                                             env={**os.environ, **self.environment}))
        output.close()

    def call(self, *words):
        return subprocess.run(words, capture_output=True, text=True, check=False, env={**os.environ, **self.environment})

    def require_alive(self):
        for daemon in self.daemons:
            if daemon.poll() is not None:
                raise RuntimeError(f"{daemon.args[0]} ended:\n" + self.logs())

    def logs(self):
        return "\n".join(f"{path.name}:\n{path.read_text()[-2000:]}" for path in sorted((self.folder / "log").iterdir()))

    def close(self):
        self.call("scancel", "--user", getpass.getuser())
        while self.daemons and self.call("squeue", "--noheader").stdout.strip():
            self.require_alive()
            look_again()
        for daemon in reversed(self.daemons):
            daemon.send_signal(signal.SIGTERM)
            daemon.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
