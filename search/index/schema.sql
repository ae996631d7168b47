CREATE TABLE files (
  id    INTEGER PRIMARY KEY,
  path  TEXT NOT NULL UNIQUE,
  size  INTEGER NOT NULL,
  mtime INTEGER NOT NULL,   -- nanoseconds; -1: to be read again
  first INTEGER NOT NULL,   -- of its chunks
  last  INTEGER NOT NULL    -- below first: it has none
);
CREATE TABLE chunks (
  id      INTEGER PRIMARY KEY AUTOINCREMENT, -- so that the removed can be counted
  file    INTEGER NOT NULL,
  start   INTEGER NOT NULL,
  "end"   INTEGER NOT NULL,
  line    INTEGER NOT NULL,
  symbols TEXT NOT NULL     -- separated by blanks
);
-- Chunks that were written together, from first on. part.go has the form of
-- the blobs here and below.
CREATE TABLE parts (
  first   INTEGER PRIMARY KEY,
  lengths BLOB NOT NULL,
  dirs    BLOB NOT NULL
);
-- Chunks that were removed: the words below still lead to them.
CREATE TABLE gone (
  first INTEGER NOT NULL,
  last  INTEGER NOT NULL
);
-- In which chunks of a part a word is. The text itself is not kept.
CREATE TABLE words (
  word   TEXT NOT NULL,
  first  INTEGER NOT NULL,
  places BLOB NOT NULL,
  PRIMARY KEY (word, first)
) WITHOUT ROWID;
-- The files as a query found them when nothing had changed since they were read
-- in: a listing with this sum needs no look at the table of files.
CREATE TABLE state (
  writes  INTEGER NOT NULL, -- to files; a listing counts for the number at which it was made
  listing BLOB
);
INSERT INTO state VALUES(0, NULL);
