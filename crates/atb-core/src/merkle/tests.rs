//! The vectors of the certificate-transparency reference implementation, and properties of every small tree.

use proptest::prelude::*;

use super::*;

/// Leaves of the reference implementation's tests, in hexadecimal.
const LEAVES: [&[u8]; 8] = [
    b"",
    &[0x00],
    &[0x10],
    &[0x20, 0x21],
    &[0x30, 0x31],
    &[0x40, 0x41, 0x42, 0x43],
    &[0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57],
    &[0x60, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x6b, 0x6c, 0x6d, 0x6e, 0x6f],
];

/// Roots over the first 1 to 8 of them.
const ROOTS: [&str; 8] = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];

const A: &str = "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7";
const B: &str = "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e";
const C: &str = "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4";
const D: &str = "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b";
const E: &str = "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0";
const F: &str = "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a";

fn digests(texts: &[&str]) -> Vec<Digest> {
    texts.iter().map(|text| Digest::parse(text).unwrap()).collect()
}

fn reference() -> Tree {
    let mut tree = Tree::default();
    for leaf in LEAVES {
        tree.push(leaf);
    }
    tree
}

fn tree(leaves: u64) -> Tree {
    let mut tree = Tree::default();
    for leaf in 0..leaves {
        tree.push(&leaf.to_le_bytes());
    }
    tree
}

#[test]
fn roots_are_those_of_the_reference_implementation() {
    let tree = reference();
    for (size, root) in (1..).zip(ROOTS) {
        assert_eq!(tree.root(size).unwrap().to_string(), root, "{size}");
    }
    assert_eq!(tree.root(0), Some(empty_root()));
    assert_eq!(tree.root(9), None);
    assert_eq!(empty_root().to_string(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

#[test]
fn paths_are_those_of_the_reference_implementation() {
    let tree = reference();
    let inclusion: [(u64, u64, &[&str]); 5] =
        [(0, 1, &[]), (0, 8, &[A, B, C]), (5, 8, &[D, E, ROOTS[3]]), (2, 3, &[ROOTS[1]]), (1, 5, &[ROOTS[0], B, D])];
    for (index, size, path) in inclusion {
        assert_eq!(tree.inclusion(index, size).unwrap(), digests(path), "{index} of {size}");
    }
    let consistency: [(u64, u64, &[&str]); 4] =
        [(1, 1, &[]), (1, 8, &[A, B, C]), (6, 8, &[F, E, ROOTS[3]]), (2, 5, &[B, D])];
    for (old, new, path) in consistency {
        assert_eq!(tree.consistency(old, new).unwrap(), digests(path), "{old} to {new}");
    }
}

/// The definition of RFC 6962, 2.1, word by word.
fn by_definition(leaves: &[[u8; 8]]) -> Digest {
    match leaves {
        [] => empty_root(),
        [leaf] => leaf_hash(leaf),
        _ => {
            let (left, right) = leaves.split_at(1 << (leaves.len() - 1).ilog2());
            node_hash(by_definition(left), by_definition(right))
        }
    }
}

#[test]
fn every_proof_of_every_small_tree_verifies_and_none_for_another_place() {
    let tree = tree(34);
    let leaves: Vec<[u8; 8]> = (0..34_u64).map(u64::to_le_bytes).collect();
    for size in 1..=34 {
        let root = tree.root(size).unwrap();
        assert_eq!(root, by_definition(&leaves[..usize::try_from(size).unwrap()]));
        for index in 0..size {
            let path = tree.inclusion(index, size).unwrap();
            assert_eq!(verify_inclusion(&index.to_le_bytes(), index, size, &path, root), Ok(()));
            for other in (0..size).filter(|other| *other != index) {
                assert!(verify_inclusion(&index.to_le_bytes(), other, size, &path, root).is_err());
            }
        }
        for old in 1..=size {
            let (path, old_root) = (tree.consistency(old, size).unwrap(), tree.root(old).unwrap());
            assert_eq!(verify_consistency(old, size, &path, old_root, root), Ok(()), "{old} to {size}");
            for other in (1..=size).filter(|other| *other != old) {
                assert!(verify_consistency(other, size, &path, old_root, root).is_err(), "{other} for {old} to {size}");
            }
        }
    }
}

#[test]
fn what_fits_no_tree_is_refused() {
    let tree = tree(5);
    let root = tree.root(5).unwrap();
    assert_eq!(tree.inclusion(5, 5), Err(ProofError::Index { index: 5, size: 5 }));
    assert_eq!(tree.inclusion(0, 6), Err(ProofError::Index { index: 0, size: 5 }));
    assert_eq!(tree.consistency(0, 5), Err(ProofError::Sizes { old: 0, new: 5 }));
    assert_eq!(tree.consistency(3, 6), Err(ProofError::Sizes { old: 3, new: 5 }));
    assert_eq!(verify_inclusion(b"", 0, 0, &[], root), Err(ProofError::Index { index: 0, size: 0 }));
    assert!(verify_consistency(0, 5, &[], empty_root(), root).is_err());
    // A path without end costs no more than the longest honest one.
    let endless = vec![root; 100_000];
    assert_eq!(verify_inclusion(b"", 0, u64::MAX, &endless, root), Err(ProofError::Length));
    assert_eq!(verify_consistency(1, u64::MAX, &endless, root, root), Err(ProofError::Length));
}

proptest! {
    #[test]
    fn an_altered_byte_fails(size in 2_u64..700, at in any::<prop::sample::Index>(), step in any::<prop::sample::Index>(), byte in 0_usize..32, bit in 0_u8..8) {
        let tree = tree(size);
        let root = tree.root(size).unwrap();
        let index = at.index(usize::try_from(size).unwrap()) as u64;
        let alter = |path: &mut Vec<Digest>| {
            if !path.is_empty() {
                let step = step.index(path.len());
                let mut bytes = *path[step].bytes();
                bytes[byte] ^= 1 << bit;
                path[step] = Digest::from_bytes(bytes);
            }
        };
        let mut path = tree.inclusion(index, size).unwrap();
        prop_assert_eq!(verify_inclusion(&index.to_le_bytes(), index, size, &path, root), Ok(()));
        prop_assert!(verify_inclusion(&(index + 1).to_le_bytes(), index, size, &path, root).is_err());
        alter(&mut path);
        prop_assert!(verify_inclusion(&index.to_le_bytes(), index, size, &path, root).is_err());
        let old = index + 1;
        let old_root = tree.root(old).unwrap();
        let mut path = tree.consistency(old, size).unwrap();
        prop_assert_eq!(verify_consistency(old, size, &path, old_root, root), Ok(()));
        prop_assert!(verify_consistency(old, size, &path, leaf_hash(b"other"), root).is_err());
        prop_assert!(verify_consistency(old, size, &path, old_root, leaf_hash(b"other")).is_err());
        if !path.is_empty() {
            alter(&mut path);
            prop_assert!(verify_consistency(old, size, &path, old_root, root).is_err());
            path.pop();
            prop_assert!(verify_consistency(old, size, &path, old_root, root).is_err());
        }
    }

    #[test]
    fn a_proof_of_another_tree_fails(size in 2_u64..300, changed in any::<prop::sample::Index>(), at in any::<prop::sample::Index>()) {
        let (mut other, changed) = (Tree::default(), changed.index(usize::try_from(size).unwrap()) as u64);
        let leaf_of = |leaf: u64| (if leaf == changed { u64::MAX } else { leaf }).to_le_bytes();
        for leaf in 0..size {
            other.push(&leaf_of(leaf));
        }
        let mine = tree(size);
        let index = at.index(usize::try_from(size).unwrap()) as u64;
        let path = other.inclusion(index, size).unwrap();
        prop_assert!(verify_inclusion(&leaf_of(index), index, size, &path, mine.root(size).unwrap()).is_err());
        let path = other.consistency(index + 1, size).unwrap();
        let consistent = verify_consistency(index + 1, size, &path, mine.root(index + 1).unwrap(), other.root(size).unwrap());
        prop_assert_eq!(consistent.is_ok(), changed > index);
    }
}
