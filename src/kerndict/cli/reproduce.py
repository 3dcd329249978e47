"""``kerndict reproduce``: the paper's tables and figures."""

import argparse
from pathlib import Path

from kerndict.cli.common import SUMMARIES, whole_number
from kerndict.paper.protocol import DATASETS, TABLES


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    command = commands.add_parser(
        "reproduce",
        help=SUMMARIES["reproduce"],
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
    command.add_argument("--rounds", type=whole_number(1), default=5, help="default: 5")
    command.add_argument("--grid", action="store_true", help="search the paper's grid, too (hours)")
    command.add_argument(
        "--out", type=Path, default=Path("reproduction"), metavar="DIR", help="default: %(default)s"
    )
    command.add_argument(
        "--jobs",
        type=whole_number(1),
        default=1,
        metavar="N",
        help="rows at a time; times are cleanest with 1, the default",
    )
    command.add_argument("--quiet", action="store_true", help="print the path of the report only")
    command.set_defaults(run=_run, stopped="stopped; what is finished is kept")


def _run(options: argparse.Namespace) -> int:
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
