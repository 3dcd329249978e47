"""The command line: ``kerndict demo | reproduce``."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import kerndict
from kerndict import demo
from kerndict.paper.protocol import DATASETS, TABLES


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    options = _parser().parse_args(arguments)
    try:
        return options.run(options)
    except (OSError, ValueError, ImportError) as error:
        print(f"kerndict: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("kerndict: stopped; what is finished is kept", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="kerndict",
        description="Classification with incoherent (kernel) dictionary learning.",
    )
    parser.add_argument("--version", action="version", version=f"kerndict {kerndict.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_demo(commands)
    _add_reproduce(commands)
    return parser


def _add_demo(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser(
        "demo", help="both classifiers and their untrained controls on the digits of scikit-learn"
    )
    command.set_defaults(run=_demo)


def _demo(options: argparse.Namespace) -> int:
    for line in demo.lines():
        print(line, flush=True)
    return 0


def _add_reproduce(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser(
        "reproduce",
        help="rerun the paper's tables and figures, with controls, into one report",
        description="Rerun the paper's six tables and six figures with their controls. Rows are "
        "kept as they finish: a run that was stopped, however it was stopped, goes on where it "
        "was. Without --data and --dataset it runs on the digits of scikit-learn.",
        epilog="examples:\n"
        "  kerndict reproduce\n"
        "  kerndict reproduce --data features/ --out results/\n"
        "  kerndict reproduce --data features/ --dataset yaleb --tables III IV --rounds 2",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        help="folder with yaleb, ar (or arface) and caltech101 files, .npz or .mat; a dataset "
        "that it lacks is fetched, unless --dataset leaves it out",
    )
    command.add_argument(
        "--dataset",
        nargs="+",
        choices=list(DATASETS),
        metavar="NAME",
        help=f"of {', '.join(DATASETS)}; default: the paper's three with --data, else digits",
    )
    command.add_argument(
        "--tables",
        nargs="+",
        choices=list(TABLES),
        default=list(TABLES),
        metavar="TABLE",
        help="of I to VI; default: all",
    )
    command.add_argument("--rounds", type=_positive, default=5, help="default: 5")
    command.add_argument("--grid", action="store_true", help="search the paper's grid, too (hours)")
    command.add_argument(
        "--out", type=Path, default=Path("reproduction"), metavar="DIR", help="default: %(default)s"
    )
    command.add_argument(
        "--jobs",
        type=_positive,
        default=1,
        metavar="N",
        help="rows at a time; times are cleanest with 1, the default",
    )
    command.add_argument("--quiet", action="store_true", help="print the path of the report only")
    command.set_defaults(run=_reproduce)


def _reproduce(options: argparse.Namespace) -> int:
    try:
        from kerndict.paper.reproduce import reproduce
    except ImportError as error:
        raise ImportError(
            f"reproduce needs {error.name}: install it with pip install 'kerndict[reproduce]'."
        ) from error
    if options.data is not None and not options.data.is_dir():
        raise ValueError(f"--data {options.data} is not a folder.")
    default = ["digits"] if options.data is None else ["yaleb", "ar", "caltech101"]
    report = reproduce(
        datasets=list(dict.fromkeys(options.dataset or default)),
        tables=list(dict.fromkeys(options.tables)),
        rounds=options.rounds,
        grid=options.grid,
        out=options.out,
        folder=options.data,
        jobs=options.jobs,
        quiet=options.quiet,
    )
    print(f"report: {report.resolve()}")
    return 0


def _positive(text: str) -> int:
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number >= 1")
    return number
