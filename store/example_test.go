package store_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/store"
	"github.com/unifiedtoolprotocol/utp/transcript"
)

func Example() {
	dir, err := os.MkdirTemp("", "store")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	db, err := store.Open(ctx, store.Config{
		Path:  filepath.Join(dir, "sessions.db"),
		NewID: func() string { return "0badcafe" },
		Now:   time.Now,
	})
	if err != nil {
		panic(err)
	}
	defer db.Close()

	s, err := db.Create(ctx, "/src/repo", "qwen3:8b")
	if err != nil {
		panic(err)
	}
	question, answer := utp.NewText(utp.RoleUser, "Where is main?"), utp.NewText(utp.RoleAssistant, "cmd/bx/main.go:12")
	err = s.Append(ctx, transcript.Entry{Kind: transcript.Question, Message: &question},
		transcript.Entry{Kind: transcript.Reply, Message: &answer}, transcript.Entry{Kind: transcript.End, Reason: transcript.Answered})
	if err != nil {
		panic(err)
	}

	same, err := db.Get(ctx, "0bad")
	if err != nil {
		panic(err)
	}
	last, err := same.Last(ctx)
	if err != nil {
		panic(err)
	}
	fmt.Println(same.ID, last.Question, last.Answer)
	// Output: 0badcafe Where is main? cmd/bx/main.go:12
}
