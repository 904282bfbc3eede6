"""SQLite access: an authorizer that lets a query read and do nothing else."""

from __future__ import annotations

import sqlite3

_ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE}
# The file is open for reading only, so these fail by themselves; virtual tables prepare them to be read at all.
_ROWS = {sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE}
_FUNCTIONS = {"load_extension", "fts3_tokenizer"}  # they run code of the query's choice
_TELLING = {"application_id", "encoding", "freelist_count", "page_count", "page_size", "schema_version", "user_version"}
_LISTING = {
    *("table_info", "table_xinfo", "table_list", "index_info", "index_list", "index_xinfo", "foreign_key_list"),
    *("collation_list", "compile_options", "database_list", "function_list", "module_list", "pragma_list"),
}
_NAMES = {
    sqlite3.SQLITE_ATTACH: "ATTACH",
    sqlite3.SQLITE_DETACH: "DETACH",
    sqlite3.SQLITE_FUNCTION: "FUNCTION",
    sqlite3.SQLITE_PRAGMA: "PRAGMA",
    sqlite3.SQLITE_TRANSACTION: "TRANSACTION",
}


class Access:
    """Lets a connection read, and nothing else; ``refused`` is the first thing that a query wanted beside that."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.refused: str | None = None
        connection.set_authorizer(self._authorize)

    def _authorize(
        self, action: int, first: str | None, second: str | None, database: str | None, within: str | None
    ) -> int:
        if action in _ALLOWED or (action in _ROWS and database == "main"):
            return sqlite3.SQLITE_OK
        name = second if action == sqlite3.SQLITE_FUNCTION else first
        if action == sqlite3.SQLITE_FUNCTION and (name or "").lower() not in _FUNCTIONS:
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_PRAGMA:
            pragma = (name or "").lower()
            if pragma in _LISTING or (pragma in _TELLING and second is None):
                return sqlite3.SQLITE_OK
        self.refused = self.refused or f"{_NAMES.get(action, 'change of tables')} {name or ''}".rstrip()
        return sqlite3.SQLITE_DENY
