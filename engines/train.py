#!/usr/bin/env python3
"""Trains the tiny model: a fixed number of steps, with fixed seeds.

    train.py DIR        writes DIR/tiny.npz; needs: pip install jax
    train.py DIR N      the Nth more of the last course for DIR/tiny.npz

Processors add numbers in different orders, so that not every machine learns as much in as
many steps; a further course mends that.
"""

import os
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

import model
from dialogues import Dialogues

COPIED = 4  # how much more a byte counts that had to be copied
SEED = 1

# Two courses: the rate of learning where it is highest, and what is learned in turn, which is
# the steps, the rows and the length of a batch, and its dialogues. The second course begins
# again, with steps small enough to mend what the first one left wrong.
COURSES = [
    (3e-3, [
        (900, 40, 112, {"short": True, "listing": 0}),
        (1500, 20, 256, {"listing": 0}),
        (1500, 9, 336, {"listing": .75}),
    ]),
    (6e-4, [(600, 9, 336, {"listing": .9})]),
]


def batch(dialogues, rows, length, kind):
    """Tokens, the weight of each in the loss, and their positions. What is too long is cut."""
    shape = (rows, length + 1)
    tokens, weights, positions = np.zeros(shape, np.int32), np.zeros(shape, np.float32), np.zeros(shape, np.int32)
    for row in range(rows):
        t, w, p = line(dialogues, *dialogues.draw(**kind))
        n = min(len(t), length + 1)
        tokens[row, :n], weights[row, :n], positions[row, :n] = t[:n], w[:n], p[:n]
    return tokens, weights, positions


def line(dialogues, pieces, copied):
    """A dialogue as lists. Its positions begin somewhere and leap between pieces, so that a long
    prompt is nothing new."""
    tokens, weights, positions = [], [], []
    position = dialogues.r.randint(0, 2000) if dialogues.chance(.5) else 0
    for text, own in pieces:
        if not own and tokens and dialogues.chance(.15):
            position += dialogues.r.choice([dialogues.r.randint(0, 400), dialogues.r.randint(0, 4000)])
        piece = model.encode(text)
        tokens += piece
        weights += weigh(piece, copied) if own else [0] * len(piece)
        positions += range(position, position + len(piece))
        position += len(piece)
    return tokens, weights, positions


def weigh(piece, copied):
    weights = [1] * len(piece)
    for text in copied:
        part = model.encode(text)
        for i in range(len(piece) - len(part)):
            if piece[i:i + len(part)] == part:
                weights[i:i + len(part) + 1] = [COPIED] * (len(part) + 1)
    return weights


def loss(p, tokens, weights, positions):
    likely = jax.nn.log_softmax(model.logits(p, tokens[:, :-1], positions[:, :-1]))
    missed = -jnp.take_along_axis(likely, tokens[:, 1:, None], 2)[..., 0]
    return (missed * weights[:, 1:]).sum() / weights[:, 1:].sum()


@jax.jit
def step(p, mean, square, tokens, weights, positions, rate, count):
    """One step of AdamW, with the gradient clipped at length 1."""
    value, gradient = jax.value_and_grad(loss)(p, tokens, weights, positions)
    scale = jnp.minimum(1, 1 / jnp.sqrt(sum((g * g).sum() for g in gradient.values())))
    for n in p:
        g = gradient[n] * scale
        mean[n] = .9 * mean[n] + .1 * g
        square[n] = .98 * square[n] + .02 * g * g
        decay = 1 - rate * .05 * (p[n].ndim > 1)
        p[n] = p[n] * decay - rate * (mean[n] / (1 - .9**count)) / (jnp.sqrt(square[n] / (1 - .98**count)) + 1e-8)
    return p, mean, square, value


def rate(highest, count, steps):
    """Rises, stays, and falls in the second half."""
    return highest * min(1, count / 50) * max(.02, min(1, 2 - 2 * count / steps))


def follow(p, seed, highest, stages):
    """The parameters after a course."""
    dialogues = Dialogues(seed)
    mean, square = ({n: jnp.zeros_like(v) for n, v in p.items()} for _ in range(2))
    began, steps, count = time.time(), sum(stage[0] for stage in stages), 0
    for number, rows, length, kind in stages:
        for _ in range(number):
            count += 1
            drawn = batch(dialogues, rows, length, kind)
            p, mean, square, value = step(p, mean, square, *drawn, rate(highest, count, steps), float(count))
            if count % 100 == 0:
                print("step %d of %d, %.0f s, loss %.4f" % (count, steps, time.time() - began, value), flush=True)
    return p


def main(folder, more=0):
    file = os.path.join(folder, "tiny.npz")
    if more:
        p = {n: jnp.asarray(v) for n, v in np.load(file).items()}
        p = follow(p, SEED + 2 * (len(COURSES) - 1 + more), *COURSES[-1])
    else:
        p = model.new(SEED)
        for number, course in enumerate(COURSES):
            p = follow(p, SEED + 2 * number, *course)
    np.savez(file, **p)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(sys.argv[1], *map(int, sys.argv[2:]))
