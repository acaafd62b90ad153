//! What the types forbid does not compile: see tests/ui.

#[test]
fn states_cannot_be_skipped() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*.rs");
}
