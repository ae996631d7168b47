package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/unifiedtoolprotocol/utp/internal/contract"
)

// contractReport lists every requirement with the tests that carry it, or the
// named ones in full.
func contractReport(w io.Writer, ids []string) error {
	rows, carriers, err := rowsAndCarriers()
	if err != nil {
		return err
	}
	outcomes, err := test("./...")
	if err != nil {
		return err
	}
	r := contract.Join(rows, carriers, outcomes)
	for _, id := range ids {
		if _, ok := r.Find(id); !ok {
			return fmt.Errorf("%s is no row of %s", id, requirements)
		}
	}
	r.Hold(contract.Waiting())
	r.Write(w, ids)
	if !r.OK() {
		return errors.New("a test that carries a row fails, a row has none, or a tag is not in order")
	}
	return nil
}
