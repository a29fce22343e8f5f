"""The `confer` command. Results go to stdout, messages to stderr; exit 0 done, 1 failed, 2 wrong usage or input."""

from __future__ import annotations

import sys

import typer

from ui.cli import ask, chat, fetch, ingest, papers, serve, trend

app = typer.Typer(
    help="Ask questions over a list of papers; every answer sentence shows the words that carry it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for group in (fetch, ingest, ask, chat, trend, serve, papers):
    group.register(app)


def main() -> None:
    """Run the command; every error that Confer knows is one line on stderr."""
    from pydantic import ValidationError

    from rag.errors import ConferError, UsageError

    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]  # whatever the locale says
    try:
        app()
    except ConferError as error:
        print(f"confer: {error}", file=sys.stderr)
        sys.exit(2 if isinstance(error, UsageError) else 1)
    except ValidationError as error:
        for problem in error.errors():
            name = "_".join(str(p) for p in problem["loc"]).upper()
            print(f"confer: setting CONFER_{name}: {problem['msg']}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        sys.stderr.close()  # the reader has gone (`| head`): nothing more to say
        sys.exit(0)
    except KeyboardInterrupt:
        print("confer: stopped", file=sys.stderr)
        sys.exit(1)
