//! What the README tells people to type works as it stands.

use std::process::Command;

use crate::support::process::Server;

const README: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
/// Where the README's service listens.
const HOSTS: [&str; 2] = ["127.0.0.1:8080", "localhost:8080"];

both_databases! {
    async fn the_quick_start_works_as_it_stands(database: TestDatabase) {
        let readme = std::fs::read_to_string(README).expect("there is a README.md");
        let script = script(&readme);
        assert!(script.contains("curl "), "the quick start of the README has no line with curl:\n{script}");
        let server = Server::start(&database).await;
        let script = HOSTS.iter().fold(script, |script, host| script.replace(host, &server.address().to_string()));
        assert!(!script.contains(":8080"), "the quick start calls another service:\n{script}");

        let folder = tempfile::tempdir().unwrap();
        // Without these, curl is content with any answer.
        std::fs::write(folder.path().join(".curlrc"), "fail-with-body\nshow-error\nsilent\nmax-time = 60\n").unwrap();
        let mut shell = Command::new("sh");
        shell.args(["-eux", "-c", &script]).current_dir(folder.path()).env("CURL_HOME", folder.path());
        let output = tokio::task::spawn_blocking(move || shell.output()).await.unwrap().expect("sh runs");
        let (answers, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{answers}\n{log}");
        assert!(!answers.contains(r#""isError":true"#), "the service refuses what the README says: {answers}\n{log}");
    }
}

/// Returns all shell lines of the quick start.
fn script(readme: &str) -> String {
    let (mut lines, mut level, mut is_code) = (String::new(), None, false);
    for line in readme.lines() {
        let is_fence = line.trim_start().starts_with("```");
        if is_fence {
            is_code = !is_code && level.is_some() && line.trim() == "```sh";
        } else if is_code {
            lines.push_str(line);
            lines.push('\n');
        } else if let Some(title) = line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#')) {
            let depth = line.len() - line.trim_start_matches('#').len();
            if title.eq_ignore_ascii_case("quick start") {
                level = Some(depth);
            } else if level.is_some_and(|level| depth <= level) {
                level = None;
            }
        }
    }
    lines
}

#[test]
fn only_the_shell_lines_of_the_quick_start_are_run() {
    let readme = "# Product\n```sh\nno\n```\n## Quick start\nText\n```console\n$ cargo run\n```\n```json\n{}\n```\n\
                  ### More\n```sh\n# curl a\ncurl a \\\n  -d '{\n}'\n```\n## Else\n```sh\nno\n```\n";
    assert_eq!(script(readme), "# curl a\ncurl a \\\n  -d '{\n}'\n");
}
