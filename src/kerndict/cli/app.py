"""The commands together: usage, errors and exit codes."""

import argparse
import os
import re
import sys
import warnings
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from io import TextIOWrapper
from typing import Any, NoReturn

import kerndict
from kerndict.cli.cells import printable
from kerndict.cli.common import SUMMARIES, UsageError

_EPILOG = """examples:
  kerndict train flowers.csv --label species --out flowers.safetensors
  kerndict predict flowers.safetensors new.csv > labels.csv
  kerndict evaluate flowers.safetensors test.csv --label species

kerndict COMMAND --help lists the options of a command.
exit codes: 0 done, 1 the data or the model is at fault, 2 the command line is, 130 Ctrl-C
"""


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code."""
    options = argparse.Namespace(debug=False, stopped=None)
    if sys.stderr is None:  # print would take standard output instead
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # names that the terminal lacks
    try:
        try:
            _parse(sys.argv[1:] if arguments is None else arguments, options)
            with warnings.catch_warnings():
                if not options.debug:
                    warnings.showwarning = _warn
                return options.run(options)
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except KeyboardInterrupt:
        if options.stopped:
            _say(options.stopped)
        return 130
    except BrokenPipeError:
        # Nobody reads on.  What is still buffered must not fail once more at the exit.
        if sys.stdout is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except UsageError as error:
        _say(f"{options.command}: {error}")
        return 2
    except Exception as error:
        if options.debug:
            raise
        _say(_explain(error))
        return 1


def _parse(arguments: Sequence[str], options: argparse.Namespace) -> None:
    """Read the command line; only the command that is asked for is imported."""
    parser = argparse.ArgumentParser(
        prog="kerndict",
        description="Classification with incoherent (kernel) dictionary learning.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"kerndict {kerndict.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    asked = next((word for word in arguments if not word.startswith("-")), "")
    for name, summary in SUMMARIES.items():
        if name == asked:
            import_module(f"kerndict.cli.{name}").add(commands)
        else:
            commands.add_parser(name, help=summary)
    for each in (parser, *commands.choices.values()):
        each.add_argument(
            "--debug",
            action="store_true",
            default=argparse.SUPPRESS,
            help="show the traceback of an error",
        )
    if asked not in SUMMARIES and get_close_matches(asked, SUMMARIES, 1):
        (near,) = get_close_matches(asked, SUMMARIES, 1)
        parser.error(f"argument COMMAND: invalid choice: {asked!r}: did you mean {near}?")
    if asked in SUMMARIES:
        after = arguments[list(arguments).index(asked) + 1 :]
        known = _options(commands.choices[asked])
        wrong = [word for word in after if word[:2] == "--" and word.partition("=")[0] not in known]
        if wrong and "--" not in after:
            _refuse(commands.choices[asked], wrong)
    _, unknown = parser.parse_known_args(arguments, options)
    if unknown:
        _refuse(commands.choices[options.command], unknown)


def _options(command: argparse.ArgumentParser) -> set[str]:
    return {"--help", *re.findall(r"--[a-z][\w-]*", command.format_usage())}


def _refuse(command: argparse.ArgumentParser, unknown: Sequence[str]) -> NoReturn:
    """Say which words a command does not know, and which options they are like."""
    options = _options(command)
    words = f"unrecognized arguments: {' '.join(unknown)}"
    near = [
        close
        for word in unknown
        if word.startswith("-")
        for close in get_close_matches(word.partition("=")[0], options, 1)
    ]
    command.error(f"{words}: did you mean {' and '.join(dict.fromkeys(near))}?" if near else words)


def _explain(error: Exception) -> str:
    """Return an error in words for people."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    if isinstance(error, MemoryError):
        return f"not enough memory. {error}"
    if isinstance(error, (OSError, ValueError, ImportError)):
        first, _, _ = str(error).partition("\n")
        return first if first.startswith("Input X contains") else str(error)
    return f"internal error, {type(error).__name__}: {error}; --debug shows where"


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    _say(f"warning: {message}")


def _say(words: str) -> None:
    lines = "\n".join(map(printable, words.split("\n")))
    print(f"kerndict: {lines}", file=sys.stderr)
