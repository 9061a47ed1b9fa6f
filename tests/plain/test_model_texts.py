"""Model files of LIBLINEAR and LIBSVM: what is written is read back, and the tools themselves agree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from tests.plain.plain_cases import FOUR, NEW, THREE, TWO, X, answers, assert_close, fitted

from cutplane import SVC, LinearSVC, load
from cutplane.io.model_file import ModelFileError
from cutplane.plain import liblinear_file, libsvm_file
from cutplane.risks.hinge import Hinge

LINEAR = [
    "LinearSVC",
    "LinearSVC, squared hinge",
    "LinearSVC, logistic",
    "LinearSVC, logistic of three",
    "LinearSVC, Crammer and Singer",
    "LinearSVC, Crammer and Singer of two",
    "LinearSVC, booleans",
    "LinearSVR",
    "LinearSVR, squared",
    "LinearOneClassSVM",
]
MACHINES = [
    "SVC",
    "SVC of four, pairs",
    "SVC, linear",
    "SVC, poly",
    "SVC, sigmoid",
    "SVC, sparse",
    "SVC, probabilities",
    "NuSVC",
    "SVR",
    "NuSVR",
    "OneClassSVM",
    "SampledCutSVC",
]


def write(model: Any, kind: str, path: Path) -> None:
    (model.to_liblinear if kind == "liblinear" else model.to_libsvm)(path)


@pytest.mark.parametrize(
    ("kind", "name"), [*(("liblinear", name) for name in LINEAR), *(("libsvm", name) for name in MACHINES)]
)
def test_what_is_written_is_read(kind: str, name: str, tmp_path: Path) -> None:
    model = fitted(name)
    write(model, kind, tmp_path / "model")
    plain = load(tmp_path / "model", plain=True)
    assert plain.certificate == {}
    found = answers(plain, NEW)
    for method, values in answers(model, NEW).items():
        if method == "decision_function" and name in ("SVC, linear", "SVC, sparse", "NuSVC"):
            continue  # LIBSVM's are by pairs, and these are by class
        assert_close(found[method], np.asarray(values) + 0)  # booleans come back as 0 and 1
    again = tmp_path / "again"
    (liblinear_file if kind == "liblinear" else libsvm_file).write(plain.form, again)
    assert again.read_text() == (tmp_path / "model").read_text()


@pytest.mark.parametrize("name", LINEAR)
def test_liblinear_predicts_the_same(name: str, tmp_path: Path) -> None:
    tool = pytest.importorskip("liblinear.liblinearutil")
    model = fitted(name)
    model.to_liblinear(tmp_path / "model")
    loaded = tool.load_model(str(tmp_path / "model"))
    probabilities = "-b 1 -q" if hasattr(model, "predict_proba") else "-q"
    labels, _, values = tool.predict([], sparse.csr_matrix(NEW), loaded, probabilities)
    assert_close(np.asarray(labels, np.float64), np.asarray(model.predict(NEW), np.float64))
    if hasattr(model, "predict_proba"):
        order = np.argsort(loaded.get_labels())
        assert_close(np.array(values)[:, order], model.predict_proba(NEW))


@pytest.mark.parametrize(("options", "y"), [("-s 3", TWO), ("-s 3 -B 1", -TWO), ("-s 4", THREE), ("-s 0 -B 2", FOUR)])
def test_files_of_liblinear_are_read(options: str, y: Any, tmp_path: Path) -> None:
    tool = pytest.importorskip("liblinear.liblinearutil")
    trained = tool.train(y, sparse.csr_matrix(X), f"{options} -q")
    tool.save_model(str(tmp_path / "model"), trained)
    labels, _, values = tool.predict([], sparse.csr_matrix(NEW), trained, "-q")
    plain = load(tmp_path / "model", plain=True)
    np.testing.assert_array_equal(plain.predict(NEW), np.asarray(labels, int))
    if len(np.unique(y)) > 2:
        assert_close(plain.decision_function(NEW), np.array(values)[:, np.argsort(trained.get_labels())])


@pytest.mark.parametrize("name", [name for name in MACHINES if name != "NuSVC"])  # LIBSVM 3.37 crashes on its own
def test_libsvm_predicts_the_same(name: str, tmp_path: Path) -> None:
    tool = pytest.importorskip("libsvm.svmutil")
    model = fitted(name)
    model.to_libsvm(tmp_path / "model")
    labels, _, _ = tool.svm_predict([], NEW.tolist(), tool.svm_load_model(str(tmp_path / "model")), "-q")
    assert_close(np.asarray(labels), np.asarray(model.predict(NEW), np.float64))


# What LIBSVM 3.37 writes for `svm-train -g 0.5 -c 2` on four examples of two features.
BY_LIBSVM = """svm_type c_svc
kernel_type rbf
gamma 0.5
nr_class 2
total_sv 4
rho -0.0387
label 1 -1
nr_sv 2 2
SV
0.75 1:1 2:0.5 
1.25 1:0.5 2:1.25 
-1.5 1:-1 
-0.5 2:-1 
"""  # noqa: W291


def test_a_file_of_libsvm_is_read(tmp_path: Path) -> None:
    (tmp_path / "model").write_text(BY_LIBSVM)
    plain = load(tmp_path / "model", plain=True)
    x = np.array([0.3, -0.2])
    vectors = np.array([[1.0, 0.5], [0.5, 1.25], [-1.0, 0.0], [0.0, -1.0]])
    value = np.exp(-0.5 * ((x - vectors) ** 2).sum(axis=1)) @ [0.75, 1.25, -1.5, -0.5] + 0.0387
    assert plain.predict([x]) == (1 if value > 0 else -1)
    assert abs(plain.decision_function([x])[0]) == pytest.approx(abs(value))


def test_features_that_no_support_vector_has_are_counted(tmp_path: Path) -> None:
    model = SVC().fit(np.hstack([X, np.zeros((len(X), 3))]), TWO)
    model.to_libsvm(tmp_path / "model")
    assert load(tmp_path / "model", plain=True).n_features_in_ == 7


def test_precomputed_kernels(tmp_path: Path) -> None:
    model = SVC(kernel="precomputed").fit(X @ X.T, FOUR)
    model.to_libsvm(tmp_path / "model")
    plain = load(tmp_path / "model", plain=True)
    np.testing.assert_array_equal(plain.predict((NEW @ X.T)[:, : plain.n_features_in_]), model.predict(NEW @ X.T))


@pytest.mark.parametrize(
    ("name", "kind", "says"),
    [
        ("SVC", "liblinear", "LIBLINEAR has linear models alone"),
        ("LinearSVC", "libsvm", "LIBSVM has kernel machines alone, and LinearSVC is none"),
        ("LinearSVC of names", "liblinear", "labels that are whole numbers"),
        ("SVC of names", "libsvm", "labels that are whole numbers"),
        ("LinearSVC, ROC area", "liblinear", "LIBLINEAR does not minimise 'roc_area'"),
        ("LinearSVC, logistic and calibrated", "liblinear", "LIBLINEAR has logistic probabilities alone"),
        ("RankSVM", "liblinear", "LIBLINEAR does not minimise 'pairs'"),
        ("OrdinalSVC", "liblinear", "LIBLINEAR has no model like OrdinalSVC"),
        ("SVC of four against the rest", "libsvm", "a machine for each pair"),
        ("SVC, laplacian", "libsvm", "LIBSVM has no kernel 'laplacian'"),
        ("SVC, isotonic of four", "libsvm", "has sigmoids for probabilities"),
        ("SampledCutSVC of three", "libsvm", "LIBSVM does not minimise 'crammer_singer'"),
    ],
)
def test_what_the_tools_lack_is_one_sentence(name: str, kind: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=says):
        write(fitted(name), kind, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_damaged_files_are_one_sentence(tmp_path: Path) -> None:
    fitted("SVC of four").to_libsvm(tmp_path / "machine")
    fitted("LinearSVC").to_liblinear(tmp_path / "linear")
    machine, linear = ((tmp_path / name).read_text() for name in ("machine", "linear"))
    damaged = [
        machine[: len(machine) // 2],
        machine.replace("kernel_type rbf", "kernel_type own"),
        machine.replace("nr_sv", "nr_vs"),
        machine.replace("1:", "0:"),
        machine.replace("gamma", "gamma nan"),
        linear.replace("\nw\n", "\n"),
        linear.replace("nr_feature 4", "nr_feature 9"),
        linear.replace("label 1 -1", "label 1 1"),
        linear.replace("L2R_L1LOSS_SVC_DUAL", "OWN"),
    ]
    for text in damaged:
        (tmp_path / "model").write_text(text)
        with pytest.raises(ModelFileError, match="damaged or no model"):
            load(tmp_path / "model", plain=True)


def test_a_loss_of_ones_own_is_not_written_as_another(tmp_path: Path) -> None:
    class Own(Hinge):
        """Another name."""

    with pytest.raises(ValueError, match=r"does not minimise '.*Own'"):
        LinearSVC(loss=Own).fit(X, TWO).to_liblinear(tmp_path / "model")
