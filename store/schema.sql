CREATE TABLE IF NOT EXISTS sessions (
	id      TEXT PRIMARY KEY, -- 8 hex digits
	root    TEXT NOT NULL,    -- directory it is about
	model   TEXT NOT NULL,
	created INTEGER NOT NULL, -- Unix milliseconds
	updated INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS sessions_updated ON sessions (updated DESC);
CREATE TABLE IF NOT EXISTS messages (
	session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
	seq     INTEGER NOT NULL, -- from 1
	role    TEXT NOT NULL,
	body    TEXT NOT NULL,    -- utp.Message as JSON
	created INTEGER NOT NULL,
	PRIMARY KEY (session, seq)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS current (
	root    TEXT PRIMARY KEY,
	session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE
);
