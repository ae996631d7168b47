package release_test

import (
	"fmt"
	"time"

	"github.com/unifiedtoolprotocol/utp/internal/release"
)

func ExampleNew() {
	r, err := release.New("1.2.3-rc.1", "0123456789abcdef", time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC))
	if err != nil {
		fmt.Println(err)
		return
	}
	b := release.Build{Platform: release.Platforms[0], Programs: map[string][]byte{"bx": []byte("bx"), "te": []byte("te")}}
	archive, err := r.Archive(b, nil)
	fmt.Println(archive.Name, err)
	// Output: bx_1.2.3-rc.1_linux_amd64.tar.gz <nil>
}
