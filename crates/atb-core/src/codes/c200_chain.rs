//! 2xx: the chain, the form of rows, and what rows cite.

super::codes! {
    SEQUENCE = 201, "a row does not have the next sequence number";
        "Rows are appended one by one; a gap, a repeat or a REPLACE of an old row breaks the sequence.";
        "The row's seq and the table's last one.";
        "Append through atb. If atb verify reports this, the file was edited."
    CHAIN = 202, "a row does not continue the chain";
        "Its `prev` is not the hash of the row before it.";
        "Both hashes.";
        "Append through atb. If atb verify reports this, the file was edited."
    HASH = 203, "a row's hash is not the hash of its content";
        "SQL checks the form; atb verify recomputes SHA-256 over the row.";
        "The stored and the recomputed hash.";
        "Restore the ledger from a copy; the row was edited."
    KIND = 204, "a row has an unknown kind";
        "The ledger accepts only the kinds that its rules know.";
        "The row's kind.";
        "Append through atb of the same version."
    SHAPE = 205, "a row's body does not have its kind's form";
        "The body is not canonical JSON, lacks a key, has an unknown key, or has a value of another type.";
        "The row's body.";
        "Append through atb."
    CITATION = 206, "a row cites something that the ledger does not hold";
        "The campaign, session, task, candidate or block that it cites has no row, or does not fit the row.";
        "The cited key.";
        "Append through atb, which writes the cited row first."
    SEED_REUSED = 207, "a seed was used before";
        "Selection, gate and headline must use disjoint inputs, so a seed may occur once in a ledger.";
        "The seed and the earlier row.";
        "Measure again; atb derives fresh seeds."
    CLOSED = 208, "the campaign or session is closed";
        "Its keys are public, so a later row could have been prepared with them.";
        "The close row.";
        "Start a new campaign."
    CLOCK_BACK = 209, "time runs backwards";
        "The row is dated before the row that precedes it.";
        "Both time stamps.";
        "Correct the machine's clock and continue; a registration must precede its runs."
    BLOCK_ORDER = 210, "a block's index does not follow";
        "Blocks of a phase are counted: the alpha spent depends on how many confirmations came before.";
        "The index and the last one.";
        "Append through atb."
    KEY = 211, "a row's key is not the key of its body";
        "Keys are derived from the body, so that a copied row collides with its original.";
        "The key and the body.";
        "Append through atb."
    SEED_DERIVATION = 212, "a seed or session key does not match its commitment";
        "The key revealed at the close does not hash to the committed value, or does not derive the seeds of the rows.";
        "The session row, the close row and the block.";
        "Do not trust the ledger: the inputs were not the committed ones."
    PROTOCOL_DIGEST = 213, "a protocol row's digest is not the digest of its text";
        "Limits come from this row, so atb verify recomputes its digest.";
        "Both digests.";
        "Do not trust the ledger."
    RATCHET = 214, "a keep is not supported by its block";
        "Only `faster` in a CONFIRM block at the spent alpha makes a parent.";
        "The keep row, its block, and the verdict recomputed from the samples.";
        "Do not trust the keep."
    RULING = 215, "a ruling does not say who and why, or does not follow";
        "A ruling is on a decision that a gate flagged or quarantined for another reason than noise, names its author and a reason, and is numbered after the rulings before it.";
        "The ruling row and the gate row that it cites.";
        "Rule through `atb quarantine`; noise is measured again and never released."
    ROLLED_BACK = 216, "the ledger is behind its checkpoint";
        "Rows that the checkpoint covers are missing: the ledger was cut, or an older copy was put back.";
        "The rows that there are, and those that were signed.";
        "Restore the newest copy; a ledger may only grow."
    NOTE = 217, "a signed note does not read";
        "A checkpoint is a note by C2SP: origin, rows and root on lines of their own, an empty line, and signature lines.";
        "The file, the line and what should stand there.";
        "Fetch the checkpoint again as it was published; editors that change line ends or dashes break it."
    SIGNATURE = 218, "a signature that was asked for is missing or does not hold";
        "The note is not signed by the key that was named, or was changed after it was signed.";
        "The name and id of the key.";
        "Compare the key with the one that the publisher states elsewhere; do not trust what another key has signed."
    KEY_FORM = 219, "a key does not read";
        "Keys are texts: NAME+ID+BASE64 to verify, PRIVATE+KEY+NAME+ID+BASE64 to sign.";
        "The file or option, and what is wrong.";
        "Copy the key whole; `atb key show FILE` prints the key that verifies, and `atb key new` makes a pair."
    PROOF_FORM = 220, "a proof or bundle does not read";
        "A proof is one line of JSON, a bundle many with a head that counts them; this one was cut or changed, or another version wrote it.";
        "The file, the line and what should stand there.";
        "Fetch the file again, or make it anew with `atb prove` or `atb export --bundle`."
    PROOF = 221, "a proof does not prove";
        "Its path does not lead from its row or older root to its root.";
        "The roots.";
        "Do not trust what it was to prove."
    OTHER_TREE = 222, "the rows are not those that a checkpoint or proof speaks of";
        "The tree over the rows has another root, or a chain another head: the ledger was forked, edited or reordered and chained anew, or this is another ledger.";
        "The size, the root of the rows and the stated one.";
        "Do not trust the ledger, unless the checkpoint or proof is of another one."
}
