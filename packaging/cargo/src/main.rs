//! Starts the program, which is written in TypeScript: the one that `RULES_COMPILER` names, the sources of the clone
//! that this crate was built in, an executable in PATH, or the npm package by Node, Deno or Bun.
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{exit, Command};

const NAME: &str = "rules-compiler";
/// Set for the program that is started: two of these starters must not start each other.
const STARTED: &str = "RULES_COMPILER_STARTED_BY_CRATE";
const DENO_WORDS: [&str; 6] = [
    "run",
    "--allow-read",
    "--allow-write",
    "--allow-net",
    "--allow-run",
    "--allow-env",
];

fn main() {
    if let Some(mut command) = program() {
        command.args(env::args_os().skip(1)).env(STARTED, "1");
        run(command)
    }
    eprintln!("The rules-compiler program was not found");
    eprintln!("  = hint: Install Node 22 or newer, Deno 2 or Bun, or set RULES_COMPILER to the executable of a release");
    exit(127)
}

#[cfg(unix)]
fn run(mut command: Command) -> ! {
    use std::os::unix::process::CommandExt;
    let error = command.exec();
    eprintln!("{:?} cannot be started: {error}", command.get_program());
    exit(126)
}

#[cfg(not(unix))]
fn run(mut command: Command) -> ! {
    match command.status() {
        Ok(status) => exit(status.code().unwrap_or(1)),
        Err(error) => {
            eprintln!("{:?} cannot be started: {error}", command.get_program());
            exit(126)
        }
    }
}

fn program() -> Option<Command> {
    if let Some(named) = env::var_os("RULES_COMPILER").filter(|path| !path.is_empty()) {
        return Some(Command::new(named));
    }
    from_clone().or_else(from_path).or_else(from_npm)
}

/// The sources beside this crate, if it was built in a clone.
fn from_clone() -> Option<Command> {
    let clone = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let script = clone.join("src/cli/bin.ts");
    if !script.is_file() {
        return None;
    }
    if clone.join("node_modules").is_dir() {
        for runtime in ["node", "bun"] {
            if let Some(found) = in_path(runtime) {
                return Some(with_words(found, [script.into_os_string()]));
            }
        }
    }
    // Deno needs no node_modules.
    let mut command = with_words(in_path("deno")?, DENO_WORDS.map(OsString::from));
    command.arg(script).env("DENO_NO_PACKAGE_JSON", "1");
    Some(command)
}

/// The executable of a release.
fn from_path() -> Option<Command> {
    if env::var_os(STARTED).is_some() {
        return None;
    }
    in_path(NAME).map(Command::new)
}

fn from_npm() -> Option<Command> {
    let package = concat!("rules-compiler@", env!("CARGO_PKG_VERSION"));
    if let Some(npx) = in_path("npx") {
        return Some(with_words(npx, ["--yes", package].map(OsString::from)));
    }
    if let Some(deno) = in_path("deno") {
        let mut command = with_words(deno, DENO_WORDS.map(OsString::from));
        command.arg(format!("npm:{package}"));
        return Some(command);
    }
    in_path("bunx").map(|bunx| with_words(bunx, [OsString::from(package)]))
}

fn with_words<const N: usize>(program: PathBuf, words: [OsString; N]) -> Command {
    let mut command = Command::new(program);
    command.args(words);
    command
}

/// A program in PATH that is not this one.
fn in_path(name: &str) -> Option<PathBuf> {
    let own = env::current_exe().and_then(|path| path.canonicalize()).ok();
    let folders: Vec<PathBuf> = env::split_paths(&env::var_os("PATH")?).collect();
    let endings: &[&str] = if cfg!(windows) { &[".exe", ".cmd"] } else { &[""] };
    folders
        .iter()
        .flat_map(|folder| endings.iter().map(move |ending| folder.join(format!("{name}{ending}"))))
        .filter(|path| path.is_file())
        .find(|path| path.canonicalize().ok() != own)
}
