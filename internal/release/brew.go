package release

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// Formula returns the Homebrew formula for the archives.
func (r Release) Formula(archives map[Platform]File) File {
	var b strings.Builder
	fmt.Fprintf(&b, `class %s < Formula
  desc %q
  homepage %q
  version %q
  license %q
`, strings.ToUpper(r.Name[:1])+r.Name[1:], r.Summary, r.Repository, r.Version, r.License)
	for _, system := range []struct{ block, os string }{{"on_macos", "darwin"}, {"on_linux", "linux"}} {
		var cpus strings.Builder
		for _, cpu := range []struct{ block, arch string }{{"on_arm", "arm64"}, {"on_intel", "amd64"}} {
			if f, ok := archives[Platform{system.os, cpu.arch}]; ok {
				fmt.Fprintf(&cpus, "    %s do\n      url %q\n      sha256 \"%x\"\n    end\n", cpu.block, r.url(f.Name), sha256.Sum256(f.Body))
			}
		}
		if cpus.Len() > 0 {
			fmt.Fprintf(&b, "\n  %s do\n%s  end\n", system.block, cpus.String())
		}
	}
	fmt.Fprintf(&b, `
  def install
    bin.install %s
    man1.install Dir["man/*.1"]
`, `"`+strings.Join(Programs, `", "`)+`"`)
	for _, p := range Programs {
		fmt.Fprintf(&b, "    bash_completion.install \"completions/%[1]s.bash\" => %[1]q\n    zsh_completion.install \"completions/_%[1]s\"\n    fish_completion.install \"completions/%[1]s.fish\"\n", p)
	}
	fmt.Fprintf(&b, `  end

  test do
    assert_match version.to_s, shell_output("#{bin}/%s version")
  end
end
`, r.Name)
	return File{r.Name + ".rb", 0o644, []byte(b.String())}
}
