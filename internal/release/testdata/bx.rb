class Bx < Formula
  desc "Read any model's tool calls, ask about code, serve any model to any client"
  homepage "https://github.com/unifiedtoolprotocol/utp"
  version "1.2.3-rc.1"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "https://github.com/unifiedtoolprotocol/utp/releases/download/v1.2.3-rc.1/bx_1.2.3-rc.1_darwin_arm64.tar.gz"
      sha256 "f3f582f9bfb29ee1d852bf15764e7bb32ceec715329f4477260d9b2e1ba6be30"
    end
    on_intel do
      url "https://github.com/unifiedtoolprotocol/utp/releases/download/v1.2.3-rc.1/bx_1.2.3-rc.1_darwin_amd64.tar.gz"
      sha256 "c2352acc76d5a4d8c79cd53d499972cdf02554a798180eb1b8a9827e5dcdc963"
    end
  end

  on_linux do
    on_arm do
      url "https://github.com/unifiedtoolprotocol/utp/releases/download/v1.2.3-rc.1/bx_1.2.3-rc.1_linux_arm64.tar.gz"
      sha256 "3c796c5671a85140bf6550dbb66c31fdb9fdf52807e50b7f08b72a990a61e1b4"
    end
    on_intel do
      url "https://github.com/unifiedtoolprotocol/utp/releases/download/v1.2.3-rc.1/bx_1.2.3-rc.1_linux_amd64.tar.gz"
      sha256 "bd2a1261d4706226da89613b78b53b3f5c45e7d1c24bcf99fc49b38ae51e322b"
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
