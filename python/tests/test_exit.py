# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""The end of a process whose daemon threads still work."""
import subprocess
import sys
import textwrap

import pytest

from test_train import TINY

# Work of hours, and how often it calls begun() before the process ends.
WORK = {
    "loader": (3, """
        loader = roentgen.Loader(roentgen.Dataset(folder)["train"], batch=8, size=32, workers=2)
        while True:
            for batch in loader:
                begun()
        """),
    "predict": (2, """
        model = roentgen.load(run, batch=8)
        paths = list(roentgen.Dataset(folder).frame.path)
        while True:
            model.predict(paths)
            begun()
        """),
    "evaluate a run": (1, """
        begun()
        roentgen.Run(run).evaluate("val", batch=1, replicates=1_000_000)
        """),
    "evaluate": (1, """
        y, scores = numpy.arange(4000) % 3 == 0, numpy.sin(numpy.arange(4000))
        begun()
        roentgen.evaluate(y, scores, replicates=1_000_000)
        """),
    "train": (2, """
        def tell(record):
            if record["kind"] == "step":
                begun()

        roentgen.train(TINY, folder, out, settings={"train.epochs": 100_000}, callbacks=tell, progress=False)
        """),
}


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("work", WORK)
def test_daemon_threads_end_with_the_process(work, threads, folder, run, tmp_path):
    rounds, body = WORK[work]
    names = {"folder": str(folder), "run": str(run), "TINY": TINY}
    script = "\n".join([
        "import threading, numpy, roentgen", *(f"{name} = {value!r}" for name, value in names.items()),
        "ready = threading.Semaphore(0)", "begun = ready.release",
        "def work(out):", textwrap.indent(textwrap.dedent(body), "    "),
        f"for i in range({threads}):",
        f"    threading.Thread(target=work, args=({str(tmp_path)!r} + f'/{{i}}',), daemon=True).start()",
        f"for _ in range({rounds * threads}): ready.acquire()"])
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    if work == "train":
        assert len(list(tmp_path.glob("*/checkpoints/resume.safetensors"))) == threads


def test_calls_after_the_end_are_refused_in_words():
    script = textwrap.dedent("""
        import atexit

        def late():
            try:
                roentgen.Dataset(".")
            except SystemExit as end:
                print(end)

        atexit.register(late)  # before the package's own, so it is called after that
        import roentgen
        """)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "roentgen: the Python interpreter is ending\n"), done.stderr
