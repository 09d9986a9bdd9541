#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Executes the notebooks of docs/notebooks with the Python package of a build, and stores their outputs.

  tools/notebooks.py BUILD [NOTEBOOK ...]            as build/release; stores outputs and pictures in the notebooks
  tools/notebooks.py BUILD --quick [NOTEBOOK ...]    at the small sizes of the cells "parameters"; stores nothing

Runs under build/python/bin/python (tools/python_env.sh). Exit code 77 and a line where the build has no package or a
module that a notebook imports is absent.
"""
import ast
import importlib.util
import os
import pathlib
import re
import shutil
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent
NOTEBOOKS = SOURCE / "docs" / "notebooks"
SKIPPED = 77
SECONDS_A_CELL = 1800


def absent_modules(names):
    return [name for name in names if importlib.util.find_spec(name) is None]


def imported(notebook):
    """Top-level modules that the notebook's cells import, without those of this project."""
    names = set()
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, ast.Import):
                names.update(alias.name.split(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                names.add(node.module.split(".")[0])
    return sorted(names - {"roentgen"})


def stage(build, folder):
    """Folder with the Python package of the build, laid out as an installation."""
    package = folder / "roentgen"
    (package / "bin").mkdir(parents=True)
    for file in (SOURCE / "python" / "roentgen").glob("*.py"):
        shutil.copy(file, package)
    (package / "_native.abi3.so").symlink_to(build / "_native.abi3.so")
    (package / "bin" / "roentgen").symlink_to(build / "roentgen")


def with_quick_sizes(notebook):
    for cell in notebook.cells:
        if "parameters" in cell.metadata.get("tags", []):
            cell.source = cell.metadata["quick"]


def merged(outputs):
    """Joins neighbouring outputs of the same stream."""
    result = []
    for output in outputs:
        last = result[-1] if result else None
        if last and output.output_type == last.output_type == "stream" and output.name == last.name:
            last.text += output.text
        else:
            result.append(output)
    return result


def tidy(notebook):
    """Removes overwritten text: of a line that was rewritten, only the last state is kept."""
    notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"], "language_info": {"name": "python"}}
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        cell.outputs = merged(cell.outputs)
        for output in cell.outputs:
            output.get("metadata", {}).clear()
            if output.output_type == "stream":
                output.text = re.sub(r"[^\n]*\r(?!\n)", "", output.text)
                output.text = re.sub(r" +$", "", output.text, flags=re.MULTILINE)


def check_private(notebook, folders):
    """Fails if an output of the notebook names a folder of this machine."""
    for cell in notebook.cells:
        for folder in folders:
            if folder in str(cell.get("outputs", "")):
                sys.exit(f"{folder} stands in the output of: {cell.source.splitlines()[0]}")


def execute(build, path, is_quick):
    import nbclient
    import nbformat
    import traitlets.config

    notebook = nbformat.read(path, as_version=4)
    absent = absent_modules(imported(notebook))
    if absent:
        print(f"SKIPPED: {path.name}: no module {', '.join(absent)} (CONTRIBUTING.md, Notebooks)")
        return False
    if is_quick:
        with_quick_sizes(notebook)
    with tempfile.TemporaryDirectory() as name:
        place = pathlib.Path(name)
        stage(build, place / "package")
        (place / "work").mkdir()
        os.environ |= {"PYTHONPATH": str(place / "package"), "IPYTHONDIR": str(place / "ipython"),
                       "JUPYTER_DATA_DIR": str(place / "jupyter"), "JUPYTER_RUNTIME_DIR": str(place / "runtime"),
                       "MPLCONFIGDIR": str(place / "matplotlib")}
        sockets = {"transport": "ipc", "ip": str(place / "kernel")}  # files instead of network ports
        nbclient.NotebookClient(notebook, timeout=SECONDS_A_CELL, kernel_name="python3", record_timing=False,
                                config=traitlets.config.Config({"KernelManager": sockets}),
                                resources={"metadata": {"path": str(place / "work")}}).execute()
    print(f"{path.name}: {sum(cell.cell_type == 'code' for cell in notebook.cells)} cells executed")
    if not is_quick:
        tidy(notebook)
        check_private(notebook, [name, str(SOURCE), str(pathlib.Path.home())])
        nbformat.write(notebook, path)
    return True


def main(build, is_quick, names):
    if not (build / "_native.abi3.so").exists():
        print("SKIPPED: the build has no Python package (tools/python_env.sh says why)")
        sys.exit(SKIPPED)
    absent = absent_modules(["nbclient", "ipykernel"])
    if absent:
        print(f"SKIPPED: no module {', '.join(absent)} (tools/python_env.sh)")
        sys.exit(SKIPPED)
    paths = [NOTEBOOKS / f"{name}.ipynb" for name in names] or sorted(NOTEBOOKS.glob("*.ipynb"))
    if not all([execute(build, path, is_quick) for path in paths]):
        sys.exit(SKIPPED)


if __name__ == "__main__":
    arguments = [argument for argument in sys.argv[1:] if argument != "--quick"]
    if not arguments:
        sys.exit(__doc__)
    main(pathlib.Path(arguments[0]).resolve(), "--quick" in sys.argv, arguments[1:])
