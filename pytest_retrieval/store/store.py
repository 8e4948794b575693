"""The store of a user: shelves of packs, and records of whole things such as a tree."""

from __future__ import annotations

import os
import re
from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from pytest_retrieval.store import upkeep
from pytest_retrieval.store.location import DEFAULT_SIZE, parse_size
from pytest_retrieval.store.sealed import DamagedError, open_kept, seal, unseal, write_whole
from pytest_retrieval.store.shelf import Shelf, remove, touch

FORMAT = "v2"
DEFAULT_LIMIT = parse_size(DEFAULT_SIZE)
_SHELVES_OPEN = 6
_TAG = b"Signature: 8a477f597d28d172789f06886806bc55\n# Everything here can be made again.\n"


class Store:
    """The store below ``root``, of at most about ``limit`` bytes.

    Several processes may use one at any time. Nothing that goes wrong reaches the caller: what cannot be read
    counts as missing, and the first failure to write ends all writing and is told to ``notice`` as one line;
    ``fault`` is then its reason.
    """

    def __init__(
        self, root: Path, limit: int = DEFAULT_LIMIT, notice: Callable[[str], None] = lambda line: None
    ) -> None:
        self.root = root
        self.folder = root / FORMAT
        self.limit = limit
        self._notice = notice
        self._shelves: OrderedDict[tuple[str, str], Shelf] = OrderedDict()
        self._made: set[Path] = set()
        self.fault: str | None = None
        self._written = 0
        self._uses = dict.fromkeys(upkeep.USES, 0)

    @property
    def writable(self) -> bool:
        """Whether what is made is kept; False after a failure to write."""
        return self.fault is None

    def shelf(self, kind: str, repo: str) -> Shelf:
        """The shelf of ``kind`` for ``repo``; the latest few stay open."""
        key = (kind, repo)
        if key not in self._shelves:
            while len(self._shelves) >= _SHELVES_OPEN:
                self._settle(self._shelves.popitem(last=False)[1])
            folder = self.folder / f"shelf-{_slug(repo)}"
            self._make(folder)
            self._shelves[key] = Shelf(folder, kind, self._give_up)
        self._shelves.move_to_end(key)
        return self._shelves[key]

    def record(self, kind: str, identity: str) -> bytes | None:
        """The record of ``kind`` for ``identity``, or None; a damaged one is removed."""
        path = self._record_path(kind, identity)
        self._uses["records asked"] += 1
        try:
            with open_kept(path) as file:
                payload = unseal(file, os.fstat(file.fileno()).st_size, path.name)
        except DamagedError:
            remove(path)
            return None
        except OSError:
            return None
        touch(path)
        self._uses["records found"] += 1
        return payload

    def has_record(self, kind: str, identity: str) -> bool:
        """Whether there is a record, damaged or not."""
        return self._record_path(kind, identity).is_file()

    def keep_record(self, kind: str, identity: str, payload: bytes) -> None:
        """Keep ``payload`` as the record of ``kind`` for ``identity``."""
        path = self._record_path(kind, identity)
        if not self._make(path.parent):
            return
        try:
            self._written += write_whole(path, [seal(payload, path.name)])
        except OSError as error:
            self._give_up(error)

    def check(self) -> None:
        """Try to write, so that a store that cannot be written is known before the run."""
        self._make(self.folder)

    def close(self) -> None:
        """Note what was used, and evict what is over the limit if anything was written."""
        while self._shelves:
            self._settle(self._shelves.popitem()[1])
        if not self.writable:
            return
        upkeep.note_uses(self.folder, self._uses)
        if self._written:
            upkeep.evict(self.folder, self.limit)
        self._uses = dict.fromkeys(upkeep.USES, 0)
        self._written = 0

    def _settle(self, shelf: Shelf) -> None:
        self._uses["contents asked"] += shelf.asked
        self._uses["contents found"] += shelf.found
        self._written += shelf.written
        shelf.close()

    def _record_path(self, kind: str, identity: str) -> Path:
        name = sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()
        return self.folder / f"{kind}s" / f"{name}.{kind}"

    def _make(self, folder: Path) -> bool:
        """Whether ``folder`` is there to be written into."""
        if not self.writable or folder in self._made:
            return self.writable
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            tag = self.root / "CACHEDIR.TAG"
            if not tag.exists():
                write_whole(tag, [_TAG])
        except OSError as error:
            self._give_up(error)
        self._made.add(folder)
        return self.writable

    def _give_up(self, error: OSError) -> None:
        if self.fault is None:
            self.fault = error.strerror or type(error).__name__
            self._notice(f"the store {self.root} cannot be written ({self.fault}); going on without keeping")


def _slug(repo: str) -> str:
    """A folder's name for a repository: to be read, and as distinct as the repository."""
    shown = re.sub(r"[^A-Za-z0-9_.-]", "_", repo)[:60]
    return f"{shown}-{sha256(repo.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
