//! 8xx: registered comparisons.

super::codes! {
    REGISTRATION = 801, "a registration cannot be decided";
        "Its arms, pairs, readout, ladder, delivery probe or stop rule do not fit together or the protocol, so that no run could answer it.";
        "The field and its line; in a ledger, the registration row.";
        "Correct the field; `atb register --example` prints a commented file."
    UNREGISTERED = 802, "a comparison has no registration before it";
        "What counts as an answer is fixed before the first run, or it can be chosen after.";
        "The campaign, and the registration that it cites.";
        "Run `atb register FILE`, then `atb compare --registration ID`."
    NOT_AS_REGISTERED = 803, "a comparison is not the registered one";
        "Task, protocol, shapes, arms, machine or program differ from what was registered.";
        "The registration row, and the row that differs.";
        "Restore what was registered, or abandon the registration and register the change as a new one."
    REGISTRATION_SPENT = 804, "the registration is finished, abandoned or in use";
        "A registration has one comparison: a second would be a second chance.";
        "`atb register --list`.";
        "Register the question again, saying why; the first answer stays on record."
    UNDERPOWERED = 805, "the registration could not see the effect that it asks about";
        "With these pairs and the scatter of this machine, the minimum detectable effect is larger than delta.";
        "The A/A block, the minimum detectable effect, and the pairs that would be needed.";
        "Register more pairs, quiet the machine, or write `underpowered = \"accept: REASON\"`, which every report shows."
    SAME_BLOCK = 806, "the A/A block does not support the registration";
        "The minimum detectable effect rests on the same code in both arms: on this machine, with this task, these shapes and this protocol, at most 7 days ago.";
        "The block that the registration cites.";
        "Register with atb, which measures a block if there is none."
    OPEN_QUESTION = 807, "an open registration asks the same question";
        "Two open registrations of the same arms would let one choose between two answers.";
        "`atb register --list`.";
        "Run the open one with `atb compare`, or end it with `atb register --abandon ID --reason TEXT`."
    NOT_DELIVERED = 808, "the treatment did not arrive";
        "Both arms are the same machine code, so a comparison would measure nothing and could be mistaken for a null result.";
        "The digests of the built arms.";
        "Find what switched the treatment off: a macro that nothing defines, a file that is not the one that was meant."
    UNKNOWN_REGISTRATION = 809, "the ledger has no such registration";
        "An id, or a beginning of one that fits a single registration, is needed.";
        "`atb register --list`.";
        "Name the folder with --out and the id as `atb register` printed it."
}
