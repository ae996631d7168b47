package stats

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"modernc.org/sqlite"

	"github.com/unifiedtoolprotocol/utp/record"
)

// spy is the driver, and keeps what was asked.
type spy struct {
	driver.Driver
	mu    sync.Mutex
	asked []string
}

func (s *spy) Open(name string) (driver.Conn, error) {
	c, err := s.Driver.Open(name)
	return &spied{c, s}, err
}

type spied struct {
	driver.Conn
	s *spy
}

func (c *spied) Prepare(query string) (driver.Stmt, error) {
	c.s.mu.Lock()
	c.s.asked = append(c.s.asked, query)
	c.s.mu.Unlock()
	return c.Conn.Prepare(query)
}

// No question of the dashboard reads all replies, or all sums without a bound of
// time: each goes by an index.
func TestNoQuestionReadsAllRows(t *testing.T) {
	s := &spy{Driver: new(sqlite.Driver)}
	name := fmt.Sprintf("spied-%p", s) // of this run: a name is registered once
	sql.Register(name, s)
	db, err := sql.Open(name, ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	ctx := context.Background()
	if _, err := db.ExecContext(ctx, schema); err != nil {
		t.Fatal(err)
	}
	x := &Index{db: db, unit: hourUnit}
	s.asked = nil
	now := time.Now()
	for _, model := range []string{"", "m"} {
		f := Filter{Since: now.Add(-time.Hour), Until: now, Model: model}
		for _, outcome := range []record.Outcome{"", record.Bad} {
			if _, _, err := x.Page(ctx, f, outcome, 5, 10); err != nil {
				t.Fatal(err)
			}
			// an empty index has no hour: the page itself is asked for by hand
			only := ""
			if model != "" {
				only += " AND +model = 'm'"
			}
			if outcome != "" {
				only += " AND outcome = 'bad'"
			}
			s.asked = append(s.asked, strings.NewReplacer("time < ?", "time < 9", "time >= ?", "time >= 1").Replace(pageQuery)+only+" ORDER BY time DESC, seq DESC LIMIT 10 OFFSET 5")
		}
		_, err1 := x.Spans(ctx, f, 6)
		_, err2 := x.Calls(ctx, f)
		_, err3 := x.Runs(ctx, f)
		_, err4 := x.Words(ctx, Fixes, f)
		_, err5 := x.Rows(ctx, ByForm, f, func(string, int, int, int) (float64, bool) { return 0, false })
		y, err6 := x.Recent(ctx, f.Since, f.Until)
		if err6 == nil {
			err6 = y.Close()
		}
		for _, err := range []error{err1, err2, err3, err4, err5, err6} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	_, _, err1 := x.After(ctx, 5, 10)
	_, err2 := x.Last(ctx)
	_, _, err3 := x.Reply(ctx, "a")
	for _, err := range []error{err1, err2, err3} {
		if err != nil {
			t.Fatal(err)
		}
	}
	asked := s.asked
	if len(asked) < 20 {
		t.Fatalf("%d questions: %q", len(asked), asked)
	}
	for _, q := range asked {
		rows, err := db.QueryContext(ctx, "EXPLAIN QUERY PLAN "+q, make([]any, strings.Count(q, "?"))...)
		if err != nil {
			t.Fatalf("%s: %v", q, err)
		}
		for rows.Next() {
			var id, parent, unused int
			var detail string
			if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(detail, "SCAN") {
				t.Errorf("%s\nreads all rows: %s", q, detail)
			}
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
