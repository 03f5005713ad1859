//! Running a command to its end.

use std::process::{Command, Stdio};

/// A command that failed, or could not be started.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{command}` failed: {message}")]
pub struct CommandError {
    /// The command with its arguments.
    pub command: String,
    /// The last line that it wrote, or what the system said.
    pub message: String,
}

/// Runs a command and gives what it wrote to standard output.
///
/// # Errors
/// If it cannot be started or its exit code is not 0.
pub fn run(argv: &[impl AsRef<str>]) -> Result<String, CommandError> {
    let words: Vec<&str> = argv.iter().map(AsRef::as_ref).collect();
    let failed = |message: String| CommandError { command: words.join(" "), message };
    let Some((program, arguments)) = words.split_first() else { return Err(failed("no command".to_owned())) };
    let ran = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    let output = ran.map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let text = [output.stderr, output.stdout].concat();
    let text = String::from_utf8_lossy(&text);
    let last =
        text.lines().map(str::trim).rfind(|line| !line.is_empty() && !line.starts_with("Command line"));
    Err(failed(last.map_or_else(|| output.status.to_string(), str::to_owned)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_gives_its_output_or_its_last_words() {
        assert_eq!(run(&["echo", "a b"]).unwrap(), "a b\n");
        let error = run(&["sh", "-c", "echo first >&2; echo why >&2; exit 3"]).unwrap_err();
        assert_eq!(error.message, "why");
        assert_eq!(run(&["false"]).unwrap_err().to_string(), "`false` failed: exit status: 1");
        assert!(run(&["/nonexistent"]).is_err());
    }
}
