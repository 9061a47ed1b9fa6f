"""Flags of LIBLINEAR, LIBSVM and SVM-light, and what to write instead of them."""

from __future__ import annotations

_LINEAR = {
    "0": "--loss logistic --no-intercept",
    "1": "--loss squared_hinge --no-intercept",
    "2": "--loss squared_hinge --no-intercept",
    "3": "--loss hinge --no-intercept",
    "4": "--multi-class crammer_singer --no-intercept",
    "7": "--loss logistic --no-intercept",
    "11": "--task regression --loss squared_epsilon_insensitive --no-intercept",
    "12": "--task regression --loss squared_epsilon_insensitive --no-intercept",
    "13": "--task regression --loss epsilon_insensitive --no-intercept",
}
_KERNELS = {"0": "linear", "1": "poly", "2": "rbf", "3": "sigmoid"}


def instead_of(command: str, option: str, words: list[str]) -> str | None:
    """What to write instead of a flag that a command does not know; None where it is no other tool's either.

    `option` is what was not understood, of all the `words` on the command line.
    """
    flag = option.lstrip("-")[:1] if not option.startswith("--") else ""
    word = (
        next((each for each in words if each.startswith(f"-{flag}") and not each.startswith("--")), "") if flag else ""
    )
    value = _value(words, word)
    if command == "predict":
        return {"b": "write --probability for probabilities."}.get(flag)
    if command not in ("train", "cross-validate", "path") or not flag:
        return None
    if flag == "s":
        return _solver(value)
    if flag == "t":
        kernel = _KERNELS.get(value)
        return f"write --kernel {kernel}." if kernel else "write --kernel NAME; train --help lists the kernels."
    if flag == "w" and len(word) > 2:
        return f"write --class-weight {word[2:]}={value or 'WEIGHT'}; several are separated by commas."
    sentence = _FLAGS.get(flag)
    return None if sentence is None else sentence.replace("VALUE", value or "VALUE")


_FLAGS = {
    "c": "write --C VALUE.",
    "C": "'cutplane path DATA' finds the best C; the weight of the loss is --C NUMBER.",
    "v": "write 'cutplane cross-validate DATA --folds VALUE'.",
    "e": "write --tol VALUE; here that is a gap that is proven.",
    "p": "write --loss-option epsilon=VALUE, or --epsilon VALUE with --kernel.",
    "B": "write --intercept-scaling VALUE, or --no-intercept for -B -1.",
    "g": "write --gamma VALUE, with --kernel.",
    "d": "write --degree VALUE, with --kernel poly.",
    "r": "write --coef0 VALUE, with --kernel poly or sigmoid.",
    "b": "write --probability.",
    "m": "write --cache-size VALUE, with --kernel.",
    "n": "nu is for NuSVC and NuSVR, in Python; threads are --threads VALUE.",
    "M": "each class is trained against the rest, or all together with --multi-class crammer_singer.",
    "w": "write --class-weight LABEL=WEIGHT.",
    "z": "write --task classes, regression or rank.",
}


def _solver(value: str) -> str:
    if value in _LINEAR:
        return f"write {_LINEAR[value]}, which is LIBLINEAR's -s {value} without -B; kernel machines take --kernel."
    if value in ("5", "6"):
        return "models with an L1 penalty are not trained here; --loss names the loss."
    return "write --loss and --task; one-class and nu machines are in Python."


def _value(words: list[str], word: str) -> str:
    """What stands after a word, if that is no option."""
    if word not in words[:-1]:
        return ""
    after = words[words.index(word) + 1]
    return after if not after.startswith("-") or after[1:2].isdigit() else ""
