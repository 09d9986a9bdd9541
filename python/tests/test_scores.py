# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
import numpy
import pandas
import pytest

import roentgen
from conftest import run_program


def test_figures_are_the_program_s_to_the_last_digit(data, model, run, folder, tmp_path):
    told = run_program("eval", "--checkpoint", run / "checkpoints" / "best.safetensors", "--data", folder, "--split",
                       "test", "--threads", 1, "--json", tmp_path / "eval.json")
    frame = data["test"].frame
    scores = model.predict(list(frame.path)).reset_index(drop=True)
    evaluation = roentgen.evaluate(frame[data.labels], scores, frame.patient, metrics=["auprc"])
    assert evaluation.figures["auroc"] == told["auroc"]
    assert evaluation.mean == told["auroc"]["mean"]
    assert evaluation.table.auroc["Mass"] == told["auroc"]["labels"]["Mass"]["auroc"]


def draw(seed=0, rows=200):
    random = numpy.random.default_rng(seed)
    truth = (random.random((rows, 3)) < 0.4).astype(float)
    return truth, truth + random.normal(size=(rows, 3)), random.integers(0, 60, rows)


def test_auroc_is_the_share_of_pairs_in_order():
    truth, scores, patients = draw()
    evaluation = roentgen.evaluate(truth, scores, patients, ["a", "b", "c"], replicates=50)
    for k, label in enumerate("abc"):
        up, down = scores[truth[:, k] == 1, k].astype("f4"), scores[truth[:, k] == 0, k].astype("f4")
        pairs = (up[:, None] > down).sum() + 0.5 * (up[:, None] == down).sum()
        assert evaluation.table.auroc[label] == pytest.approx(pairs / (len(up) * len(down)), abs=1e-12)
    assert (evaluation.table.low < evaluation.table.auroc).all()
    assert f"{len(set(patients))} patients" in str(evaluation)


def test_patients_of_any_kind_group_alike():
    truth, scores, patients = draw()
    expected = roentgen.evaluate(truth, scores, patients).figures
    assert roentgen.evaluate(truth, scores, [f"p{p}" for p in patients]).figures == expected
    assert roentgen.evaluate(truth, scores, pandas.Series(patients * 3)).figures == expected
    alone = roentgen.evaluate(truth, scores).figures
    assert alone["auroc"]["mean"] == expected["auroc"]["mean"] and alone != expected
    assert roentgen.evaluate(truth, scores, [None] * len(truth)).figures == alone


def test_unknown_truth_is_left_out():
    truth, scores, patients = draw()
    truth[5:25, 0] = numpy.nan
    table = roentgen.evaluate(truth, scores, patients).table
    assert table.n.tolist() == [180, 200, 200]


def test_one_label_and_frames():
    truth, scores, patients = draw()
    one = roentgen.evaluate(truth[:, 1], scores[:, 1], patients)
    assert list(one.table.index) == ["label 1"]
    frames = roentgen.evaluate(pandas.DataFrame(truth, columns=["x", "y", "z"]),
                               pandas.DataFrame(scores, columns=["x", "y", "z"])[["z", "y", "x"]], patients)
    assert list(frames.table.index) == ["z", "y", "x"]
    assert frames.table.auroc["y"] == one.table.auroc["label 1"]


def test_order_is_exact_beyond_float32():
    y = numpy.arange(200) % 2
    for scores in (numpy.where(y, 1 - 1e-9, 1 - 2e-9), numpy.where(y, 1700000001, 1700000000)):
        assert roentgen.evaluate(y, scores, replicates=0).mean == 1.0
        assert roentgen.compare(y, scores, scores, replicates=0).table.a["mean"] == 1.0
        with pytest.raises(roentgen.DataError, match="expected scores that differ in float32, got 1 of 2"):
            roentgen.evaluate(y, scores, replicates=0, metrics=["brier"])


def test_metrics_warn_of_the_few_scores_that_float32_makes_equal():
    scores = 1 / (1 + numpy.exp(-numpy.random.default_rng(3).normal(size=20000)))
    y = numpy.arange(20000) % 2
    with pytest.warns(RuntimeWarning, match="different values of column 0 become equal in float32"):
        figures = roentgen.evaluate(y, scores, replicates=0, metrics=["brier"])
    assert abs(figures.mean - roentgen.evaluate(y, scores, replicates=0).mean) < 1e-6


def test_compare_is_paired():
    truth, a, patients = draw()
    b = a + numpy.random.default_rng(1).normal(size=a.shape)
    comparison = roentgen.compare(truth, a, b, patients, replicates=200)
    table = comparison.table
    assert (table.delta.round(12) == (table.b - table.a).round(12)).all()
    assert table.delta["mean"] < 0 and table.p["mean"] < 0.05
    assert roentgen.compare(truth, a, a, patients, replicates=50).table.delta.abs().max() == 0


def test_mistakes():
    truth, scores, patients = draw()
    with pytest.raises(roentgen.ShapeError, match="as many rows and columns"):
        roentgen.evaluate(truth[:10], scores, patients)
    with pytest.raises(roentgen.DataError, match="row 3: expected 1, 0 or NaN"):
        truth[3, 1] = 0.5
        roentgen.evaluate(truth, scores, patients)
    truth[3, 1] = 0
    with pytest.raises(roentgen.Error):
        scores[0, 0] = numpy.inf
        roentgen.evaluate(truth, scores, patients)
    scores[0, 0] = 0
    with pytest.raises(roentgen.ConfigError, match="auprc"):
        roentgen.evaluate(truth, scores, patients, metrics=["aucpr"])


@pytest.mark.parametrize("work", [roentgen.evaluate, lambda y, scores, *rest, **options: roentgen.compare(
    y, scores, -scores, *rest, **options)], ids=["evaluate", "compare"])
def test_an_interrupt_ends_the_resamples(work, interrupts):
    truth, scores, patients = draw()
    with pytest.raises(KeyboardInterrupt):
        interrupts()
        work(truth, scores, patients, replicates=1_000_000)


def test_rows_without_a_patient_are_told():
    truth, scores, patients = draw()
    known = [None if i < 3 else patient for i, patient in enumerate(patients)]
    line = "3 images of unknown patient: each counts as a patient of its own\n"
    assert str(roentgen.evaluate(truth, scores, known, replicates=10)).startswith(line)
    assert str(roentgen.compare(truth, scores, scores, known, replicates=10)).startswith(line)
    assert line not in str(roentgen.evaluate(truth, scores, patients, replicates=10))
