package fleet_test

import (
	"math"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp/fleet"
	"github.com/unifiedtoolprotocol/utp/price"
)

// Minutes, days and months are those of UTC, wherever a time is written down.
func TestWindowsAreOfUTC(t *testing.T) {
	for _, tt := range []struct {
		at         string
		per        fleet.Per
		start, end string
	}{
		{"2026-12-01T00:30:30+02:00", fleet.Minute, "2026-11-30T22:30:00Z", "2026-11-30T22:31:00Z"},
		{"2026-12-01T00:30:00+02:00", fleet.Day, "2026-11-30T00:00:00Z", "2026-12-01T00:00:00Z"},
		{"2026-12-01T00:30:00+02:00", fleet.Month, "2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z"},
		{"2026-12-31T20:00:00-05:00", fleet.Day, "2027-01-01T00:00:00Z", "2027-01-02T00:00:00Z"},
		{"2026-12-31T20:00:00-05:00", fleet.Month, "2027-01-01T00:00:00Z", "2027-02-01T00:00:00Z"},
		{"2026-11-30T23:59:59.999999999Z", fleet.Month, "2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z"},
		{"2026-12-01T00:00:00Z", fleet.Month, "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"},
		{"2028-02-29T12:00:00Z", fleet.Day, "2028-02-29T00:00:00Z", "2028-03-01T00:00:00Z"},
	} {
		at, err := time.Parse(time.RFC3339, tt.at)
		if err != nil {
			t.Fatal(err)
		}
		if start, end := tt.per.Start(at).Format(time.RFC3339), tt.per.End(at).Format(time.RFC3339); start != tt.start || end != tt.end {
			t.Errorf("%s of %s: from %s to %s, want %s to %s", tt.per, tt.at, start, end, tt.start, tt.end)
		}
	}
}

// What is settled, reserved and wanted may come to the limit and not above it, also
// where their sum is no number.
func TestBroken(t *testing.T) {
	day := func(limit, settled, reserved fleet.Amount) fleet.Spent {
		return fleet.Spent{Per: fleet.Day, Limit: limit, Settled: settled, Reserved: reserved}
	}
	for _, unit := range []string{"requests", "tokens", "money"} {
		of := func(n int64) fleet.Amount {
			switch unit {
			case "requests":
				return fleet.Amount{Requests: n}
			case "tokens":
				return fleet.Amount{Tokens: n}
			}
			return fleet.Amount{Money: price.Money(n)}
		}
		for _, tt := range []struct {
			limit, settled, reserved, want int64
			breaks                         bool
		}{
			{0, 5, 5, 5, false}, {10, 5, 4, 1, false}, {10, 5, 4, 2, true}, {10, 12, 0, 0, true}, {10, 5, 4, math.MaxInt64, true},
			{math.MaxInt64, math.MaxInt64, 0, 1, true}, {math.MaxInt64, 1, 1, math.MaxInt64 - 2, false},
		} {
			if got := day(of(tt.limit), of(tt.settled), of(tt.reserved)).Broken(of(tt.want)); got != map[bool]string{true: unit}[tt.breaks] {
				t.Errorf("%s, %+v: %q", unit, tt, got)
			}
		}
	}
	if got := (fleet.Spent{Per: fleet.Minute, Limit: fleet.Amount{Requests: 1}}).Broken(fleet.Amount{Requests: 2}); got != "" {
		t.Errorf("requests of a minute, which State counts: %q", got)
	}
}

// What is left is the limit without what is settled and reserved, and never below nothing.
func TestLeft(t *testing.T) {
	of := func(n int64) fleet.Amount { return fleet.Amount{Requests: n, Tokens: 2 * n, Money: price.Money(3 * n)} }
	for _, tt := range []struct{ limit, settled, reserved, left int64 }{{10, 0, 0, 10}, {10, 3, 4, 3}, {10, 10, 0, 0}, {10, 12, 5, 0}, {0, 1, 0, 0}} {
		if got := (fleet.Spent{Limit: of(tt.limit), Settled: of(tt.settled), Reserved: of(tt.reserved)}).Left(); got != of(tt.left) {
			t.Errorf("%+v: %+v", tt, got)
		}
	}
}
