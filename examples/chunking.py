"""
Chunking: the phrases of a sentence
===================================

A sequence SVM finds noun, verb and prepositional phrases. The sentences are made by a small grammar in which a word's
chunk depends on its neighbours: "her" alone is a phrase, "her dog" is one too, and "fish" may be noun or verb.
``cutplane train --task sequence`` reads real corpora (CoNLL-2000).
"""

import matplotlib.pyplot as plt
import numpy as np

from cutplane import SequenceSVM

NOUNS = ["dog", "cat", "fish", "bird", "house", "river", "market", "idea", "judge", "report"]
VERBS = ["sees", "likes", "fish", "finds", "report", "sold", "crossed", "was", "left", "judge"]
ADJECTIVES = ["old", "small", "green", "quiet", "happy", "left"]
PREPOSITIONS = ["in", "on", "near", "of", "with", "by"]


def noun_phrase(rng: np.random.Generator) -> list[tuple[str, str]]:
    """Words and tags of a noun phrase: B- for its first word, I- for the others."""
    if rng.random() < 0.2:
        return [(str(rng.choice(["she", "it", "they", "her"])), "B-NP")]
    words = [str(rng.choice(["the", "a", "her"]))] if rng.random() < 0.8 else []
    words += [str(word) for word in rng.choice(ADJECTIVES, rng.integers(0, 3))]
    words.append(str(rng.choice(NOUNS)))
    return [(word, "I-NP" if index else "B-NP") for index, word in enumerate(words)]


def sentence(rng: np.random.Generator) -> list[tuple[str, str]]:
    """Noun phrase, verb phrase, maybe an object, maybe prepositional phrases, and a stop."""
    found = noun_phrase(rng)
    if rng.random() < 0.3:
        found += [(str(rng.choice(["will", "may", "did"])), "B-VP"), (str(rng.choice(VERBS)), "I-VP")]
    else:
        found += [(str(rng.choice(VERBS)), "B-VP")]
    if rng.random() < 0.7:
        found += noun_phrase(rng)
    for _ in range(rng.integers(0, 3)):
        found += [(str(rng.choice(PREPOSITIONS)), "B-PP"), *noun_phrase(rng)]
    return [*found, (".", "O")]


def features(words: list[str]) -> list[list[str]]:
    """The word, its neighbours and its ending."""
    padded = ["<", *words, ">"]
    return [
        [f"word={padded[i]}", f"before={padded[i - 1]}", f"after={padded[i + 1]}", f"end={padded[i][-2:]}"]
        for i in range(1, len(padded) - 1)
    ]


# %%
# Train on 400 sentences, test on 200 others.

rng = np.random.default_rng(0)
corpus = [sentence(rng) for _ in range(600)]
X = [features([word for word, _ in each]) for each in corpus]
y = [[tag for _, tag in each] for each in corpus]
model = SequenceSVM(C=1.0).fit(X[:400], y[:400])
scores = model.evaluate(X[400:], y[400:])
print(f"accuracy of tags {scores.accuracy:.4f}   proven gap {model.gap_:.1e}   {len(model.history_)} steps")

# %%
# Chunk a new sentence, and see how the certificate came about.

words = ["they", "fish", "in", "the", "quiet", "old", "river", "."]
(tags,) = model.predict([features(words)])
print("  ".join(f"{word}/{tag}" for word, tag in zip(words, tags, strict=True)))

fig, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.semilogy([step.iteration for step in model.history_], [step.gap for step in model.history_])
ax.set(xlabel="step", ylabel="proven gap")
plt.show()
