package schema

import (
	"slices"

	"github.com/unifiedtoolprotocol/utp"
)

// Key finds the argument that a written key means. A key that the schema knows
// is taken as it is. Else an alias may name another, or the key may be one
// argument in another spelling ("filePath", "File-Path" for file_path). The
// caller must not use it for a key that the call already has. tool may be an
// alias. The Fix has the canonical key's path.
func (s *Set) Key(tool, key string) (canonical string, fix *utp.Fix) {
	sh := s.shape(tool)
	if sh == nil || len(sh.order) == 0 || sh.knows(key) {
		return key, nil
	}
	to, ok := s.argument(tool, key, sh)
	why := "an alias of the argument"
	if !ok {
		to, ok = near(sh.folded, key)
		why = whyKey
	}
	if !ok {
		return key, nil
	}
	return to, &utp.Fix{Path: "/" + escape(to), Was: key, Now: to, Why: why}
}

func (sh *shape) knows(key string) bool { return sh.names[key] || knows(sh.atoms, key) }

// renameKeys applies Key to the arguments, where the target is not there already.
func (s *Set) renameKeys(tool string, args node) (node, []utp.Fix) {
	out := node{kind: '{', keys: args.keys, kids: args.kids}
	var fixes []utp.Fix
	for i, k := range args.keys {
		to, fix := s.Key(tool, k.name)
		if fix == nil {
			continue
		}
		if _, taken := out.find(to); taken {
			continue
		}
		if len(fixes) == 0 {
			out.keys = slices.Clone(args.keys)
		}
		out.keys[i] = key{to, quote(to)}
		fixes = append(fixes, *fix)
	}
	return settle(args, out, len(fixes) > 0), fixes
}
