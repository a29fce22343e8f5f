"""Chroma's client for an index: on the database in its folder, or on a server that its folder names."""

from __future__ import annotations

import logging
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from rag.errors import ConferError, UsageError
from rag.schema import Model

FOLDER = "chroma"
FILE = "chroma.sqlite3"
SERVER = "chroma-server.json"


class Server(Model):
    """Where the collections of an index are, if not in its folder; each index has a database of its own there."""

    url: str
    database: str


def has_database(index: Path) -> bool:
    """Whether there is a database for the index at a path."""
    return (index / FOLDER / FILE).is_file() or (index / SERVER).is_file()


def use_server(index: Path, url: str) -> None:
    """Note that the collections of a new index are on a server, and make their database there.

    Raises UsageError for what is no URL, ConferError where no server answers.
    """
    import chromadb

    server = Server(url=url, database=f"confer-{uuid.uuid4().hex[:16]}")
    settings = _settings(chroma_api_impl="chromadb.api.fastapi.FastAPI", **_address(server.url))
    try:
        chromadb.AdminClient(settings).create_database(server.database)
    except Exception as error:  # Chroma and its HTTP library raise many kinds
        raise ConferError(f"the Chroma server at {url} makes no database: {error}") from error
    (index / SERVER).write_text(server.model_dump_json() + "\n", encoding="utf-8")


def open_client(index: Path) -> Any:
    """Return a client for the index at a path, whose database is made where it is missing; telemetry is off.

    Raises ConferError where its server does not answer.
    """
    if (index / SERVER).is_file():
        return _on_server(Server.model_validate_json((index / SERVER).read_text(encoding="utf-8")))
    import chromadb

    folder = index / FOLDER
    spelt = _spelling(folder)
    client = chromadb.PersistentClient(spelt, settings=_settings())
    _OPENED[str(folder)] = (spelt, _inode(folder))
    return client


def _on_server(server: Server) -> Any:
    import chromadb

    address = _address(server.url)
    try:
        return chromadb.HttpClient(
            host=address["chroma_server_host"],
            port=address["chroma_server_http_port"],
            ssl=address["chroma_server_ssl_enabled"],
            database=server.database,
            settings=_settings(),
        )
    except Exception as error:
        raise ConferError(f"the Chroma server at {server.url} does not give the index: {error}") from error


def _address(url: str) -> dict[str, Any]:
    """Host and port of a URL as Chroma's settings call them. Raises UsageError for anything else."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.path.strip("/"):
        raise UsageError(f"chroma_url is {url!r}; write http://HOST:PORT or https://HOST:PORT")
    secure = parts.scheme == "https"
    return {
        "chroma_server_host": parts.hostname,
        "chroma_server_http_port": parts.port or (443 if secure else 8000),
        "chroma_server_ssl_enabled": secure,
    }


def _settings(**more: Any) -> Any:
    from chromadb.config import Settings as ChromaSettings

    logging.getLogger("chromadb.telemetry").disabled = True
    return ChromaSettings(anonymized_telemetry=False, **more)


# Chroma shares one connection among all clients of a process that spell a path alike. A folder that was removed and
# made again while an index on it was open must not get the connection to the removed files, so it is spelt anew.
_OPENED: dict[str, tuple[str, int | None]] = {}  # path: how it was spelt last, and the file that was found there


def _spelling(folder: Path) -> str:
    spelt, inode = _OPENED.get(str(folder), (str(folder), None))
    return spelt if inode in {None, _inode(folder)} else f"{spelt}/."


def _inode(folder: Path) -> int | None:
    database = folder / FILE
    return database.stat().st_ino if database.exists() else None
