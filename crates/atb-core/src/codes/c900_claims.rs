//! 9xx: claims.

super::codes! {
    CLAIM_DRIFT = 901, "a claim is not what its ledger gives";
        "The number is derived again from the raw samples, and is another one: the sentence or the evidence has moved.";
        "The field, what the ledger gives, and what is claimed.";
        "Correct the sentence, or cite the ledger that it rests on."
    CLAIM_SENTENCE = 902, "a claimed sentence is not in its document";
        "A claim binds a sentence as it stands; white space alone does not count.";
        "The document.";
        "Write the sentence into claims.toml as it stands in the document."
    CLAIM_LEDGER = 903, "a claim's ledger does not verify, or lacks its campaign";
        "Nothing can be claimed from a ledger with a bad row, and a claim speaks of one campaign.";
        "The first bad row, or the campaigns that there are.";
        "Restore the ledger, or name the campaign."
}
