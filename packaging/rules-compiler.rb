# Filled in by scripts/release.ts; goes to the tap as Formula/rules-compiler.rb.
class RulesCompiler < Formula
  desc "Compiles DNS blocklists: many lists in, one list out, every line accounted for"
  homepage "https://github.com/rules-compiler/rules-compiler"
  version "@VERSION@"
  license "MIT"

  on_macos do
    on_arm do
      url "https://github.com/rules-compiler/rules-compiler/releases/download/v@VERSION@/rules-compiler-darwin-arm64.tar.gz"
      sha256 "@SHA256 rules-compiler-darwin-arm64.tar.gz@"
    end
    on_intel do
      url "https://github.com/rules-compiler/rules-compiler/releases/download/v@VERSION@/rules-compiler-darwin-x64.tar.gz"
      sha256 "@SHA256 rules-compiler-darwin-x64.tar.gz@"
    end
  end
  on_linux do
    on_arm do
      url "https://github.com/rules-compiler/rules-compiler/releases/download/v@VERSION@/rules-compiler-linux-arm64.tar.gz"
      sha256 "@SHA256 rules-compiler-linux-arm64.tar.gz@"
    end
    on_intel do
      url "https://github.com/rules-compiler/rules-compiler/releases/download/v@VERSION@/rules-compiler-linux-x64.tar.gz"
      sha256 "@SHA256 rules-compiler-linux-x64.tar.gz@"
    end
  end

  def install
    bin.install "rules-compiler"
    man1.install "rules-compiler.1"
    generate_completions_from_executable(bin/"rules-compiler", "completions")
  end

  test do
    (testpath/"hosts.txt").write "0.0.0.0 ads.example.com\n"
    system bin/"rules-compiler", "-i", "hosts.txt", "-t", "hosts", "-o", "list.txt"
    assert_match "||ads.example.com^", (testpath/"list.txt").read
  end
end
