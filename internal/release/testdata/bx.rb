class Bx < Formula
  desc "Read any model's tool calls, ask about code, serve any model to any client"
  homepage "https://github.com/unifiedtoolprotocol/utp"
  version "1.2.3-rc.1"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "https://github.com/unifiedtoolprotocol/utp/releases/download/v1.2.3-rc.1/bx_1.2.3-rc.1_darwin_arm64.tar.gz"
      sha256 "1923777991a3c96479bf00091a68b0ebebf74a0ed5adc2da15342a233955cb2c"
    end
    on_intel do
      url "https://github.com/unifiedtoolprotocol/utp/releases/download/v1.2.3-rc.1/bx_1.2.3-rc.1_darwin_amd64.tar.gz"
      sha256 "b644fb9823f0033a0422d9bb5a1e5323e9dfca1ed8600117a1c367d6c1d50916"
    end
  end

  on_linux do
    on_arm do
      url "https://github.com/unifiedtoolprotocol/utp/releases/download/v1.2.3-rc.1/bx_1.2.3-rc.1_linux_arm64.tar.gz"
      sha256 "3aad0e8ff686c85cb5e562d096f0de89c77e704512ddd4eb5aded111935550f4"
    end
    on_intel do
      url "https://github.com/unifiedtoolprotocol/utp/releases/download/v1.2.3-rc.1/bx_1.2.3-rc.1_linux_amd64.tar.gz"
      sha256 "efa24e48dfc8147b41fe081b9f386d82cef11b8a314c71c4545961f0fae9e740"
    end
  end

  def install
    bin.install "bx", "te"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/bx.bash" => "bx"
    zsh_completion.install "completions/_bx"
    fish_completion.install "completions/bx.fish"
    bash_completion.install "completions/te.bash" => "te"
    zsh_completion.install "completions/_te"
    fish_completion.install "completions/te.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/bx version")
  end
end
