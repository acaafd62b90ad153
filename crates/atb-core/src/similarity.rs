//! Likeness of C sources by winnowed token shingles: names, comments and layout do not count.
//!
//! Every `SHINGLE` tokens in a row are hashed, and of every `WINDOW` hashes in a row the least is kept, so that two sources with
//! `SHINGLE + WINDOW - 1` tokens in common share a mark. Source: Schleimer, Wilkerson and Aiken, Winnowing: local algorithms for
//! document fingerprinting, SIGMOD 2003, doi:10.1145/872757.872770.
//!
//! Names are those that a file may choose: functions of other files (`expf`), keywords and numbers count. The text is not compiled, so
//! macros can hide a likeness; it is evidence, never proof of the opposite.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::canon::Digest;
use crate::quantity::Relative;

/// Tokens per shingle. A part of the method and no limit: the limit is on the share of shingles in common.
const SHINGLE: usize = 8;
/// Shingles of which one is kept: twelve tokens in common, about one statement, are always found.
const WINDOW: usize = 5;

/// Words that no file may choose as names, or not with another meaning.
const KEYWORDS: &[&str] = &[
    "auto", "break", "case", "char", "const", "continue", "default", "define", "do", "double", "elif", "else", "endif",
    "INFINITY", "NAN", "enum", "extern", "float", "for", "goto", "if", "ifdef", "ifndef", "include", "inline", "int",
    "long", "pragma", "register", "restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch",
    "typedef", "undef", "union", "unsigned", "void", "volatile", "while",
];

/// What is left of a source without its names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint {
    marks: BTreeSet<Digest>,
    /// Over all tokens, each name replaced by the place of its first use: equal for sources that differ in names alone.
    skeleton: Digest,
}

impl Fingerprint {
    /// The fingerprint of a C source, less what all files of its task share, such as the text of their header.
    pub fn of(source: &str, shared: &str) -> Self {
        let shared = winnow(&anonymous(&tokens(shared)));
        let tokens = tokens(source);
        let marks = winnow(&anonymous(&tokens)).difference(&shared).copied().collect();
        Self { marks, skeleton: skeleton(&tokens) }
    }

    /// True if both sources are the same but for names, comments and layout.
    pub fn is_same(&self, other: &Self) -> bool {
        self.skeleton == other.skeleton
    }

    /// The share of all marks of both that both have: 1 for the same source, 0 where nothing is alike.
    pub fn resemblance(&self, other: &Self) -> Relative {
        let shared = self.marks.intersection(&other.marks).count();
        let all = self.marks.union(&other.marks).count();
        let share = match (self.is_same(other), all) {
            (true, _) => 1.0,
            (false, 0) => 0.0,
            (false, all) => shared as f64 / all as f64,
        };
        Relative::saturating(share)
    }
}

/// A token of C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'s> {
    /// A name that the file may have chosen.
    Name(&'s str),
    /// A keyword, number, literal, sign, or a function of another file.
    Word(&'s str),
}

fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut words = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let (length, counts) = token_length(rest, first);
        let (word, after) = rest.split_at(length);
        if counts {
            words.push(word);
        }
        rest = after;
    }
    let own = defined(&words);
    let is_name = |word: &str| word.starts_with(|c: char| c.is_alphabetic() || c == '_') && !KEYWORDS.contains(&word);
    let called = |at: usize| words.get(at + 1) == Some(&"(");
    // Types and constants of headers: to choose another one is to change the code.
    let of_headers =
        |word: &str| word.ends_with("_t") || word.contains('_') && !word.contains(|c: char| c.is_lowercase());
    let token = |(at, &word)| {
        let foreign = !own.contains(word) && (called(at) || of_headers(word));
        if is_name(word) && !foreign { Token::Name(word) } else { Token::Word(word) }
    };
    words.iter().enumerate().map(token).collect()
}

/// Bytes of the first token, and whether it counts: white space, line splices and comments do not.
fn token_length(text: &str, first: char) -> (usize, bool) {
    let until = |end: &str, from: usize| text[from..].find(end).map_or(text.len(), |at| from + at + end.len());
    let run = |of: fn(char) -> bool| text.find(|c| !of(c)).unwrap_or(text.len());
    match first {
        c if c.is_whitespace() => (run(char::is_whitespace), false),
        '\\' => (1, false),
        '/' if text.starts_with("//") => (text.find('\n').unwrap_or(text.len()), false),
        '/' if text.starts_with("/*") => (until("*/", 2), false),
        '"' | '\'' => (literal(text, first), true),
        c if c.is_ascii_digit() => (run(|c| c.is_ascii_alphanumeric() || c == '.'), true),
        c if c.is_alphabetic() || c == '_' => (run(|c| c.is_alphanumeric() || c == '_'), true),
        c => (c.len_utf8(), true),
    }
}

/// Bytes of a text or character literal, quotes included; to the end of the text if it is not closed.
fn literal(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Functions and macros that the file itself defines: a name with its arguments before a brace, or after `define`.
fn defined<'s>(words: &[&'s str]) -> BTreeSet<&'s str> {
    let mut own = BTreeSet::new();
    for (at, word) in words.iter().enumerate() {
        if at > 0 && words[at - 1] == "define" {
            own.insert(*word);
        } else if words.get(at + 1) == Some(&"(") {
            let mut depth = 0_usize;
            let close = words[at + 1..].iter().position(|sign| {
                depth = match *sign {
                    "(" => depth + 1,
                    ")" => depth.saturating_sub(1),
                    _ => depth,
                };
                depth == 0
            });
            if close.is_some_and(|close| words.get(at + close + 2) == Some(&"{")) {
                own.insert(*word);
            }
        }
    }
    own
}

/// All names alike.
fn anonymous<'s>(tokens: &[Token<'s>]) -> Vec<&'s str> {
    let word = |token: &Token<'s>| match token {
        Token::Name(_) => "name",
        Token::Word(word) => word,
    };
    tokens.iter().map(word).collect()
}

fn skeleton(tokens: &[Token<'_>]) -> Digest {
    let mut places = BTreeMap::new();
    let mut text = String::new();
    for token in tokens {
        match token {
            Token::Name(name) => {
                let next = places.len();
                let _ = write!(text, "name {}", places.entry(*name).or_insert(next));
            }
            Token::Word(word) => text.push_str(word),
        }
        text.push('\n');
    }
    Digest::of(text.as_bytes())
}

/// The least hash of every window of shingles; of all shingles if they fill no window.
fn winnow(words: &[&str]) -> BTreeSet<Digest> {
    let hash = |shingle: &[&str]| Digest::of(shingle.join("\n").as_bytes());
    let hashes: Vec<Digest> = words.windows(SHINGLE.min(words.len()).max(1)).map(hash).collect();
    hashes.windows(WINDOW.min(hashes.len()).max(1)).filter_map(|window| window.iter().min().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "
        #include <math.h>
        /* Rows. */
        static float sum(const float *row, long n)
        {
            float total = 0.0f;
            for (long i = 0; i < n; i++)
                total += expf(row[i]); // each element
            return total;
        }
        void softmax(const float *x, float *y, const long *dims)
        {
            for (long r = 0; r < dims[0]; r++) {
                const float all = sum(x + r * dims[1], dims[1]);
                for (long c = 0; c < dims[1]; c++)
                    y[r * dims[1] + c] = expf(x[r * dims[1] + c]) / all;
            }
        }";

    fn of(source: &str) -> Fingerprint {
        Fingerprint::of(source, "")
    }

    #[test]
    fn names_comments_and_layout_change_nothing() {
        let renamed = SOURCE.replace("total", "t").replace("sum", "add_up").replace("all", "z").replace("dims", "d");
        let talkative = SOURCE.replace("/* Rows. */", "/* for (;;) { \"not code\" } */ // nor this: expf(x)\n");
        let dense = SOURCE.replace("// each element", "").split_whitespace().collect::<Vec<_>>().join(
            "
	 ",
        );
        let spliced = SOURCE.replace("float total", "float \\\n total");
        for (what, changed) in [("names", renamed), ("comments", talkative), ("layout", dense), ("splices", spliced)] {
            assert_ne!(changed, SOURCE, "{what}");
            assert!(of(&changed).is_same(&of(SOURCE)), "{what}");
            assert_eq!(of(&changed).resemblance(&of(SOURCE)), Relative::saturating(1.0), "{what}");
        }
    }

    #[test]
    fn what_is_computed_counts() {
        for (from, to) in
            [("expf", "exp2f"), ("0.0f", "1.0f"), ("/ all", "* all"), ("i < n", "n < i"), ("x + r", "y + r")]
                .into_iter()
                .chain([("long r", "size_t r"), ("0.0f", "M_PI")])
        {
            let changed = SOURCE.replacen(from, to, 1);
            assert!(!of(&changed).is_same(&of(SOURCE)), "{from}");
        }
    }

    #[test]
    fn an_edit_costs_what_it_touches_and_no_more() {
        let near = of(&SOURCE.replace("0.0f", "1.0f")).resemblance(&of(SOURCE)).get();
        assert!(near > 0.6 && near < 1.0, "{near}");
        let copied = of(&format!("{SOURCE} int unused(int a) {{ return a * a + 3; }}")).resemblance(&of(SOURCE)).get();
        assert!(copied > 0.7 && copied < 1.0, "{copied}");
        let other = of("int f(int a) { while (a > 1) a = a & 1 ? 3 * a + 1 : a / 2; return a; }");
        assert!(other.resemblance(&of(SOURCE)).get() < 0.1);
    }

    #[test]
    fn what_all_files_share_is_no_likeness() {
        let head =
            "#include <math.h>\n#include \"kernel.h\"\nvoid k(const float *x, float *y, const long *d, void *ws)";
        let (a, b) = (format!("{head} {{ y[0] = x[0]; }}"), format!("{head} {{ while (d[0] > 3) d++; }}"));
        let plain = of(&a).resemblance(&of(&b)).get();
        let less = Fingerprint::of(&a, head).resemblance(&Fingerprint::of(&b, head)).get();
        assert!(less < plain, "{less} {plain}");
    }

    #[test]
    fn any_text_has_a_fingerprint() {
        for text in ["", "x", "\"open", "/* open", "'\\''", "é µ ∑", "a\\", "//"] {
            assert!(of(text).is_same(&of(text)));
            assert_eq!(of(text).resemblance(&of(text)), Relative::saturating(1.0), "{text}");
        }
    }
}
