CREATE TABLE segments (
	name TEXT PRIMARY KEY,
	read INTEGER NOT NULL,
	broken INTEGER NOT NULL,
	newer INTEGER NOT NULL,
	kinds INTEGER NOT NULL,
	dropped INTEGER NOT NULL
) WITHOUT ROWID;

-- The replies themselves, as lines, for those who look at one.
CREATE TABLE replies (
	seq INTEGER PRIMARY KEY,
	segment TEXT NOT NULL,
	id TEXT NOT NULL,
	time INTEGER NOT NULL, -- microseconds since 1970
	model TEXT NOT NULL,
	outcome TEXT NOT NULL,
	line TEXT NOT NULL
);
CREATE INDEX replies_segment ON replies (segment);
CREATE INDEX replies_id ON replies (id);
CREATE INDEX replies_time ON replies (time);
CREATE INDEX replies_model ON replies (model, time);

CREATE TABLE hours (
	segment TEXT NOT NULL,
	hour INTEGER NOT NULL,
	model TEXT NOT NULL,
	form TEXT NOT NULL,
	dialect TEXT NOT NULL,
	client TEXT NOT NULL,
	backend TEXT NOT NULL,
	outcome TEXT NOT NULL,
	replies INTEGER NOT NULL,
	calls INTEGER NOT NULL,
	fixes INTEGER NOT NULL,
	again INTEGER NOT NULL,
	failed INTEGER NOT NULL,
	input INTEGER NOT NULL,
	cached INTEGER NOT NULL,
	output INTEGER NOT NULL,
	took INTEGER NOT NULL,
	first INTEGER NOT NULL,
	firsts INTEGER NOT NULL,
	PRIMARY KEY (segment, hour, model, form, dialect, client, backend, outcome)
) WITHOUT ROWID;
CREATE INDEX hours_hour ON hours (hour);

CREATE TABLE tools (
	segment TEXT NOT NULL,
	hour INTEGER NOT NULL,
	model TEXT NOT NULL,
	form TEXT NOT NULL,
	name TEXT NOT NULL,
	dialect TEXT NOT NULL,
	good INTEGER NOT NULL,
	bad INTEGER NOT NULL,
	fixes INTEGER NOT NULL,
	ran INTEGER NOT NULL,
	failed INTEGER NOT NULL,
	refused INTEGER NOT NULL,
	took INTEGER NOT NULL,
	PRIMARY KEY (segment, hour, model, form, name, dialect)
) WITHOUT ROWID;
CREATE INDEX tools_hour ON tools (hour);

-- How long runs of a tool took, by the power of two (in eighths) of the microseconds.
CREATE TABLE runs (
	segment TEXT NOT NULL,
	hour INTEGER NOT NULL,
	model TEXT NOT NULL,
	name TEXT NOT NULL,
	bucket INTEGER NOT NULL,
	n INTEGER NOT NULL,
	PRIMARY KEY (segment, hour, model, name, bucket)
) WITHOUT ROWID;
CREATE INDEX runs_hour ON runs (hour);

CREATE TABLE words (
	segment TEXT NOT NULL,
	hour INTEGER NOT NULL,
	model TEXT NOT NULL,
	kind TEXT NOT NULL,
	word TEXT NOT NULL,
	n INTEGER NOT NULL,
	PRIMARY KEY (segment, hour, model, kind, word)
) WITHOUT ROWID;
CREATE INDEX words_hour ON words (hour, kind);

CREATE TABLE commands (
	segment TEXT NOT NULL,
	hour INTEGER NOT NULL,
	agent TEXT NOT NULL,
	cmd TEXT NOT NULL,
	mode TEXT NOT NULL,
	n INTEGER NOT NULL,
	tokens INTEGER NOT NULL,
	saved INTEGER NOT NULL,
	truncated INTEGER NOT NULL,
	took INTEGER NOT NULL,
	PRIMARY KEY (segment, hour, agent, cmd, mode)
) WITHOUT ROWID;
CREATE INDEX commands_hour ON commands (hour);
