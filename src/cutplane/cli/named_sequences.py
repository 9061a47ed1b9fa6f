"""Chains with kernels in the words of token files: features by name, labels as written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from cutplane.estimators.structured.kernel_structural_svm import KernelStructuralSVM
from cutplane.io.model_file import ModelFile
from cutplane.structured.metrics import SequenceScores, score_sequences
from cutplane.structured.tokens import Vocabulary

#: For each token of each sequence the names of its features.
Sequences: TypeAlias = Sequence[Sequence[Sequence[str]]]


@dataclass(frozen=True)
class NamedSequences:
    """A chain with a kernel as `SequenceSVM` is used: tokens are lists of names, labels are words."""

    model: KernelStructuralSVM
    vocabulary: Vocabulary
    labels: list[str]

    @classmethod
    def restored(cls, model: KernelStructuralSVM, file: ModelFile) -> NamedSequences:
        """With the names that the model file keeps."""
        notes = file.metadata.get("notes", {})
        names, labels = notes.get("names"), notes.get("labels")
        if not isinstance(names, list) or not isinstance(labels, list):
            raise ValueError("A KernelStructuralSVM that was trained in Python takes no files; use it in Python.")
        return cls(model, Vocabulary(names), labels)

    def predict(self, X: Sequences) -> list[list[str]]:
        """The label of each token."""
        found = self.model.predict(token_rows(self.vocabulary, X, grow=False))
        return [[self.labels[code] for code in codes.tolist()] for codes in found]

    def evaluate(self, X: Sequences, y: Sequence[Sequence[str]]) -> SequenceScores:
        """How the predictions compare with the true labels."""
        return score_sequences([list(labels) for labels in y], self.predict(X))


def token_rows(vocabulary: Vocabulary, X: Sequences, *, grow: bool) -> list[sp.csr_array]:
    """A sparse row of features for each token of each sequence; `grow` says whether new names are learnt."""
    tokens = vocabulary.encode(X, grow=grow)
    values = np.ones(len(tokens.indices)) if tokens.values is None else tokens.values
    matrix = sp.csr_array((values, tokens.indices, tokens.indptr), shape=(len(tokens.indptr) - 1, tokens.n_features))
    matrix.sum_duplicates()
    starts = tokens.starts.tolist()
    return [matrix[begin:end] for begin, end in pairwise(starts)]
