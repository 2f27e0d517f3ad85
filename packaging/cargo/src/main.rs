//! The program is not written in Rust. This crate exists for `cargo binstall`, which downloads the executable.
fn main() {
    eprintln!("This crate contains no program. Run: cargo binstall rules-compiler");
    std::process::exit(1);
}
