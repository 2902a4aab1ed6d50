//! The README's table of settings is the one that the flags themselves give.

use std::fmt::Write;

use clap::CommandFactory;
use tasklane::config::Cli;

const BEGIN: &str = "<!-- settings: generated; `UPDATE_GOLDEN=1 cargo test settings_table` writes it anew -->\n";
const END: &str = "<!-- end of settings -->";

fn table() -> String {
    let command = Cli::command();
    let mut table = "| flag | variable | default | meaning |\n| --- | --- | --- | --- |\n".to_owned();
    for argument in command.get_arguments() {
        let (Some(flag), Some(variable)) = (argument.get_long(), argument.get_env()) else { continue };
        let takes_value = argument.get_action().takes_values();
        let defaults: Vec<_> = argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
        let default =
            if takes_value && !defaults.is_empty() { format!("`{}`", defaults.join(",")) } else { String::new() };
        let meaning = argument.get_help().map(ToString::to_string).unwrap_or_default();
        // Writing to a String does not fail.
        let _ = writeln!(table, "| `--{flag}` | `{}` | {default} | {meaning} |", variable.to_string_lossy());
    }
    table
}

#[test]
fn the_table_in_the_readme_is_that_of_the_flags() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    let readme = std::fs::read_to_string(path).expect("the README");
    let (before, rest) = readme.split_once(BEGIN).expect("the begin of the table");
    let (shown, after) = rest.split_once(END).expect("the end of the table");
    let table = table();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, format!("{before}{BEGIN}{table}{END}{after}")).expect("the README can be written");
        return;
    }
    assert!(shown == table, "README.md is not up to date: run UPDATE_GOLDEN=1 cargo test settings_table");
}
