#!/usr/bin/env python3
"""Writes the trained model as GGUF files, one for each template, and Ollama's Modelfiles.

    pack.py DIR        reads DIR/tiny.npz; needs: pip install jax gguf
"""

import os
import sys

import numpy as np
from gguf import GGUFWriter, TokenType

import model
import templates
from dialogues import CONTROL, SPECIAL

WINDOW = 32768  # what the files promise; positions were trained up to some thousands
SHARPER = 8  # times as large are the logits: some agents ask for temperature 1, at which so small a model errs


def write(p, name, template, file):
    """Writes a GGUF file with the template."""
    w = GGUFWriter(file, "llama")
    w.add_name(name)
    w.add_context_length(WINDOW)
    w.add_embedding_length(model.WIDTH)
    w.add_block_count(model.LAYERS)
    w.add_feed_forward_length(model.HIDDEN)
    w.add_head_count(model.HEADS)
    w.add_head_count_kv(model.HEADS)
    w.add_layer_norm_rms_eps(1e-5)
    w.add_rope_freq_base(model.ROPE)
    w.add_rope_dimension_count(model.HEAD)
    w.add_vocab_size(model.VOCABULARY)
    w.add_file_type(0)
    letter = letters()
    tokens = [letter[b] for b in range(256)] + SPECIAL
    types = [TokenType.NORMAL] * 256 + [TokenType.CONTROL] * CONTROL + [TokenType.USER_DEFINED] * (len(SPECIAL) - CONTROL)
    while len(tokens) < model.VOCABULARY - 1:
        tokens.append("<|unused%d|>" % len(tokens))
        types.append(TokenType.CONTROL)
    tokens.append(letter[0] + letter[1])  # the list of merges may not be empty: two bytes that no text has
    types.append(TokenType.NORMAL)
    w.add_tokenizer_model("gpt2")
    w.add_tokenizer_pre("qwen2")
    w.add_token_list(tokens)
    w.add_token_types(types)
    w.add_token_merges([letter[0] + " " + letter[1]])
    w.add_bos_token_id(model.IDS["<|endoftext|>"])
    w.add_pad_token_id(model.IDS["<|endoftext|>"])
    w.add_eos_token_id(model.IDS["<|im_end|>"])
    w.add_add_bos_token(False)
    w.add_chat_template(template)
    names = {"an": "attn_norm", "fn": "ffn_norm", "q": "attn_q", "k": "attn_k", "v": "attn_v", "o": "attn_output",
             "g": "ffn_gate", "u": "ffn_up", "d": "ffn_down"}
    w.add_tensor("token_embd.weight", np.asarray(p["emb"], np.float32))
    w.add_tensor("output.weight", SHARPER * np.asarray(p["out"], np.float32))
    w.add_tensor("output_norm.weight", np.asarray(p["on"], np.float32))
    for i in range(model.LAYERS):
        for short, long in names.items():
            w.add_tensor(f"blk.{i}.{long}.weight", np.asarray(p[f"{i}.{short}"], np.float32))
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


def letters():
    """The letter that stands for each byte in a vocabulary of GPT-2's kind."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [b for b in range(256) if b not in shown]
    return {b: chr(b) for b in shown} | {b: chr(256 + i) for i, b in enumerate(hidden)}


def main(folder):
    p = np.load(os.path.join(folder, "tiny.npz"))
    for name in templates.DIALECTS:
        write(p, "tiny-" + name, templates.jinja(name), os.path.join(folder, "tiny-" + name + ".gguf"))
    for name in templates.OLLAMA:
        with open(os.path.join(folder, name + ".mf"), "w") as f:
            f.write(templates.modelfile(name))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
