-- Readings of rows for rules and for analysts. A view holds nothing; limits come from the protocol row that a block cites.

CREATE VIEW protocol_limit AS
SELECT p.key AS protocol, f.key AS field, json_extract(f.value, '$.value') AS value
FROM entry AS p, json_each(p.body, '$.protocol.fields') AS f
WHERE p.kind = 'protocol';

CREATE VIEW block AS
SELECT seq AS entry,
       json_extract(body, '$.campaign') AS campaign,
       json_extract(body, '$.session') AS session,
       json_extract(body, '$.task') AS task,
       json_extract(body, '$.protocol') AS protocol,
       json_extract(body, '$.phase') AS phase,
       json_extract(body, '$.index') AS number,
       json_extract(body, '$.attempt') AS attempt,
       json_array_length(body, '$.seeds') AS pairs,
       json_array_length(body, '$.arms') AS arms,
       json_array_length(body, '$.cells') AS cells
FROM entry WHERE kind = 'block';

CREATE VIEW arm AS
SELECT e.seq AS entry, a.key AS arm,
       json_extract(a.value, '$.role') AS role,
       json_extract(a.value, '$.source') AS source
FROM entry AS e, json_each(e.body, '$.arms') AS a
WHERE e.kind = 'block';

CREATE VIEW run AS
SELECT e.seq AS entry, r.key AS run,
       json_extract(r.value, '$.pair') AS pair,
       json_extract(r.value, '$.arm') AS arm,
       json_array_length(r.value, '$.cells') AS cells,
       json_extract(r.value, '$.checks.scanned') AS scanned,
       json_extract(r.value, '$.checks.sampled') AS sampled,
       json_extract(r.value, '$.checks.full') AS full_calls,
       json_extract(r.value, '$.checks.failed') AS failed
FROM entry AS e, json_each(e.body, '$.runs') AS r
WHERE e.kind = 'block';

CREATE VIEW run_cell AS
SELECT e.seq AS entry, r.key AS run, json_extract(r.value, '$.arm') AS arm, c.key AS cell,
       json_extract(c.value, '$.k') AS k,
       json_extract(c.value, '$.warmup') AS warmup,
       json_extract(c.value, '$.value') AS value,
       json_extract(c.value, '$.windows') AS windows
FROM entry AS e, json_each(e.body, '$.runs') AS r, json_each(r.value, '$.cells') AS c
WHERE e.kind = 'block';
