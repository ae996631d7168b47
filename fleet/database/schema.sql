-- Version 1. Times are microseconds since 1970, money is in billionths. A later
-- version only adds tables and columns with defaults, so that replicas of an older
-- one go on: see migrations in database.go.

CREATE TABLE bx_teams (
	id text PRIMARY KEY, name text NOT NULL UNIQUE, created bigint NOT NULL, limits text NOT NULL
);

CREATE TABLE bx_keys (
	id text PRIMARY KEY, name text NOT NULL UNIQUE, team text NOT NULL, created bigint NOT NULL,
	expires bigint NOT NULL, disabled bigint NOT NULL, limits text NOT NULL
);

-- The hashes of keys; after a rotation the old one is good until its time.
CREATE TABLE bx_hashes (
	hash text PRIMARY KEY, key_id text NOT NULL, until bigint NOT NULL
);

-- What a key or a team has used in a minute, a day or a month. open_ is reserved.
CREATE TABLE bx_windows (
	subject text NOT NULL, per text NOT NULL, start bigint NOT NULL,
	requests bigint NOT NULL, tokens bigint NOT NULL, money bigint NOT NULL,
	open_requests bigint NOT NULL, open_tokens bigint NOT NULL, open_money bigint NOT NULL,
	limit_requests bigint NOT NULL, limit_tokens bigint NOT NULL, limit_money bigint NOT NULL,
	PRIMARY KEY (subject, per, start)
);

-- A line for each request to a backend. minutes: 1, the key's minute was charged, 2, the team's.
CREATE TABLE bx_entries (
	id text PRIMARY KEY, key_id text NOT NULL, key_name text NOT NULL, team_id text NOT NULL, team_name text NOT NULL,
	request text NOT NULL, replica text NOT NULL, backend text NOT NULL, model text NOT NULL, dated text NOT NULL,
	at bigint NOT NULL, ended bigint NOT NULL, ending text NOT NULL, late bigint NOT NULL, minutes bigint NOT NULL,
	input bigint NOT NULL, cache_read bigint NOT NULL, cache_write bigint NOT NULL, output bigint NOT NULL, reasoning bigint NOT NULL,
	most_requests bigint NOT NULL, most_tokens bigint NOT NULL, most_money bigint NOT NULL,
	requests bigint NOT NULL, tokens bigint NOT NULL, money bigint NOT NULL
);
CREATE INDEX bx_entries_key ON bx_entries (key_id, at);
CREATE INDEX bx_entries_at ON bx_entries (at);
CREATE INDEX bx_entries_open ON bx_entries (replica) WHERE ending = 'open';

CREATE TABLE bx_replicas (
	id text PRIMARY KEY, until bigint NOT NULL
);

CREATE TABLE bx_audit (
	id text PRIMARY KEY, at bigint NOT NULL, who text NOT NULL, what text NOT NULL, subject text NOT NULL, how text NOT NULL
);

-- What may be lost.
CREATE {loose} TABLE bx_kept (
	owner text NOT NULL, name text NOT NULL, value {bytes} NOT NULL, at bigint NOT NULL,
	PRIMARY KEY (owner, name)
);
CREATE INDEX bx_kept_at ON bx_kept (at);

CREATE {loose} TABLE bx_rates (
	owner text PRIMARY KEY, at bigint NOT NULL,
	requests double precision NOT NULL, size_requests double precision NOT NULL,
	tokens double precision NOT NULL, size_tokens double precision NOT NULL
);

CREATE {loose} TABLE bx_running (
	owner text NOT NULL, visit text NOT NULL, until bigint NOT NULL,
	PRIMARY KEY (owner, visit)
);

CREATE {loose} TABLE bx_cooling (
	target text PRIMARY KEY, until bigint NOT NULL
);
