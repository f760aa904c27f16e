"""What a model says of rows beside its predictions: reports, explanations, suspects, diagnoses, and what a notebook shows."""

import json
import os
import subprocess

import numpy as np
import pytest

import maxmargin
from maxmargin import SVC, SVDD, SVR, InputError, LinearDiscriminantAnalysis, LinearSVC, LogisticRegression, OneClassSVM

pytest.importorskip("sklearn")
import pandas as pd  # noqa: E402
from scipy import sparse  # noqa: E402
from sklearn import datasets, metrics  # noqa: E402

IRIS = datasets.load_iris()
X, Y = IRIS.data, IRIS.target_names[IRIS.target]
_draw = np.random.RandomState(5)
NUMBERS = X[:, 0] + 0.3 * _draw.randn(len(X))


@pytest.mark.parametrize(
    "model",
    [SVC(probability=True), SVC(), LinearSVC(), LinearSVC(intercept_scaling=10), LogisticRegression(C=0.1), LinearDiscriminantAnalysis()],
    ids=str,
)
def test_a_report_of_classes_has_the_numbers_of_scikit_learn(model):
    found = model.fit(X, Y).report(X, Y)
    predicted = model.predict(X)
    precision, recall, f1, rows = metrics.precision_recall_fscore_support(Y, predicted)
    for name, expected in (("precision", precision), ("recall", recall), ("f1", f1), ("rows", rows)):
        np.testing.assert_allclose([score[name] for score in found["classes"]], expected)
    assert [score["label"] for score in found["classes"]] == model.classes_.tolist()
    np.testing.assert_array_equal(found["confusion"], metrics.confusion_matrix(Y, predicted))
    assert found["accuracy"] == pytest.approx(model.score(X, Y))
    assert found["balanced_accuracy"] == pytest.approx(metrics.balanced_accuracy_score(Y, predicted))
    assert found["baseline"] == {"label": "setosa", "accuracy": pytest.approx(1 / 3)}
    if hasattr(model, "predict_proba"):
        assert found["log_loss"] == pytest.approx(metrics.log_loss(Y, model.predict_proba(X)), rel=1e-9)
    else:
        assert found["log_loss"] is None
    assert f"{found['accuracy']:.1%} right" in str(found) and "<pre>" in found._repr_html_()


def test_a_report_of_two_classes_has_their_area_under_the_curve():
    two = IRIS.target == 2
    model = SVC(C=0.1).fit(X, two)
    assert model.report(X, two)["auc"] == pytest.approx(metrics.roc_auc_score(two, model.decision_function(X)))


def test_a_report_of_numbers_has_the_numbers_of_scikit_learn():
    model = SVR().fit(X, NUMBERS)
    found, predicted = model.report(X, NUMBERS), model.predict(X)
    assert found["mean_squared_error"] == pytest.approx(metrics.mean_squared_error(NUMBERS, predicted))
    assert found["mean_absolute_error"] == pytest.approx(metrics.mean_absolute_error(NUMBERS, predicted))
    assert found["r_squared"] == pytest.approx(model.score(X, NUMBERS))
    assert "R²" in str(found)


def test_labels_keep_the_words_of_the_user_where_the_engine_sorts_them_otherwise():
    words = np.array(["10", "9", "a"])[IRIS.target]
    model = SVC().fit(X, words)
    assert [score["label"] for score in model.report(X, words)["classes"]] == ["10", "9", "a"]
    why = model.explain(X, words, rows=70)["rows"][0]
    assert why["label"] == "9" and {vote["label"] for vote in why["votes"]} == {"10", "9", "a"}
    assert [machine["machine"] for machine in model.explain(X, rows=70, all_machines=True)["rows"][0]["machines"]] == [
        "9 against 10",
        "a against 10",
        "a against 9",
    ]


def test_the_terms_of_an_explanation_add_up_to_the_decision_value():
    model = SVC(decision_function_shape="ovo").fit(X, Y)
    found = model.explain(X, Y, rows=[3, 120], terms=1000, all_machines=True)
    for row in found["rows"]:
        values = -model.decision_function(X[[row["row"]]])[0]
        for machine, value in zip(row["machines"], values):
            assert sum(term["term"] for term in machine["terms"]) + machine["bias_value"] == pytest.approx(value)
            for term in machine["terms"]:
                far = np.sum((X[term["training_row"]] - X[row["row"]]) ** 2)
                assert term["value"] == pytest.approx(np.exp(-model._gamma * far)), "rows are counted from 0"
    assert [row["row"] for row in found["rows"]] == [3, 120] and "training row" in str(found)


def test_columns_of_an_explanation_are_named_as_the_frame_names_them_or_counted_from_0():
    frame = pd.DataFrame(X, columns=IRIS.feature_names)
    by_name = LinearSVC().fit(frame, Y).explain(frame, rows=-1)["rows"][0]["machines"][0]["terms"]
    by_number = LinearSVC().fit(X, Y).explain(X.tolist(), rows=149)["rows"][0]["machines"][0]["terms"]
    sparse_ = LinearSVC().fit(sparse.csr_matrix(X), Y).explain(sparse.csr_matrix(X), rows=149)["rows"][0]["machines"][0]["terms"]
    assert [IRIS.feature_names[int(term["column"])] for term in by_number] == [term["column"] for term in by_name]
    assert [term["column"] for term in sparse_] == [term["column"] for term in by_number]


def test_suspects_are_the_rows_that_were_spoilt():
    spoilt = [7, 60, 130]
    labels = Y.copy()
    labels[spoilt] = ["virginica", "setosa", "setosa"]
    model = SVC().fit(X, labels)
    found = model.suspects(X, labels, top=3)
    assert sorted(suspect["row"] for suspect in found["suspects"]) == spoilt and found["same_data"]
    assert not model.suspects(X[1:], labels[1:])["same_data"]
    usual = OneClassSVM(nu=0.1).fit(X).suspects(X, top=5)
    assert all(suspect["decision_value"] < 0 for suspect in usual["suspects"]) and usual["on_the_wrong_side"] is None
    assert not hasattr(OneClassSVM(), "report") and not hasattr(SVDD(), "report")


def test_the_doctor_finds_what_is_wrong_with_data_and_says_it_in_the_words_of_python():
    wild = X * [1.0, 1.0, 1.0, 1e6]
    found = maxmargin.doctor(wild, Y, kernel="rbf", gamma=1e9, C=1e-12)
    kinds = [finding["details"]["finding"] for finding in found["findings"]]
    assert kinds[0] == "unscaled-columns" and "small-penalty" in kinds and "narrow-kernel" in kinds
    assert "--" not in str(found) and "StandardScaler" in str(found)
    fitted = SVC(max_iter=1)
    with pytest.warns(UserWarning):
        fitted.fit(np.repeat(wild, 4, axis=0) + _draw.randn(600, 4), np.repeat(Y, 4))
    found = fitted.doctor(wild, Y)
    assert {"not-converged", "other-data"} <= {finding["details"]["finding"] for finding in found["findings"]}
    assert maxmargin.doctor(_draw.randn(60, 2))["findings"] == []


def test_the_doctor_reads_a_frame_that_no_model_could_be_trained_on():
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"], index=range(1000, 1150))
    frame["kind"] = Y
    frame.iloc[[3, 9], 1] = np.nan
    found = maxmargin.doctor(frame, Y)
    text, missing = found["findings"][:2]
    assert text["details"] == {"finding": "column-of-text", "column": 4, "distinct": 3} and "'kind'" in text["what"]
    assert missing["details"] == {"finding": "missing-values", "column": 1, "count": 2, "row": 3}
    assert (found["rows"], found["columns"]) == (148, 4)
    with pytest.raises(InputError, match=r"Input X contains NaN: the value in row 3 \(index 1003\), column 'b' is nan"):
        SVC().fit(frame[["a", "b"]], Y)
    with pytest.raises(InputError, match="none of the columns"):
        maxmargin.doctor(frame[["kind"]])


def test_wrong_calls_are_refused_with_a_way_out():
    model = SVC().fit(X, Y)
    for call, words in (
        (lambda: model.explain(X, rows=150), "there is no row 150: X has 150 rows"),
        (lambda: model.explain(X, rows=1.5), "rows is 1.5"),
        (lambda: model.explain(X, terms=0), "terms is 0"),
        (lambda: model.suspects(X, Y, top=-1), "top is -1"),
        (lambda: model.suspects(X), "requires y"),
        (lambda: model.report(X, None), "requires y"),
        (lambda: model.report(X, np.repeat("rose", 150)), "the model knows only"),
    ):
        with pytest.raises(InputError, match=words):
            call()
    altered = LinearSVC().fit(X, Y)
    altered.coef_ = altered.coef_ * 2
    with pytest.raises(InputError, match="set after the fit"):
        altered.report(X, Y)


def test_a_notebook_shows_a_model_and_escapes_what_it_shows():
    model = SVC(C=2.0, kernel="rbf(gamma=0.5) + linear").fit(X, Y)
    assert "SVC(C=2.0" in model._repr_html_() and "relative gap" in model._repr_html_() and "60 of" not in SVC()._repr_html_()
    assert "<b>" not in SVC(kernel="<b>")._repr_html_() and "&lt;b&gt;" in SVC(kernel="<b>")._repr_html_()


def test_the_command_line_says_the_same(tmp_path):
    program = os.environ.get("MAXMARGIN")
    if not program:
        pytest.skip("the variable MAXMARGIN names no program")
    table, model = tmp_path / "rows.csv", tmp_path / "model.mm"
    lines = (",".join([*map(repr, row), label]) for row, label in zip(X.tolist(), Y))
    table.write_text("a,b,c,d,y\n" + "\n".join(lines) + "\n")
    fitted = SVC().fit(pd.DataFrame(X, columns=list("abcd")), Y)
    fitted.save(model)

    def told(*words):
        run = subprocess.run([program, words[0], model, table, *words[1:], "--json"], check=True, capture_output=True, text=True)
        return json.loads(run.stdout)

    frame = pd.DataFrame(X, columns=list("abcd"))
    theirs = told("suspects", "--top", "4")
    ours = fitted.suspects(frame, Y, top=4)
    assert [suspect["row"] - 1 for suspect in theirs["suspects"]] == [suspect["row"] for suspect in ours["suspects"]]
    assert {name: theirs[name] for name in theirs if name != "suspects"} == {name: ours[name] for name in ours if name != "suspects"}
    assert told("explain", "--row", "71")["rows"][0]["decision_values"] == fitted.explain(frame, rows=70)["rows"][0]["decision_values"]


def test_the_steps_of_a_solver_lead_to_the_coefficients_of_the_fit():
    two = X[50:], Y[50:]
    model = SVC(kernel="linear", solver="smo", tol=1e-6).fit(*two)
    steps = model.steps(*two, most=100_000)
    alpha, signs = np.zeros(100), np.zeros(100)
    for step in steps:
        assert step["step"] == "pair" and step["machine"] == 0
        np.testing.assert_allclose(alpha[[step["i"], step["j"]]], step["before"], atol=1e-12)
        alpha[[step["i"], step["j"]]], signs[[step["i"], step["j"]]] = step["after"], step["signs"]
    assert steps[-1]["violation"] < steps[0]["violation"] and len(model.steps(*two, most=3)) == 3
    by_row = np.zeros(100)
    by_row[model.support_] = model.dual_coef_[0]
    np.testing.assert_allclose(alpha * signs, by_row, atol=1e-3)
    assert SVC().fit(*two).steps(*two) == []
    with pytest.raises(InputError, match="most is 0"):
        model.steps(*two, most=0)
