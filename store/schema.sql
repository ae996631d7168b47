CREATE TABLE IF NOT EXISTS sessions (
	id      TEXT PRIMARY KEY, -- 8 hex digits
	root    TEXT NOT NULL,    -- directory it is about
	model   TEXT NOT NULL,
	created INTEGER NOT NULL, -- Unix milliseconds
	updated INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS sessions_updated ON sessions (updated DESC);
CREATE TABLE IF NOT EXISTS entries (
	session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
	n       INTEGER NOT NULL, -- from 1
	kind    TEXT NOT NULL,    -- of transcript.Entry
	body    TEXT NOT NULL,    -- transcript.Entry as JSON
	PRIMARY KEY (session, n)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS current (
	root    TEXT PRIMARY KEY,
	session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE
);
CREATE TABLE IF NOT EXISTS workers ( -- who is answering a question of a session
	session TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
	pid     INTEGER NOT NULL,
	since   INTEGER NOT NULL -- Unix milliseconds
);
