//! The published example of signed notes, round trips, and everything that must not be accepted.

use proptest::prelude::*;

use super::*;

// The example in the documentation of golang.org/x/mod/sumdb/note, made by another implementation.
const GO_VERIFIER: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
const GO_SIGNER: &str = "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz";
const GO_NOTE: &str = "If you think cryptography is the answer to your problem,\n\
    then you don't know what your problem is.\n\n\
    \u{2014} PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";

// The example of C2SP's tlog-cosignature.md. Its keys are not published there, so it shows the form only.
const C2SP_NOTE: &str = "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n\
    \u{2014} example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n\
    \u{2014} witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==\n";

fn log() -> NoteSigner {
    NoteSigner::new("example.org/ledger", Algorithm::Ed25519, &[7; 32]).unwrap()
}

fn witness() -> NoteSigner {
    NoteSigner::new("witness.example.org", Algorithm::Cosignature, &[9; 32]).unwrap()
}

fn signed() -> Note {
    let checkpoint = Checkpoint {
        origin: "example.org/ledger".into(),
        size: 12,
        root: Digest::of(b"root"),
        extensions: vec!["atb-gate 3 x".into()],
    };
    let mut note = Note::of(checkpoint.to_string());
    log().sign(&mut note, 0);
    witness().sign(&mut note, 1_800_000_000);
    note
}

#[test]
fn the_published_note_is_verified_and_made_byte_for_byte() {
    let note = Note::parse(GO_NOTE).unwrap();
    let verifier = Verifier::parse(GO_VERIFIER).unwrap();
    assert_eq!(verifier.find(&note), Found::Holds { time: 0 });
    assert_eq!(verifier.to_string(), GO_VERIFIER);
    let signer = NoteSigner::parse(GO_SIGNER).unwrap();
    assert_eq!(signer.verifier(), verifier);
    assert_eq!(signer.to_secret_text(), GO_SIGNER);
    let mut again = Note::of(note.text);
    signer.sign(&mut again, 0);
    assert_eq!(again.to_string(), GO_NOTE);
    assert!(!format!("{signer:?}").contains(&GO_SIGNER[30..]));
}

#[test]
fn the_published_checkpoint_is_read_and_written_byte_for_byte() {
    let note = Note::parse(C2SP_NOTE).unwrap();
    assert_eq!(note.to_string(), C2SP_NOTE);
    let checkpoint = Checkpoint::parse(&note.text).unwrap();
    assert_eq!((checkpoint.origin.as_str(), checkpoint.size), ("example.com/behind-the-sofa", 20_852_163));
    assert_eq!(checkpoint.to_string(), note.text);
    assert_eq!(note.signatures[1].bytes.len(), 72, "eight bytes of time before the signature");
}

#[test]
fn a_log_and_a_witness_sign_one_note() {
    let text = signed().to_string();
    let note = Note::parse(&text).unwrap();
    assert_eq!(note.to_string(), text);
    assert_eq!(log().verifier().find(&note), Found::Holds { time: 0 });
    assert_eq!(witness().verifier().find(&note), Found::Holds { time: 1_800_000_000 });
    let other = NoteSigner::new("example.org/ledger", Algorithm::Ed25519, &[8; 32]).unwrap().verifier();
    assert_eq!(other.find(&note), Found::Missing, "another key of the same name");
    // A cosignature is none of the log's signatures: keys of the two kinds differ in their id.
    let as_log = NoteSigner::new("witness.example.org", Algorithm::Ed25519, &[9; 32]).unwrap().verifier();
    assert_eq!(as_log.find(&note), Found::Missing);
    // The time is signed.
    let mut moved = note.clone();
    moved.signatures[1].bytes[7] ^= 1;
    assert_eq!(witness().verifier().find(&moved), Found::False);
    // One false signature beside a true one is false.
    let mut both = note.clone();
    both.signatures.push(moved.signatures[1].clone());
    assert_eq!(witness().verifier().find(&both), Found::False);
}

#[test]
fn malformed_notes_name_their_line() {
    let line = |text: &str| match Note::parse(text).and_then(|note| Checkpoint::parse(&note.text)) {
        Err(NoteError::Line { line, .. }) => line,
        other => panic!("{other:?}"),
    };
    let sig = "\u{2014} a AAAAAAAA\n";
    for (text, expected) in [
        (String::new(), 1),
        ("a\n".into(), 1),
        ("a\n\n".into(), 3),
        (format!("o\n1\n\n{sig}"), 3),
        (format!("o\n01\nAA==\n\n{sig}"), 2),
        (format!("o\n-1\nAA==\n\n{sig}"), 2),
        (format!("o\n18446744073709551616\nAA==\n\n{sig}"), 2),
        (format!("o\n1\nAA==\n\n{sig}"), 3),
        (format!("o\r\n1\nAA==\n\n{sig}"), 1),
        (format!("o\n1\nAA==\n\n{}", &sig[..sig.len() - 1]), 5),
        ("o\n1\nAA==\n\n- a AAAAAAAA\n".into(), 5),
        (format!("o\n1\nAA==\n\n{sig}\u{2014} a+b AAAAAAAA\n"), 6),
        (format!("o\n1\nAA==\n\n{}", sig.repeat(65)), 69),
    ] {
        assert_eq!(line(&text), expected, "{text:?}");
    }
    assert_eq!(Note::parse(&"a".repeat(NOTE_MAX + 1)), Err(NoteError::Long));
}

#[test]
fn malformed_keys_are_refused() {
    for text in ["", "a", "a+b", "a+00000000+", "a+00000000+AQ==", "+c74f20a3+AQ==", "a b+c74f20a3+AQ=="] {
        assert!(Verifier::parse(text).is_err(), "{text}");
        assert!(NoteSigner::parse(&format!("PRIVATE+KEY+{text}")).is_err(), "{text}");
    }
    let renamed = GO_VERIFIER.replace("Peter", "Petra");
    assert!(matches!(Verifier::parse(&renamed), Err(NoteError::KeyId { .. })));
    assert!(Verifier::parse(GO_SIGNER).is_err());
    assert!(NoteSigner::parse(GO_VERIFIER).is_err());
    assert!(NoteSigner::new("a+b", Algorithm::Ed25519, &[1; 32]).is_err());
}

proptest! {
    #[test]
    fn no_altered_byte_is_verified(at in any::<prop::sample::Index>(), bit in 0_u8..8) {
        let text = signed().to_string();
        let mut bytes = text.clone().into_bytes();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        let both = String::from_utf8(bytes).ok().and_then(|text| Note::parse(&text).ok()).is_some_and(|note| {
            let holds = |signer: NoteSigner| matches!(signer.verifier().find(&note), Found::Holds { .. });
            holds(log()) && holds(witness())
        });
        prop_assert!(!both, "byte {} bit {}", at, bit);
    }

    #[test]
    fn parsers_answer_to_anything(text in "(?s)[a-z0-9 +=/\n\u{2014}]{0,120}", any: String) {
        for text in [&text, &any] {
            if let Ok(note) = Note::parse(text) {
                prop_assert_eq!(&note.to_string(), text);
            }
            if let Ok(checkpoint) = Checkpoint::parse(text) {
                let again = checkpoint.to_string();
                prop_assert_eq!(again.trim_end_matches('\n'), text.trim_end_matches('\n'));
            }
            let _ = (Verifier::parse(text), NoteSigner::parse(text));
        }
    }
}
