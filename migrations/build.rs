//! Builds again when a migration comes: the compiler itself only notices edits to those that it has seen.

fn main() {
    println!("cargo::rerun-if-changed=migrations");
}
