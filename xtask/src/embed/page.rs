//! Running the commands of a page of the documentation, as its readers would.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::shell;

/// Begins the output of a block.
const MARK: &str = "=== block";

/// A block of commands, and what the page says that they print.
#[derive(Debug, Default, PartialEq, Eq)]
struct Block {
    commands: String,
    printed: Option<String>,
}

/// Runs the `sh` blocks of `page` in one shell, in an empty folder, and fails where one does or
/// prints something else than the `text` block after it.
pub(super) fn run(root: &Path, page: &str, variables: &[(&str, &Path)]) -> Result<()> {
    let text = fs::read_to_string(root.join(page)).with_context(|| page.to_owned())?;
    let blocks = blocks(&text);
    ensure!(!blocks.is_empty(), "{page} has no commands");
    let folder = root.join("target/embed/page");
    shell::remove_dir(&folder)?;
    fs::create_dir_all(&folder)?;
    let mut script = "set -eu\n".to_owned();
    for block in &blocks {
        script.push_str(&format!("echo '{MARK}'\n{}", block.commands));
    }
    println!("$ the commands of {page}");
    let mut bash = Command::new("bash");
    bash.arg("-c").arg(script).envs(variables.iter().copied()).current_dir(&folder);
    // Of cargo; libraries of the repository lie there.
    bash.env_remove("LD_LIBRARY_PATH");
    let output = shell::output(&mut bash).with_context(|| page.to_owned())?;
    println!("{output}");
    let printed = output.split(MARK).skip(1);
    for (block, got) in blocks.iter().zip(printed) {
        if let Some(expected) = &block.printed {
            let (expected, got) = (expected.trim(), got.trim());
            ensure!(expected == got, "{page}: the page says\n{expected}\nand printed was\n{got}");
        }
    }
    shell::remove_dir(&folder)
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(kind) = line.strip_prefix("```").filter(|kind| !kind.is_empty()) else { continue };
        let held: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let held = held.join("\n") + "\n";
        match kind {
            "sh" => blocks.push(Block { commands: held, printed: None }),
            "text" => {
                if let Some(block) = blocks.last_mut() {
                    block.printed = Some(held);
                }
            }
            _ => {}
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::{Block, blocks};

    #[test]
    fn a_block_prints_what_follows_it() {
        let page =
            "# A\n```sh\necho a\n```\nprints\n```text\na\n```\n```c\nint x;\n```\n```sh\nls\n```\n";
        let made = |commands: &str, printed: Option<&str>| Block {
            commands: commands.into(),
            printed: printed.map(str::to_owned),
        };
        assert_eq!(blocks(page), [made("echo a\n", Some("a\n")), made("ls\n", None)]);
    }
}
