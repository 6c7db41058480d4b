#!/usr/bin/env python3
"""Makes a table of token vectors from a sentence embedding model. See README.md beside it.

usage: make_table.py --model model.onnx --tokenizer tokenizer.json --wordnet DICT_DIR --out DIR [--columns 128]
DICT_DIR holds data.noun, data.verb, data.adj and data.adv of WordNet 3.0.
"""
import argparse
import os
import random
import re

import numpy as np
from scipy.sparse import csr_matrix

TEXTS = 80_000
SPECIAL = re.compile(r"\[(PAD|UNK|CLS|SEP|MASK|unused\d+)\]$")


def wordnet_texts(folder):
    """Glosses as `lemma: gloss`, and example sentences of four words or more, in random order."""
    texts = []
    for part in ("noun", "verb", "adj", "adv"):
        with open(os.path.join(folder, "data." + part), encoding="utf-8") as file:
            for line in file:
                if line.startswith(" ") or "|" not in line:
                    continue
                lemma = line.split(" ", 5)[4].split("(")[0].replace("_", " ")
                told = line.split("|", 1)[1].strip()
                gloss = re.split(r';\s*"', told)[0].strip()
                texts.append(f"{lemma}: {gloss}")
                texts += [e for e in re.findall(r'"([^"]+)"', told) if len(e.split()) >= 4]
    texts = sorted(set(texts))
    random.Random(0).shuffle(texts)
    return texts[:TEXTS]


class Model:
    """Mean pooling over an ONNX export, unit length."""

    def __init__(self, model, tokenizer):
        import onnxruntime
        from tokenizers import Tokenizer

        self.session = onnxruntime.InferenceSession(model)
        self.inputs = {i.name for i in self.session.get_inputs()}
        self.tokenizer = Tokenizer.from_file(tokenizer)
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(256)

    def embed(self, sequences, batch=128):
        """Sequences of token ids, special tokens included, to rows."""
        order = np.argsort([len(s) for s in sequences], kind="stable")
        rows = [None] * len(sequences)
        for at in range(0, len(order), batch):
            part = order[at : at + batch]
            width = max(len(sequences[i]) for i in part)
            ids = np.zeros((len(part), width), np.int64)
            mask = np.zeros_like(ids)
            for row, i in enumerate(part):
                ids[row, : len(sequences[i])] = sequences[i]
                mask[row, : len(sequences[i])] = 1
            feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            hidden = self.session.run(None, {k: v for k, v in feed.items() if k in self.inputs})[0]
            mean = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
            for row, i in enumerate(part):
                rows[i] = mean[row] / np.linalg.norm(mean[row])
        return np.array(rows, np.float32)


def count_matrix(token_lists, vocabulary):
    """How often each text holds each token, divided by the square root of its length."""
    rows, columns, values = [], [], []
    for row, tokens in enumerate(token_lists):
        for token in tokens:
            rows.append(row)
            columns.append(token)
            values.append(len(tokens) ** -0.5)
    return csr_matrix((values, (rows, columns)), (len(token_lists), vocabulary))


def ridge(x, y, start, strength, steps=60):
    """The w near `start` with x @ w near y: conjugate gradients on (x'x + strength) (w - start) = x'(y - x start)."""
    w = np.zeros_like(start)
    residual = x.T @ (y - x @ start)
    direction = residual.copy()
    norm = (residual**2).sum(0)
    for _ in range(steps):
        applied = x.T @ (x @ direction) + strength * direction
        step = norm / np.maximum((direction * applied).sum(0), 1e-30)
        w += step * direction
        residual -= step * applied
        new = (residual**2).sum(0)
        direction = residual + (new / np.maximum(norm, 1e-30)) * direction
        norm = new
    return start + w


def quantise(table):
    scale = np.abs(table).max(1) / 127
    rows = np.round(table / np.maximum(scale, 1e-12)[:, None]).astype(np.int8)
    return rows, scale.astype("<f4")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("model", "tokenizer", "wordnet", "out"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--columns", type=int, default=128)
    parser.add_argument("--ridge", type=float, default=1.0)
    args = parser.parse_args()
    model = Model(args.model, args.tokenizer)
    size = model.tokenizer.get_vocab_size()
    tokens = [model.tokenizer.id_to_token(i) for i in range(size)]
    begin, unknown, end = (model.tokenizer.token_to_id(t) for t in ("[CLS]", "[UNK]", "[SEP]"))

    texts = wordnet_texts(args.wordnet)
    ids = [model.tokenizer.encode(text, add_special_tokens=False).ids for text in texts]
    sentences = model.embed([[begin, *i, end] for i in ids])
    alone = model.embed([[begin, i, end] for i in range(size)])

    _, _, axes = np.linalg.svd(sentences - sentences.mean(0), full_matrices=False)
    axes = axes[: args.columns].T
    # A vocabulary in the order of frequency: Zipf's law makes the logarithm of the rank an inverse frequency.
    weight = np.log1p(np.arange(size))[:, None]
    start = (alone - alone.mean(0)) @ axes * weight
    start[[i for i, token in enumerate(tokens) if SPECIAL.match(token)]] = 0
    x = count_matrix([[t for t in i if t != unknown] for i in ids], size)
    y = sentences @ axes
    sums = x @ start
    start *= (sums * y).sum() / (sums**2).sum()
    table = ridge(x, y, start, args.ridge)

    rows, scale = quantise(table)
    os.makedirs(args.out, exist_ok=True)
    rows.tofile(os.path.join(args.out, "rows.i8"))
    scale.tofile(os.path.join(args.out, "scales.f32"))
    with open(os.path.join(args.out, "vocab.txt"), "w", encoding="utf-8") as file:
        file.writelines(token + "\n" for token in tokens)


if __name__ == "__main__":
    main()
