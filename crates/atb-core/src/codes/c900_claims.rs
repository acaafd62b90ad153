//! 9xx: claims, anchors, and statements that rest on several ledgers.

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
    MIXED = 904, "the results do not answer one question";
        "Machines are compared only on the same task, shapes and protocol, and each campaign counts once. Otherwise a difference between machines would be one of the questions.";
        "The ledger and campaign that differ, and in what.";
        "Name one task with --task, leave out the ledger, or measure again under the same protocol."
    ANCHOR_MISMATCH = 905, "a published figure is not met here, and no mechanism explains it";
        "Our ratio over the published one lies outside 0.9 to 1.1. That is a finding, neither a win nor a loss, until a measurement tells why.";
        "Our ratio over the published one with its 90 % interval.";
        "Find what differs (bandwidth, launch overhead, a baseline that was improved, cache state, precision) and record it with its measurement."
}
