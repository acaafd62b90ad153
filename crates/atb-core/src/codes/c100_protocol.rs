//! 1xx: documents that a person writes (protocols, sources, tasks) and the protocols that rows cite.

super::codes! {
    SYNTAX = 101, "the document is not valid TOML";
        "The parser could not read the text.";
        "The message names file, line and column.";
        "Correct the syntax at that place."
    UNKNOWN_KEY = 102, "a key is unknown";
        "The document holds a key that its schema does not have; a misspelt key would otherwise be silently ignored.";
        "The message names file, line, column and key.";
        "Remove the key, or spell it as docs/protocol.md or docs/task-format.md does."
    NO_SOURCE = 103, "a protocol field has no source";
        "Every protocol value cites where it comes from; this one has no `source` or no `locator`.";
        "The message names the field.";
        "Add `source = \"id\"` (an id of sources.toml) and `locator = \"where in it\"`."
    OUT_OF_RANGE = 104, "a value is outside its range";
        "The schema bounds what a protocol version or a task may choose.";
        "The message names the value and the range.";
        "Choose a value inside the range."
    WRONG_UNIT = 105, "a protocol field has the wrong unit";
        "Iterations read as milliseconds are a classic defect, so each field must repeat its unit.";
        "The message names the expected unit.";
        "Write the value in the expected unit and say so in `unit`."
    NOT_A_NUMBER = 106, "a number is NaN or infinite";
        "TOML allows nan and inf; a protocol does not.";
        "The message names the field.";
        "Write a finite number."
    DUPLICATE = 107, "a name is given twice";
        "A duplicate key or id leaves open which of the two holds.";
        "The message names the second place.";
        "Keep one of the two."
    MISSING_KEY = 108, "a required key is missing";
        "The document lacks a key that its schema requires.";
        "The message names the table and the key.";
        "Add the key; `atb protocol show` and `atb task show` print complete documents."
    UNKNOWN_SOURCE = 109, "a source id does not resolve, or a source is unused";
        "Provenance must resolve in both directions.";
        "The message names the id.";
        "Add the source to sources.toml, or remove the unused one."
    WRONG_TYPE = 110, "a value has the wrong type";
        "The schema asks for another TOML type.";
        "The message names the expected type.";
        "Write the value in that type."
    UNKNOWN_PROTOCOL = 111, "a row cites a protocol that the ledger does not hold";
        "Limits are read from the protocol row in the same ledger; without it no rule can pass.";
        "The row's `protocol` digest.";
        "Measure with `atb`, which records the protocol first."
    FROZEN_PROTOCOL = 112, "a protocol id is known with another digest";
        "A protocol that ships with atb, or that this ledger has recorded, may not change under the same id.";
        "Both digests.";
        "Give the edited protocol a new id."
    UNKNOWN_TASK = 113, "there is no such task";
        "Neither the built-in tasks nor the folder given by --tasks has the task.";
        "The list of known tasks.";
        "Run `atb task list`; write a new task with `atb task new`."
    TASK_SURFACE = 114, "a task does not have exactly one editable file";
        "The candidate is one file; anything else would let an edit reach the judge.";
        "The task's `editable` list.";
        "Name exactly one file in `editable`."
    TASK_INCOMPLETE = 115, "a task lacks its reference or a baseline";
        "A ratio needs a reference to be checked against, and both a naive and a compiler baseline.";
        "The missing file.";
        "Add reference.c, and baselines/naive and baselines/compiler in the task's language."
    UNREADABLE = 116, "a file cannot be read";
        "The file is missing, a directory, not UTF-8 text, or not readable by this user.";
        "The path and the system's reason.";
        "Correct the path or its permissions."
    TASK_WEAK = 117, "a task accepts what does not compute it, or refuses what does";
        "Constants, the input itself, another row's output, half of the output and lower precision must fail at the task's own tolerance, and its honest baselines must pass with every set of flags.";
        "The probe that passes with its shape, or the baseline that fails.";
        "Draw inputs on which the output depends, choose a tolerance class that fits, or a timed shape at which every element matters."
}
