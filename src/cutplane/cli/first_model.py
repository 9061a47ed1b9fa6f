"""`cutplane quickstart`: a first model, on data that comes with the package."""

from __future__ import annotations

import shlex
from pathlib import Path

import typer
from rich.text import Text

from cutplane.cli.output import print_facts, print_json, stdout
from cutplane.cli.outputs import check_model_output, check_plot_output, check_report_output, check_text_output
from cutplane.cli.quickstart import QuickstartOptions
from cutplane.cli.training import fit, keep
from cutplane.datasets import adult_feature_names, adult_svmlight, load_adult
from cutplane.estimators.linear.linear_svc import LinearSVC
from cutplane.io.atomic import OutputError, replace_file
from cutplane.report.build import write_report
from cutplane.report.plots import save_convergence
from cutplane.report.trained import Examples, Trained


def quickstart(options: QuickstartOptions, context: typer.Context) -> int:
    """Train, write the files, and say what to try next."""
    threads, as_json, quiet = options.threads, options.as_json, options.quiet
    files = _prepare(options.output)
    X, y = load_adult("train")
    X_test, y_test = load_adult("test")
    if not (quiet or as_json):
        stdout().print("Adult (1994 US census): does a person earn over $50,000 a year?\n", style="bold")
    run = fit(LinearSVC(C=1.0, tol=1e-3, n_jobs=threads), X, y, quiet=quiet)
    accuracy = float(run.model.score(X_test, y_test))

    keep(run.model, files["model"], {"data": "Adult (a9a)", "zero_based": False})
    save_convergence(run.model.history_, files["plot"], tol=run.model.tol)
    for subset in ("train", "test"):
        with replace_file(files[subset]) as stream:
            stream.write(adult_svmlight(subset))
    about = Trained(
        run.model,
        train=Examples(X, y),
        held_out=Examples(X_test, y_test),
        feature_names=adult_feature_names(),
        data="Adult",
        command="cutplane quickstart",
        seconds=run.seconds,
    )
    write_report(about, files["report"], "Adult (1994 US census): does a person earn over $50,000 a year?")

    if as_json:
        print_json({**files, **run.as_json(), "test_accuracy": accuracy})
    elif not quiet:
        tested = f"{100 * accuracy:.2f} % of {len(y_test):,} examples it was not trained on"
        print_facts([*run.facts(), ("test accuracy", tested)] + [(name, str(path)) for name, path in files.items()])
        _print_next(files)
    return run.status


def _prepare(folder: Path) -> dict[str, Path]:
    """The files to write, in a folder that exists and lets us."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"The folder {folder} cannot be made: {error.strerror}; --output names another.") from error
    files = {
        "model": folder / "model.safetensors",
        "plot": folder / "convergence.png",
        "report": folder / "report.html",
        "train": folder / "adult-train.svm",
        "test": folder / "adult-test.svm",
    }
    check_model_output(files["model"], inputs=[])
    check_plot_output(files["plot"], inputs=[])
    check_report_output(files["report"], inputs=[])
    for subset in ("train", "test"):
        check_text_output(files[subset], inputs=[])
    return files


def next_commands(files: dict[str, Path]) -> list[str]:
    """Commands that work as they are, on the files that were just written."""
    quoted = {name: shlex.quote(str(path)) for name, path in files.items()}
    other = shlex.quote(str(files["model"].with_name("smaller-C.safetensors")))
    report = shlex.quote(str(files["report"].with_name("smaller-C.html")))
    return [
        f"cutplane evaluate {quoted['model']} {quoted['test']}",
        f"cutplane train {quoted['train']} {other} --C 0.01 --tol 1e-6 --report {report} --test {quoted['test']}",
        f"cutplane predict {quoted['model']} {quoted['test']} --scores | head -n 3",
        f"cutplane info {quoted['model']}",
    ]


def next_python(files: dict[str, Path]) -> list[str]:
    """The same in Python."""
    return [
        "from cutplane import LinearSVC, load",
        "from cutplane.datasets import load_adult",
        f"model = load({str(files['model'])!r})",
        'print(model.gap_, model.score(*load_adult("test")))',
        "model = LinearSVC(C=0.1, tol=1e-6).fit(*load_adult())",
    ]


def _print_next(files: dict[str, Path]) -> None:
    console = stdout()
    for title, lines in (("Try next:", next_commands(files)), ("Or in Python:", next_python(files))):
        console.print(Text(f"\n{title}", style="bold"))
        for line in lines:
            # Never wrapped, so that it can be copied.
            console.print(Text(f"  {line}", style="cyan"), soft_wrap=True)
