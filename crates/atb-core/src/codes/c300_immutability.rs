//! 3xx: the file itself: append-only tables, versions, locks, damage.

super::codes! {
    UPDATE_REFUSED = 301, "a row may not be changed";
        "Every table of a ledger is append-only.";
        "The refused statement.";
        "Append a new row: measure again."
    DELETE_REFUSED = 302, "a row may not be deleted";
        "Every table of a ledger is append-only.";
        "The refused statement.";
        "Append a new row: measure again."
    COPIED_ROW = 303, "a row is a copy of an earlier one";
        "A row with the same kind and key exists.";
        "The earlier row.";
        "Nothing is lost: the first row holds. Measure again for new evidence."
    FOREIGN_SCHEMA = 304, "the database has other tables or triggers";
        "The schema differs from the one of this version, so its rules cannot be trusted; the file is not opened.";
        "The first object that differs.";
        "Use a ledger written by atb. If triggers were dropped, treat the file as edited."
    OTHER_VERSION = 305, "the ledger has another format version";
        "It was written by another version of atb.";
        "The file's version and this program's.";
        "Use the atb of that version."
    LOCKED = 306, "the ledger is in use";
        "Another process held the write lock for more than 5 seconds.";
        "The path.";
        "Wait for the other atb, or end it."
    CORRUPT = 307, "the ledger file is damaged";
        "SQLite cannot read it: truncated, overwritten, or damaged pages.";
        "SQLite's reason.";
        "Restore it from a copy, then run atb verify."
    CANNOT_WRITE = 308, "a file cannot be written";
        "The disk is full, or the folder or file is read-only.";
        "The path and the system's reason.";
        "Free space or correct the permissions; what was committed before is intact."
    NOT_A_LEDGER = 309, "the file is not a ledger";
        "The file is empty, is not an SQLite file, or was made by another application.";
        "The path.";
        "Name the atb.db of a campaign folder."
}
