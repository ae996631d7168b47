"""A llama of 330,000 parameters in jax, with a token for each byte."""

import re

import jax
import jax.numpy as jnp
import numpy as np

from dialogues import SPECIAL

WIDTH, LAYERS, HEADS, HIDDEN, VOCABULARY = 96, 3, 3, 192, 272
HEAD = WIDTH // HEADS
ROPE = 500000.0
FREQUENCIES = 1 / ROPE ** (np.arange(0, HEAD, 2) / HEAD)

IDS = {text: 256 + i for i, text in enumerate(SPECIAL)}
_CUT = re.compile("(" + "|".join(map(re.escape, SPECIAL)) + ")")


def encode(text):
    out = []
    for piece in _CUT.split(text):
        out += [IDS[piece]] if piece in IDS else list(piece.encode())
    return out


def new(seed):
    """Parameters to start from. Head 0 of layer 0 begins as one that looks at the token before
    (a constant dimension, turned by one position): copying is learned in minutes, not hours."""
    g = np.random.default_rng(seed)

    def normal(*shape, scale=.02):
        return g.normal(0, scale, shape)

    p = {"emb": normal(VOCABULARY, WIDTH, scale=.5), "out": normal(VOCABULARY, WIDTH), "on": np.ones(WIDTH)}
    for i in range(LAYERS):
        p |= {f"{i}.an": np.ones(WIDTH), f"{i}.fn": np.ones(WIDTH), f"{i}.o": normal(WIDTH, WIDTH, scale=.03)}
        p |= {f"{i}.{n}": normal(WIDTH, WIDTH, scale=WIDTH**-.5) for n in "qkv"}
        p |= {f"{i}.{n}": normal(HIDDEN, WIDTH, scale=WIDTH**-.5) for n in "gu"}
        p |= {f"{i}.d": normal(WIDTH, HIDDEN, scale=.03)}
    p["emb"][:, 0] = 1
    p["0.q"][:HEAD] = p["0.k"][:HEAD] = 0
    for i, f in enumerate(FREQUENCIES[:6]):
        p["0.k"][2 * i, 0] = 2.56
        p["0.q"][2 * i, 0], p["0.q"][2 * i + 1, 0] = 2.56 * np.cos(-f), 2.56 * np.sin(-f)
    return {n: jnp.asarray(v, jnp.float32) for n, v in p.items()}


def logits(p, tokens, positions):
    rows, length = tokens.shape
    angle = positions[:, :, None, None] * FREQUENCIES
    cos, sin = jnp.cos(angle), jnp.sin(angle)
    past = jnp.tril(jnp.ones((length, length), bool))

    def norm(x, weight):
        return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5) * weight

    def rope(x):  # pairs (2i, 2i+1), as llama.cpp's architecture "llama" has them
        a, b = x[..., 0::2], x[..., 1::2]
        return jnp.stack([a * cos - b * sin, a * sin + b * cos], -1).reshape(x.shape)

    h = p["emb"][tokens]
    for i in range(LAYERS):
        y = norm(h, p[f"{i}.an"])
        q, k, v = [(y @ p[f"{i}.{n}"].T).reshape(rows, length, HEADS, HEAD) for n in "qkv"]
        score = jnp.einsum("bthd,bshd->bhts", rope(q), rope(k)) * HEAD**-.5
        share = jax.nn.softmax(jnp.where(past, score, -1e9), -1)
        h = h + jnp.einsum("bhts,bshd->bthd", share, v).reshape(rows, length, WIDTH) @ p[f"{i}.o"].T
        y = norm(h, p[f"{i}.fn"])
        h = h + (jax.nn.silu(y @ p[f"{i}.g"].T) * (y @ p[f"{i}.u"].T)) @ p[f"{i}.d"].T
    return norm(h, p["on"]) @ p["out"].T
