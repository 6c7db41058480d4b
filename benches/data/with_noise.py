#!/usr/bin/env python3
"""Write a labelled set with the memories of another one added to every store, as noise.

usage: python3 with_noise.py SET NOISE OUT [--skip-speaker NAME]

SET and NOISE are folders with memories.jsonl, queries.jsonl and memories.MODEL.f16.npy; both of the same MODEL.
OUT gets the queries of SET, and for each of its conversations its memories and those of NOISE, whose sessions and ids
are prefixed so that nothing is taken for a turn of the same conversation. `mnemic eval OUT` reads it.
Standard library only.
"""
import argparse
import ast
import json
import pathlib
import shutil
import sys


def lines(path):
    return [json.loads(line) for line in open(path, encoding="utf-8") if line.strip()]


def read_npy(path):
    data = path.read_bytes()
    size = int.from_bytes(data[8:10], "little")
    header = ast.literal_eval(data[10 : 10 + size].decode())
    rows, columns = header["shape"]
    if header["descr"] != "<f2" or header["fortran_order"]:
        sys.exit(f"{path}: not float16 in C order")
    body = data[10 + size :]
    return [body[2 * columns * i : 2 * columns * (i + 1)] for i in range(rows)], columns


def write_npy(path, rows, columns):
    header = f"{{'descr': '<f2', 'fortran_order': False, 'shape': ({len(rows)}, {columns}), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + b"".join(rows))


def model_of(folder):
    found = sorted(folder.glob("memories.*.f16.npy"))
    if not found:
        sys.exit(f"{folder}: no memories.MODEL.f16.npy")
    return found[0].name.split(".")[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("set", type=pathlib.Path)
    parser.add_argument("noise", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--skip-speaker", action="append", default=[], help="leave out what this one said")
    args = parser.parse_args()
    model = model_of(args.set)
    memories, noise = lines(args.set / "memories.jsonl"), lines(args.noise / "memories.jsonl")
    vectors, columns = read_npy(args.set / f"memories.{model}.f16.npy")
    noise_vectors, noise_columns = read_npy(args.noise / f"memories.{model}.f16.npy")
    if (len(memories), len(noise), columns) != (len(vectors), len(noise_vectors), noise_columns):
        sys.exit("rows and lines differ in number, or the sets in columns")
    kept = [(m, v) for m, v in zip(noise, noise_vectors) if m["speaker"] not in args.skip_speaker]
    written, rows = [], []
    for conv in dict.fromkeys(memory["conv"] for memory in memories):
        for memory, vector in zip(memories, vectors):
            if memory["conv"] == conv:
                written.append(memory)
                rows.append(vector)
        for memory, vector in kept:
            source = f"noise-{memory['conv']}"
            session = f"{source}-{memory['session']}"
            written.append({**memory, "id": f"{source}-{memory['id']}", "conv": conv, "session": session})
            rows.append(vector)
    args.out.mkdir(parents=True, exist_ok=True)
    with open(args.out / "memories.jsonl", "w", encoding="utf-8") as out:
        out.writelines(json.dumps(memory, ensure_ascii=False) + "\n" for memory in written)
    write_npy(args.out / f"memories.{model}.f16.npy", rows, columns)
    for name in ("queries.jsonl", f"queries.{model}.f16.npy"):
        shutil.copy(args.set / name, args.out / name)
    print(f"{len(written)} memories, {len(kept)} of noise in each store: {args.out}")


if __name__ == "__main__":
    main()
