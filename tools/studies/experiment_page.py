# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Page and charts of the sources' experiments, from the csv files alone."""
import re
import textwrap

from study import markdown_table
from experiment_sections import SECTIONS, Rows

INTRODUCTION = """# Do published experiments give the same results with Roentgen?

```sh
tools/studies/experiments.py
```

Source S0: *Optimization techniques for training CheXNet on multi-GPU servers* (2019). Source S1: its abstract. Source
S2: *Deep Learning Performance Scale-out* (2020). Source S3: PRACE *Best Practice Guide, Deep Learning* (2019). Source
S4: the *Ready Solutions* reference guide.

- **measured**: run on this machine.
- **emulated**: run here with devices, hosts or storage that software imitates by waiting.
- **predicted**: computed; nothing was run.

Values are medians of interleaved rounds, with minimum and maximum in brackets. A script writes sentences, tables and
charts from csv files. The csv files contain the command, commit, date and hardware of every row. Published values were
measured on other hardware, so compare ratios, not speeds. If other programs used a core, the values are disturbed.

Orders of the stages of the [input pipeline](../reference/pipeline.md#presets): `naive` is the order of eight stages in
the sources. `tf-official` is their improved order of ten steps. `default` is Roentgen's own order.
"""


def sections(tables):
    return {name: SECTIONS[name](Rows(rows)) for name, rows in tables.items()}


def charts(tables):
    return {name: section.chart for name, section in sections(tables).items()}


def wrapped(text):
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def anchor(title):
    return re.sub(r"[^\w\- ]", "", title).strip().lower().replace(" ", "-")


def run_text(name, rows):
    """Sentences about the machine, the date and the program of an experiment."""
    def listed(column, of=rows):
        return ", ".join(dict.fromkeys(row[column][:8] if column == "commit" else row[column] for row in of))

    ran = [row for row in rows if row["origin"] != "predicted"]
    rounds = max(row["rounds"] for row in rows)
    others = max((float(row["other_cores"]) for row in ran), default=0)
    machine = f"{listed('hardware', ran)}, " if ran else ""
    return (f"Data: [{name}.csv](experiments/{name}.csv), {listed('origin')}, {rounds:.0f} round{'s' if rounds > 1 else ''}, "
            f"{machine}{listed('date')}, commit {listed('commit')}. Other programs used {others:.1f} cores.")


def section_text(name, section, rows):
    found = "\n".join(textwrap.fill(f"- {sentence[0].upper()}{sentence[1:]}", 120, subsequent_indent="  ",
                                    break_long_words=False, break_on_hyphens=False) for sentence in section.found)
    return "\n\n".join([
        f"## {section.title}", wrapped(f"**Source.** {section.source}"), f"**Found here.**\n\n{found}",
        wrapped(f"**Conclusion.** {section.conclusion[0].upper()}{section.conclusion[1:]}"),
        markdown_table(section.head, section.table).rstrip(), f"![{section.title}](../images/experiments/{name}.svg)",
        wrapped(run_text(name, rows)), f"Repeat: `tools/studies/experiments.py --only {name}`"])


def page(tables):
    """Text of docs/results/experiments.md."""
    written = sections(tables)
    origins = {name: ", ".join(dict.fromkeys(row["origin"] for row in rows)) for name, rows in tables.items()}
    summary = markdown_table(["experiment", "published", "here", "origin"],
                             [[f"[{section.title}](#{anchor(section.title)})", section.published, section.ours, origins[name]]
                              for name, section in written.items()])
    parts = [INTRODUCTION]
    quick = [name for name, rows in tables.items() if any(row["sizes"] == "quick" for row in rows)]
    if quick:
        parts.append(wrapped(f"**Not results.** These figures come from a quick test of the script: {', '.join(quick)}.") + "\n")
    parts.append(summary)
    parts += [section_text(name, section, tables[name]) + "\n" for name, section in written.items()]
    return "\n".join(parts)
