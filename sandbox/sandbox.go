// Package sandbox runs a command that can write only where a Policy says, sees
// neither the home folder nor other processes, and has no network unless it is
// given one.
//
// It starts the program itself once more as a helper, in namespaces of its own:
// what runs must call Helper first thing in main. Only Linux has it; elsewhere,
// and where the system forbids namespaces, Check says so.
package sandbox

import (
	"errors"
	"os"
)

// Mark is the first argument of the helper.
const Mark = "__sandbox"

// Policy is what a command may do. All paths are absolute and without links.
type Policy struct {
	Root    string   `json:"root"`    // it may write here; it starts here
	Write   []string `json:"write"`   // and here, where these are there
	Home    string   `json:"home"`    // this folder is empty but for what Read and Write name; "" is none
	Read    []string `json:"read"`    // what is seen of Home
	Protect []string `json:"protect"` // files and folders below Root that stay as they are, where they are there
	Pin     []string `json:"pin"`     // folders below Root that cannot be renamed
	Sockets []string `json:"sockets"` // Unix sockets that are hidden
	Network bool     `json:"network"`

	Memory    uint64 `json:"memory"`    // bytes of data for each process; 0 is 8 GB
	Processes uint64 `json:"processes"` // 0 is 4096
	FileSize  uint64 `json:"file_size"` // bytes of each file; 0 is 4 GB
}

// ErrNone says that this system has no sandbox.
var ErrNone = errors.New("this system has no sandbox")

// Helper runs the rest of the command line in the sandbox if this process was
// started for that; it ends with the code then. handled is false in every other
// process. args is the command line.
func Helper(args []string, out, errs *os.File) (handled bool, code int, err error) {
	if len(args) < 4 || args[1] != Mark {
		return false, 0, nil
	}
	code, err = inside(args[2], args[3:], out, errs)
	return true, code, err
}
