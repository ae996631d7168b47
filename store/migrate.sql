-- Messages of version 1 become entries: a question opens a turn, the rest is
-- part of the conversation as it stands.
INSERT INTO entries (session, n, kind, body)
SELECT session, seq, CASE role WHEN 'user' THEN 'question' ELSE 'message' END,
	'{"kind":' || CASE role WHEN 'user' THEN '"question"' ELSE '"message"' END || ',"message":' || body || '}'
FROM messages;
DROP TABLE messages;
