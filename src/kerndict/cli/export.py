"""``kerndict export``: a model file as an ONNX model."""

import argparse
from pathlib import Path

from kerndict._files import written_whole
from kerndict.classifiers.summary import human_bytes
from kerndict.cli.common import add_command, add_force, check_out, facts
from kerndict.export import to_onnx
from kerndict.persistence import load


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    command = add_command(
        commands,
        "export",
        "Write a model as an ONNX file, which onnxruntime and others run without kerndict and "
        "without Python. Its input is X, its outputs are label and scores, and probabilities and "
        "typicality where the model has them.",
        [
            "kerndict export flowers.safetensors --out flowers.onnx",
            "kerndict export digits.safetensors --out digits.onnx --float32",
        ],
    )
    command.add_argument("model", metavar="MODEL", help="a file written by train")
    command.add_argument("--out", required=True, metavar="FILE", type=Path, help="the ONNX file")
    command.add_argument(
        "--float32",
        action="store_true",
        help="compute in float32: half the size, and a few labels may differ",
    )
    add_force(command)
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    check_out(options.out, [options.model], options.force)
    exported = to_onnx(load(options.model), "float32" if options.float32 else "float64")
    data = exported.SerializeToString()
    with written_whole(options.out, options.force) as file:
        file.write(data)
    outputs = ", ".join(value.name for value in exported.graph.output)
    rows = [("written", f"{options.out}, {human_bytes(len(data))}"), ("outputs", outputs)]
    print(facts(rows))
    return 0
