CREATE TABLE files (
  id    INTEGER PRIMARY KEY,
  path  TEXT NOT NULL UNIQUE,
  dir   TEXT NOT NULL,      -- ends in a slash; "./" is the root
  size  INTEGER NOT NULL,
  mtime INTEGER NOT NULL    -- nanoseconds; -1: to be read again
);
CREATE TABLE chunks (
  id      INTEGER PRIMARY KEY AUTOINCREMENT, -- so that the removed can be counted
  file    INTEGER NOT NULL,
  start   INTEGER NOT NULL,
  "end"   INTEGER NOT NULL,
  line    INTEGER NOT NULL,
  symbols TEXT NOT NULL     -- separated by blanks
);
CREATE INDEX chunks_file ON chunks(file);
-- The words of each chunk by its id; the text itself is not kept.
CREATE VIRTUAL TABLE words USING fts5(path, sym, body, content='', contentless_delete=1, tokenize='porter unicode61');
-- The files as a query found them when nothing had changed since they were read
-- in: a listing with this sum needs no look at the table of files.
CREATE TABLE state (
  writes  INTEGER NOT NULL, -- to files; a listing counts for the number at which it was made
  listing BLOB
);
INSERT INTO state VALUES(0, NULL);
