package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
)

// keyVariable holds the key of bx mcp serve, in the place of its file.
const keyVariable = "BX_MCP_KEY"

// minKey is how many characters a key has at least: one that can be guessed is none.
const minKey = 16

func (a *app) mcpKeyCommand() *cobra.Command {
	anew := false
	cmd := &cobra.Command{
		Use: "key", Args: noWords, Short: "Print the key that clients of bx mcp serve --listen send",
		Long: `Print the key that clients of bx mcp serve --listen send, in the header
Authorization: Bearer KEY or X-API-Key. It is made when it is first needed, and
kept in a file that only you can read. ` + keyVariable + ` overrides it.`,
		RunE: func(*cobra.Command, []string) error {
			if anew {
				if err := a.dropMCPKey(); err != nil {
					return err
				}
			}
			key, err := a.mcpKey()
			if err == nil {
				fmt.Fprintln(a.out, key)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&anew, "new", false, "make another one; servers that run keep theirs")
	return cmd
}

// mcpKey is the key of the environment, or that of the file, which is made if
// it is not there.
func (a *app) mcpKey() (string, error) {
	if key := a.env(keyVariable); key != "" {
		if len(key) < minKey {
			return "", fail(exitUsage, "%s has %d characters: want at least %d", keyVariable, len(key), minKey)
		}
		return key, nil
	}
	file, err := a.mcpKeyFile()
	if err != nil {
		return "", err
	}
	if err := makeKey(file); err != nil {
		return "", fmt.Errorf("the key cannot be kept: %w", err)
	}
	return readKey(file)
}

func (a *app) mcpKeyFile() (string, error) {
	dir, err := a.dataDir("")
	if err != nil {
		return "", fail(exitConfig, "there is no home directory for the key: set %s", keyVariable)
	}
	return filepath.Join(dir, "mcp-key"), nil
}

// makeKey makes the file unless it is there. Of two programs that make it at the
// same time both read the same one.
func makeKey(file string) error {
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(file), ".mcp-key") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	_, err = fmt.Fprintln(temp, rand.Text()+rand.Text())
	if err = errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	if err = os.Link(temp.Name(), file); err != nil && !errors.Is(err, fs.ErrExist) {
		return os.Rename(temp.Name(), file) // a file system without links
	}
	return nil
}

func readKey(file string) (string, error) {
	info, err := os.Stat(file)
	if err != nil {
		return "", fmt.Errorf("the key cannot be read: %w", err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", fail(exitConfig, "%s holds a key and others can read it: chmod 600 %s", file, file)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("the key cannot be read: %w", err)
	}
	key := strings.TrimSpace(string(b))
	if len(key) < minKey {
		return "", fail(exitConfig, "%s holds no key of at least %d characters: bx mcp key --new makes one", file, minKey)
	}
	return key, nil
}

func (a *app) dropMCPKey() error {
	if a.env(keyVariable) != "" {
		return fail(exitUsage, "the key is that of %s: set another one there", keyVariable)
	}
	file, err := a.mcpKeyFile()
	if err != nil {
		return err
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the old key cannot be removed: %w", err)
	}
	return nil
}
