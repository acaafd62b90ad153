//! A Rust file as a list of tokens, and the length of its functions.
//!
//! Rules look at tokens, not at text, so comments and string contents neither satisfy nor break them.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::visit::{self, Visit};

/// One token: an identifier, a literal, a punctuation character or a delimiter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    /// Its text.
    pub(crate) text: String,
    /// Its line, from 1.
    pub(crate) line: usize,
}

/// A function with its length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Function {
    /// Name.
    pub(crate) name: String,
    /// Line of `fn`.
    pub(crate) line: usize,
    /// Lines from `fn` to the closing brace.
    pub(crate) lines: usize,
}

/// A parsed Rust file.
#[derive(Debug, Default)]
pub(crate) struct RustFile {
    /// Lines of the file.
    pub(crate) lines: usize,
    /// All tokens.
    pub(crate) tokens: Vec<Token>,
    /// Tokens outside `#[cfg(test)]` items.
    pub(crate) code: Vec<Token>,
    /// Functions that are not tests.
    pub(crate) functions: Vec<Function>,
    /// Why the file could not be parsed, if so.
    pub(crate) fault: Option<String>,
    test_modules: Vec<String>,
}

impl RustFile {
    /// Parses a file; a fault is kept in the result, since a broken file must not hide the faults of others.
    pub(crate) fn parse(text: &str) -> Self {
        let mut file = Self { lines: text.lines().count(), ..Self::default() };
        match text.parse::<TokenStream>() {
            Ok(stream) => {
                flatten(stream.clone(), &mut file.tokens, None);
                flatten(stream, &mut file.code, Some(&mut file.test_modules));
            }
            Err(error) => file.fault = Some(error.to_string()),
        }
        match syn::parse_file(text) {
            Ok(parsed) => {
                let mut functions = Functions(Vec::new());
                functions.visit_file(&parsed);
                file.functions = functions.0;
            }
            Err(error) => file.fault = Some(format!("line {}: {error}", error.span().start().line)),
        }
        file
    }

    /// True if the file holds `#[cfg(test)] mod NAME;`.
    pub(crate) fn declares_test(&self, name: &str) -> bool {
        self.test_modules.iter().any(|module| module == name)
    }

    /// The places in non-test code where the sequence of tokens begins, as indices into `code`.
    pub(crate) fn find<'f>(&'f self, sequence: &'f [&'f str]) -> impl Iterator<Item = usize> + 'f {
        let equal = move |window: &[Token]| window.iter().zip(sequence).all(|(token, text)| token.text == *text);
        self.code.windows(sequence.len()).enumerate().filter(move |(_, window)| equal(window)).map(|(at, _)| at)
    }
}

/// Flattens a stream. With `skipped`, leaves out `#[cfg(test)]` items and notes the modules among them.
fn flatten(stream: TokenStream, into: &mut Vec<Token>, mut skipped: Option<&mut Vec<String>>) {
    let trees: Vec<TokenTree> = stream.into_iter().collect();
    let mut at = 0;
    while let Some(tree) = trees.get(at) {
        if let Some(modules) = skipped.as_deref_mut()
            && is_cfg_test(&trees[at..])
        {
            at = skip_item(&trees, at + 2, modules);
            continue;
        }
        let line = tree.span().start().line;
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                into.push(Token { text: open.to_owned(), line });
                flatten(group.stream(), into, skipped.as_deref_mut());
                into.push(Token { text: close.to_owned(), line: group.span_close().start().line });
            }
            other => into.push(Token { text: other.to_string(), line }),
        }
        at += 1;
    }
}

fn is_cfg_test(trees: &[TokenTree]) -> bool {
    let [TokenTree::Punct(hash), TokenTree::Group(attribute), ..] = trees else { return false };
    hash.as_char() == '#' && attribute.stream().to_string().replace(' ', "") == "cfg(test)"
}

/// The index after the item that starts at `at`; an item ends with a brace group or a semicolon.
fn skip_item(trees: &[TokenTree], mut at: usize, modules: &mut Vec<String>) -> usize {
    let mut words: Vec<String> = Vec::new();
    while let Some(tree) = trees.get(at) {
        at += 1;
        match tree {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => return at,
            TokenTree::Punct(punct) if punct.as_char() == ';' => {
                if let [.., keyword, name] = words.as_slice()
                    && keyword == "mod"
                {
                    modules.push(name.clone());
                }
                return at;
            }
            other => words.push(other.to_string()),
        }
    }
    at
}

struct Functions(Vec<Function>);

impl Functions {
    fn add(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let line = signature.fn_token.span.start().line;
        let last = block.brace_token.span.close().end().line;
        self.0.push(Function { name: signature.ident.to_string(), line, lines: last + 1 - line });
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let path = attribute.path();
        let test = path.segments.last().is_some_and(|segment| segment.ident == "test");
        test || (path.is_ident("cfg") && attribute.parse_args::<syn::Ident>().is_ok_and(|word| word == "test"))
    })
}

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_test(&item.attrs) {
            self.add(&item.sig, &item.block);
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.add(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.add(&item.sig, block);
        }
        visit::visit_trait_item_fn(self, item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
// unsafe in a comment
fn a() {
    let x = \"unsafe\";
}
#[cfg(test)]
mod vectors;
#[cfg(test)]
mod tests {
    fn long() { codes::KEY; }
}
impl S {
    fn b(&self) -> u8 { codes::SEQUENCE }
}
";

    #[test]
    fn comments_strings_and_tests_are_not_code() {
        let file = RustFile::parse(TEXT);
        assert_eq!(file.fault, None);
        assert!(file.tokens.iter().all(|token| token.text != "unsafe"));
        assert_eq!(file.find(&["codes", ":", ":", "SEQUENCE"]).count(), 1);
        assert_eq!(file.find(&["codes", ":", ":", "KEY"]).count(), 0);
        assert!(file.declares_test("vectors") && !file.declares_test("tests"));
    }

    #[test]
    fn functions_have_their_length() {
        let file = RustFile::parse(TEXT);
        let lengths: Vec<(&str, usize)> = file.functions.iter().map(|f| (f.name.as_str(), f.lines)).collect();
        assert_eq!(lengths, [("a", 3), ("b", 1)]);
    }

    #[test]
    fn a_broken_file_keeps_its_fault() {
        assert!(RustFile::parse("fn a( {").fault.is_some());
        assert!(RustFile::parse("fn a() ->").fault.is_some());
    }
}
