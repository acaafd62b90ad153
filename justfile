# Short names for common commands; `just --list` shows them.
set positional-arguments

test *args: # all tests
    cargo test --workspace "$@"
lint: # format and lints
    cargo fmt --check && cargo clippy --workspace --all-targets -- -D warnings
check: # rules of the repository
    cargo xtask check
docs: # generated documents
    cargo xtask docs
new kind name: # skeleton of a gate, task, proposer or statistic
    cargo xtask new "$1" "$2"
demo *args: # the whole loop in two minutes
    cargo run --release -- demo "$@"
atb *args: # any other command
    cargo run --release -- "$@"
deny: # licences and sources
    cargo deny check
ci: # everything
    .ci/run
