-- The rules. Each statement is `SELECT RAISE(ABORT, 'ATBnnn ...') WHERE (what must hold) IS NOT TRUE`, so a missing row or a NULL
-- refuses. The order of statements is the order of codes in crates/atb-ledger/src/rules: a row with several faults gets the same code
-- from both. Functions are those of a plain sqlite3; hashes are recomputed by `atb verify`.

-- Chain and form, alike for the three chains.

CREATE TRIGGER entry_append BEFORE INSERT ON entry
BEGIN
    SELECT RAISE(ABORT, 'ATB201 the row does not have the next sequence number')
    WHERE (NEW.seq = (SELECT ifnull(max(seq), 0) + 1 FROM entry)) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB202 the row does not continue the chain')
    WHERE (NEW.prev = ifnull((SELECT hash FROM entry WHERE seq = NEW.seq - 1),
        '0000000000000000000000000000000000000000000000000000000000000000')) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB203 the hash is not 64 lower-case hexadecimal digits')
    WHERE (length(NEW.hash) = 64 AND length(CAST(NEW.hash AS BLOB)) = 64 AND NEW.hash NOT GLOB '*[^0-9a-f]*') IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB209 time runs backwards')
    WHERE (NEW.at_ms > 0 AND NEW.at_ms >= ifnull((SELECT at_ms FROM entry WHERE seq = NEW.seq - 1), 0)) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB204 the kind is unknown')
    WHERE (NEW.kind IN ('protocol', 'task', 'campaign', 'session', 'baseline', 'candidate', 'fault', 'block', 'keep', 'close',
        'registration', 'abandon')) IS NOT TRUE;
    -- Canonical JSON. Numbers among window times are left to ATB602.
    SELECT RAISE(ABORT, 'ATB205 the body is not one JSON object without white space')
    WHERE (CASE WHEN json_valid(NEW.body) THEN json_type(NEW.body) = 'object' AND json(NEW.body) = NEW.body END) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB205 the body escapes characters that canonical JSON does not escape, or escapes them otherwise')
    WHERE instr(NEW.body, '\') > 0 AND (
        SELECT text GLOB '*\/*' OR text GLOB '*\u[^0]*' OR text GLOB '*\u0[^0]*' OR text GLOB '*\u00[^01]*'
            OR text GLOB '*\u00[01][^0-9a-f]*' OR text GLOB '*\u000[089acd]*'
        FROM (SELECT replace(NEW.body, '\\', '') AS text)) IS NOT FALSE;
    SELECT RAISE(ABORT, 'ATB205 the keys of an object are not sorted, distinct and plain')
    WHERE EXISTS (
        SELECT 1 FROM (
            SELECT key, lag(key) OVER (PARTITION BY parent ORDER BY id) AS before FROM json_tree(NEW.body) WHERE typeof(key) = 'text')
        WHERE key <= before OR key GLOB '*[^a-z0-9_.]*');
    SELECT RAISE(ABORT, 'ATB205 a number is not a canonical integer of 64 bits')
    WHERE EXISTS (
        SELECT 1 FROM json_tree(NEW.body)
        WHERE (type = 'real' OR type = 'integer' AND (typeof(atom) <> 'integer' OR atom = 0 AND (NEW.body -> fullkey) <> '0'))
            AND path NOT GLOB '*.windows');
    -- Exactly the kind's keys, each with its type; then the same one level deeper, statement by statement, since a function that is
    -- given another form than it expects would fail without a code.
    SELECT RAISE(ABORT, 'ATB205 the body does not have its kind''s keys and types')
    WHERE ((
        SELECT group_concat(key || ':' || form, ' ') FROM (
            SELECT key, CASE type WHEN 'false' THEN 'true' ELSE type END AS form
            FROM json_each(NEW.body) ORDER BY key)
    ) = CASE NEW.kind
        WHEN 'protocol' THEN 'digest:text format:integer id:text protocol:object'
        WHEN 'task' THEN 'digest:text files:array format:integer id:text unit:text'
        WHEN 'campaign' THEN 'command:text format:integer hypothesis:text id:text iterations:integer proposer:text protocol:text readout:text registration:text seed:integer shapes:array stop_rule:text task:text task_id:text'
        WHEN 'session' THEN 'campaign:text canary:text compiler:text delay_ns:integer format:integer handoff_ns:integer harness:text id:text isolation:text key_hash:text machine:object'
        WHEN 'baseline' THEN 'artefact:text campaign:text flags:text format:integer role:text session:text source:text tried:array'
        WHEN 'candidate' THEN 'campaign:text cost:text format:integer generation:integer iteration:integer note:text parent:text proposer:text source:text'
        WHEN 'fault' THEN 'campaign:text candidate:text code:text detail:text format:integer outcome:text'
        WHEN 'block' THEN 'arms:array attempt:integer campaign:text canary:text cells:array format:integer index:integer isolation:text judge:text phase:text protocol:text quiet:true runs:array seeds:array session:text task:text'
        WHEN 'keep' THEN 'block:integer campaign:text candidate:text format:integer parent:text'
        WHEN 'close' THEN 'campaign:text format:integer gates:integer gates_head:text keys:array reason:text refusals:integer refusals_head:text'
        WHEN 'registration' THEN 'arms:array confidence:text confidence_equivalence:text delivery:text delta:text digest:text format:integer harness:text hypothesis:text id:text ladder:text machine:text mde:text min_pairs:integer pairs:integer protocol:text readout:text same:integer shapes:array stop_rule:text task:text task_id:text underpowered:text why:text'
        WHEN 'abandon' THEN 'format:integer reason:text registration:text'
        END AND json_extract(NEW.body, '$.format') = 1) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB205 the unit of the task is neither element nor row')
    WHERE NEW.kind = 'task' AND json_extract(NEW.body, '$.unit') NOT IN ('element', 'row');
    SELECT RAISE(ABORT, 'ATB205 a file of the task does not have its form')
    WHERE NEW.kind = 'task' AND EXISTS (
        SELECT 1 FROM json_each(NEW.body, '$.files') AS i
        WHERE CASE i.type WHEN 'object' THEN (SELECT group_concat(key || ':' || type, ' ') FROM (SELECT key, type FROM json_each(i.value) ORDER BY key)) END
            IS NOT 'digest:text name:text');
    SELECT RAISE(ABORT, 'ATB205 a shape is not a text')
    WHERE NEW.kind IN ('campaign', 'registration') AND EXISTS (SELECT 1 FROM json_each(NEW.body, '$.shapes') WHERE type <> 'text');
    SELECT RAISE(ABORT, 'ATB205 a registered arm does not have its form')
    WHERE NEW.kind = 'registration' AND EXISTS (
        SELECT 1 FROM json_each(NEW.body, '$.arms') AS i
        WHERE CASE i.type WHEN 'object' THEN (SELECT group_concat(key || ':' || type, ' ') FROM (SELECT key, type FROM json_each(i.value) ORDER BY key)) END
            IS NOT 'kind:text role:text source:text');
    SELECT RAISE(ABORT, 'ATB205 the machine does not have its form')
    WHERE NEW.kind = 'session' AND (
        SELECT group_concat(key || ':' || type, ' ') FROM (
            SELECT key, CASE type WHEN 'false' THEN 'true' ELSE type END AS type FROM json_each(NEW.body, '$.machine') ORDER BY key))
        IS NOT 'boot:text cpu:text cpus:integer fingerprint:text governor:text kernel:text memory_mib:integer virtual_machine:true';
    SELECT RAISE(ABORT, 'ATB205 a tried flag set does not have its form')
    WHERE NEW.kind = 'baseline' AND EXISTS (
        SELECT 1 FROM json_each(NEW.body, '$.tried') AS i
        WHERE CASE i.type WHEN 'object' THEN (SELECT group_concat(key || ':' || type, ' ') FROM (SELECT key, type FROM json_each(i.value) ORDER BY key)) END
            IS NOT 'flags:text outcome:text picos:array');
    SELECT RAISE(ABORT, 'ATB205 a tried time is not an integer')
    WHERE NEW.kind = 'baseline' AND EXISTS (SELECT 1 FROM json_each(NEW.body, '$.tried') AS i, json_each(i.value, '$.picos') AS t WHERE t.type <> 'integer');
    SELECT RAISE(ABORT, 'ATB205 a revealed key does not have its form')
    WHERE NEW.kind = 'close' AND EXISTS (
        SELECT 1 FROM json_each(NEW.body, '$.keys') AS i
        WHERE CASE i.type WHEN 'object' THEN (SELECT group_concat(key || ':' || type, ' ') FROM (SELECT key, type FROM json_each(i.value) ORDER BY key)) END
            IS NOT 'key:text session:text');
    SELECT RAISE(ABORT, 'ATB205 the protocol does not have its form')
    WHERE NEW.kind = 'protocol' AND (
        SELECT group_concat(key || ':' || type, ' ') FROM (SELECT key, type FROM json_each(NEW.body, '$.protocol') ORDER BY key))
        IS NOT 'fields:object format:integer id:text title:text';
    SELECT RAISE(ABORT, 'ATB205 a field of the protocol does not have its form')
    WHERE NEW.kind = 'protocol' AND EXISTS (
        SELECT 1 FROM json_each(NEW.body, '$.protocol.fields') AS i
        WHERE ifnull(CASE i.type WHEN 'object' THEN (SELECT group_concat(key || ':' || type, ' ') FROM (SELECT key, type FROM json_each(i.value) ORDER BY key)) END, '')
            NOT IN ('locator:text source:text unit:text value:integer', 'locator:text source:text unit:text value:text',
                'locator:text source:text unit:text value:array'));
    SELECT RAISE(ABORT, 'ATB205 a list of the protocol holds another thing than texts')
    WHERE NEW.kind = 'protocol' AND EXISTS (
        SELECT 1 FROM json_each(NEW.body, '$.protocol.fields') AS i, json_each(i.value, '$.value') AS t
        WHERE json_type(i.value, '$.value') = 'array' AND t.type <> 'text');
    SELECT RAISE(ABORT, 'ATB205 a limit that the rules read is missing or is no positive number')
    WHERE NEW.kind = 'protocol' AND ((
        SELECT count(*) FROM json_each(NEW.body, '$.protocol.fields') AS i
        WHERE i.key IN ('kernel.warmup_min', 'kernel.warmup_max', 'kernel.windows', 'kernel.window_floor_us', 'kernel.calls_max',
                'correctness.sampled_elements', 'correctness.sampled_rows', 'replication.pairs_screen', 'replication.pairs_confirm', 'replication.pairs_confirm_2',
                'replication.pairs_confirm_5', 'replication.pairs_confirm_10', 'replication.pairs_report',
                'replication.pairs_probe', 'session.minutes_max')
            AND json_type(i.value, '$.value') = 'integer' AND json_extract(i.value, '$.value') BETWEEN 1 AND 1000000000) = 15
        AND (SELECT count(*) FROM json_each(NEW.body, '$.protocol.fields') AS i
            WHERE i.key IN ('noise.cv_cap', 'session.handoff_max', 'session.delay_tolerance')
                AND json_type(i.value, '$.value') = 'text' AND json_extract(i.value, '$.value') GLOB '0.[0-9]*'
                AND substr(json_extract(i.value, '$.value'), 3) NOT GLOB '*[^0-9]*') = 3) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB205 an arm does not have its form')
    WHERE NEW.kind = 'block' AND EXISTS (
        SELECT 1 FROM json_each(NEW.body, '$.arms') AS i
        WHERE CASE i.type WHEN 'object' THEN (SELECT group_concat(key || ':' || type, ' ') FROM (SELECT key, type FROM json_each(i.value) ORDER BY key)) END
            IS NOT 'artefact:text flags:text role:text source:text');
    SELECT RAISE(ABORT, 'ATB205 a cell does not have its form')
    WHERE NEW.kind = 'block' AND EXISTS (
        SELECT 1 FROM json_each(NEW.body, '$.cells') AS i
        WHERE CASE i.type WHEN 'object' THEN (SELECT group_concat(key || ':' || type, ' ') FROM (SELECT key, type FROM json_each(i.value) ORDER BY key)) END
            IS NOT 'dims:array shape:text');
    SELECT RAISE(ABORT, 'ATB205 a dimension is not an integer')
    WHERE NEW.kind = 'block' AND EXISTS (SELECT 1 FROM json_each(NEW.body, '$.cells') AS i, json_each(i.value, '$.dims') AS d WHERE d.type <> 'integer');
    SELECT RAISE(ABORT, 'ATB205 a seed is not a text')
    WHERE NEW.kind = 'block' AND EXISTS (SELECT 1 FROM json_each(NEW.body, '$.seeds') WHERE type <> 'text');
    SELECT RAISE(ABORT, 'ATB205 a run does not have its form')
    WHERE NEW.kind = 'block' AND EXISTS (
        SELECT 1 FROM json_each(NEW.body, '$.runs') AS i
        WHERE CASE i.type WHEN 'object' THEN (SELECT group_concat(key || ':' || type, ' ') FROM (SELECT key, type FROM json_each(i.value) ORDER BY key)) END
            IS NOT 'arm:integer cells:array checks:object pair:integer');
    SELECT RAISE(ABORT, 'ATB205 the checks of a run do not have their form')
    WHERE NEW.kind = 'block' AND EXISTS (
        SELECT 1 FROM json_each(NEW.body, '$.runs') AS r
        WHERE (SELECT group_concat(key || ':' || type, ' ') FROM (SELECT key, type FROM json_each(r.value, '$.checks') ORDER BY key))
            IS NOT 'failed:integer full:integer miss_ppm:integer sampled:integer scanned:integer');
    SELECT RAISE(ABORT, 'ATB205 a cell of a run does not have its form')
    WHERE NEW.kind = 'block' AND EXISTS (
        SELECT 1 FROM json_each(NEW.body, '$.runs') AS r, json_each(r.value, '$.cells') AS c
        WHERE CASE c.type WHEN 'object' THEN (SELECT group_concat(key || ':' || type, ' ') FROM (SELECT key, type FROM json_each(c.value) ORDER BY key)) END
            IS NOT 'k:integer value:integer warmup:integer windows:array');
    SELECT RAISE(ABORT, 'ATB205 a window time is a list or an object')
    WHERE NEW.kind = 'block' AND EXISTS (
        SELECT 1 FROM json_each(NEW.body, '$.runs') AS r, json_each(r.value, '$.cells') AS c, json_each(c.value, '$.windows') AS w
        WHERE w.type IN ('array', 'object'));
    SELECT RAISE(ABORT, 'ATB211 the key is not the key of the body')
    WHERE (NEW.key = CASE NEW.kind
        WHEN 'protocol' THEN json_extract(NEW.body, '$.digest')
        WHEN 'task' THEN json_extract(NEW.body, '$.digest')
        WHEN 'campaign' THEN json_extract(NEW.body, '$.id')
        WHEN 'session' THEN json_extract(NEW.body, '$.id')
        WHEN 'baseline' THEN json_extract(NEW.body, '$.session') || '/' || json_extract(NEW.body, '$.role')
        WHEN 'candidate' THEN json_extract(NEW.body, '$.campaign') || '/' || json_extract(NEW.body, '$.source')
        WHEN 'fault' THEN json_extract(NEW.body, '$.campaign') || '/' || json_extract(NEW.body, '$.candidate')
        WHEN 'block' THEN json_extract(NEW.body, '$.campaign') || '/' || json_extract(NEW.body, '$.phase') || '/' || json_extract(NEW.body, '$.index')
        WHEN 'keep' THEN json_extract(NEW.body, '$.campaign') || '/' || json_extract(NEW.body, '$.candidate')
        WHEN 'close' THEN json_extract(NEW.body, '$.campaign')
        WHEN 'registration' THEN json_extract(NEW.body, '$.id')
        WHEN 'abandon' THEN json_extract(NEW.body, '$.registration')
        END) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB303 a row with this kind and key exists')
    WHERE (NOT EXISTS (SELECT 1 FROM entry WHERE kind = NEW.kind AND key = NEW.key)) IS NOT TRUE;
    -- What rows cite.
    SELECT RAISE(ABORT, 'ATB112 the protocol id is known with another digest')
    WHERE NEW.kind = 'protocol' AND (NOT EXISTS (
        SELECT 1 FROM entry WHERE kind = 'protocol' AND json_extract(body, '$.id') = json_extract(NEW.body, '$.id'))) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB111 the campaign cites a protocol that the ledger does not hold')
    WHERE NEW.kind = 'campaign' AND (EXISTS (
        SELECT 1 FROM entry WHERE kind = 'protocol' AND key = json_extract(NEW.body, '$.protocol'))) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB206 the campaign cites a task that the ledger does not hold')
    WHERE NEW.kind = 'campaign' AND (EXISTS (
        SELECT 1 FROM entry WHERE kind = 'task' AND key = json_extract(NEW.body, '$.task'))) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB206 the row cites a campaign that the ledger does not hold')
    WHERE NEW.kind IN ('session', 'baseline', 'candidate', 'fault', 'block', 'keep', 'close') AND (EXISTS (
        SELECT 1 FROM entry WHERE kind = 'campaign' AND key = json_extract(NEW.body, '$.campaign'))) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB208 the campaign is closed')
    WHERE NEW.kind IN ('session', 'baseline', 'candidate', 'fault', 'block', 'keep') AND (NOT EXISTS (
        SELECT 1 FROM entry WHERE kind = 'close' AND key = json_extract(NEW.body, '$.campaign'))) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB206 the row cites a session that is not one of the campaign')
    WHERE NEW.kind IN ('baseline', 'block') AND (EXISTS (
        SELECT 1 FROM entry WHERE kind = 'session' AND key = json_extract(NEW.body, '$.session')
            AND json_extract(body, '$.campaign') = json_extract(NEW.body, '$.campaign'))) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB206 the fault cites a candidate that the campaign does not have')
    WHERE NEW.kind = 'fault' AND (EXISTS (
        SELECT 1 FROM entry WHERE kind = 'candidate' AND key = NEW.key)) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB206 the parent is not the current parent of the campaign')
    WHERE NEW.kind IN ('candidate', 'keep') AND (json_extract(NEW.body, '$.parent') = ifnull(
        (SELECT json_extract(body, '$.candidate') FROM entry
            WHERE kind = 'keep' AND json_extract(body, '$.campaign') = json_extract(NEW.body, '$.campaign') ORDER BY seq DESC LIMIT 1),
        (SELECT json_extract(body, '$.source') FROM entry
            WHERE kind = 'baseline' AND json_extract(body, '$.role') = 'compiler'
                AND json_extract(body, '$.campaign') = json_extract(NEW.body, '$.campaign') ORDER BY seq LIMIT 1))) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB206 the keep does not fit its CONFIRM block')
    WHERE NEW.kind = 'keep' AND (EXISTS (
        SELECT 1 FROM block AS b, arm AS p, arm AS c
        WHERE b.entry = json_extract(NEW.body, '$.block') AND b.phase = 'confirm'
            AND b.campaign = json_extract(NEW.body, '$.campaign')
            AND p.entry = b.entry AND p.role = 'parent' AND p.source = json_extract(NEW.body, '$.parent')
            AND c.entry = b.entry AND c.role = 'candidate' AND c.source = json_extract(NEW.body, '$.candidate'))) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB206 the close does not state the present gates and refusals')
    WHERE NEW.kind = 'close' AND (
        json_extract(NEW.body, '$.gates') = (SELECT count(*) FROM gate)
        AND json_extract(NEW.body, '$.refusals') = (SELECT count(*) FROM refusal)
        AND json_extract(NEW.body, '$.gates_head') = ifnull((SELECT hash FROM gate ORDER BY seq DESC LIMIT 1),
            '0000000000000000000000000000000000000000000000000000000000000000')
        AND json_extract(NEW.body, '$.refusals_head') = ifnull((SELECT hash FROM refusal ORDER BY seq DESC LIMIT 1),
            '0000000000000000000000000000000000000000000000000000000000000000')) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB206 the close does not reveal the key of each session, once')
    WHERE NEW.kind = 'close' AND (
        (SELECT json_group_array(id) FROM (
            SELECT json_extract(value, '$.session') AS id FROM json_each(NEW.body, '$.keys') ORDER BY id))
        IS (SELECT json_group_array(id) FROM (
            SELECT key AS id FROM entry WHERE kind = 'session'
                AND json_extract(body, '$.campaign') = json_extract(NEW.body, '$.campaign') ORDER BY id))) IS NOT TRUE;
END;

-- Rules of blocks, on the row as stored; an abort removes it again.

CREATE TRIGGER entry_block AFTER INSERT ON entry WHEN NEW.kind = 'block'
BEGIN
    SELECT RAISE(ABORT, 'ATB111 the block cites a protocol that the ledger does not hold')
    WHERE (EXISTS (SELECT 1 FROM block AS b, entry AS p WHERE b.entry = NEW.seq AND p.kind = 'protocol' AND p.key = b.protocol)) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB206 the block''s task or protocol is not that of its campaign')
    WHERE (EXISTS (
        SELECT 1 FROM block AS b, entry AS c
        WHERE b.entry = NEW.seq AND c.kind = 'campaign' AND c.key = b.campaign
            AND json_extract(c.body, '$.task') = b.task AND json_extract(c.body, '$.protocol') = b.protocol)) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB402 the session is older than the protocol allows')
    WHERE (EXISTS (
        SELECT 1 FROM block AS b, entry AS s, protocol_limit AS l
        WHERE b.entry = NEW.seq AND s.kind = 'session' AND s.key = b.session
            AND l.protocol = b.protocol AND l.field = 'session.minutes_max'
            AND NEW.at_ms <= s.at_ms + 60000 * l.value)) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB405 the hand-off of the session costs too much, or its known delay reads off')
    WHERE (EXISTS (
        SELECT 1 FROM block AS b, entry AS s, protocol_limit AS o, protocol_limit AS f, protocol_limit AS d
        WHERE b.entry = NEW.seq AND s.kind = 'session' AND s.key = b.session
            AND o.protocol = b.protocol AND o.field = 'session.handoff_max'
            AND f.protocol = b.protocol AND f.field = 'kernel.window_floor_us'
            AND d.protocol = b.protocol AND d.field = 'session.delay_tolerance'
            AND json_extract(s.body, '$.handoff_ns') BETWEEN 0 AND 1000.0 * f.value * o.value
            AND json_extract(s.body, '$.delay_ns') BETWEEN 1000000 - 1000000 * d.value AND 1000000 + 1000000 * d.value)) IS NOT TRUE;
    -- Of the jail that the session's canary saw, and of the protocol's level unless the row is exploratory.
    SELECT RAISE(ABORT, 'ATB406 the isolation is not the session''s, or below what the protocol asks for')
    WHERE (EXISTS (
        SELECT 1 FROM block AS b, entry AS s, protocol_limit AS l
        WHERE b.entry = NEW.seq AND s.kind = 'session' AND s.key = b.session
            AND l.protocol = b.protocol AND l.field = 'isolation.level_min'
            AND json_extract(NEW.body, '$.isolation') = json_extract(s.body, '$.isolation')
            AND json_extract(NEW.body, '$.canary') = json_extract(s.body, '$.canary')
            AND length(json_extract(NEW.body, '$.canary')) = 32 AND json_extract(NEW.body, '$.canary') NOT GLOB '*[^0-9a-f]*'
            AND (json_extract(NEW.body, '$.isolation') GLOB 'L[0-5]' OR json_extract(NEW.body, '$.isolation') GLOB 'L[0-5]+*')
            AND (json_extract(NEW.body, '$.quiet') = 0
                OR CAST(substr(json_extract(NEW.body, '$.isolation'), 2, 1) AS INTEGER) >= l.value)
            -- The level is what was refused, and layers that were left out on purpose make a row exploratory.
            AND (CAST(substr(json_extract(NEW.body, '$.isolation'), 2, 1) AS INTEGER) < 2
                OR substr(json_extract(NEW.body, '$.canary'), 17) = '3fffffffffffffff')
            AND (json_extract(NEW.body, '$.quiet') = 0
                OR instr(json_extract(NEW.body, '$.isolation'), '+unfrozen') + instr(json_extract(NEW.body, '$.isolation'), '+no-gap-audit') = 0))) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB210 the block''s phase, index or attempt does not follow')
    WHERE (EXISTS (
        SELECT 1 FROM block AS b
        WHERE b.entry = NEW.seq AND b.phase IN ('screen', 'confirm', 'report', 'probe', 'compare', 'same') AND b.number >= 1
            AND NOT EXISTS (SELECT 1 FROM block AS o WHERE o.entry < NEW.seq AND o.campaign = b.campaign AND o.phase = b.phase
                AND (o.number >= b.number OR b.phase IN ('report', 'compare', 'same')))
            -- Each attempt that was refused for noise counts: none can be made twice.
            AND b.attempt <= 2 AND b.attempt = 1 + (
                SELECT count(*) FROM refusal AS r WHERE json_extract(r.body, '$.code') IN ('ATB603', 'ATB609')
                    AND json_extract(r.body, '$.kind') = 'block' AND json_extract(r.body, '$.key') = NEW.key))) IS NOT TRUE;
    -- A comparison runs only what was registered before it, and nothing else; see 005_registration.sql for the rows themselves.
    SELECT RAISE(ABORT, 'ATB802 the phase is not that of the campaign''s command, or no registration precedes the comparison')
    WHERE (EXISTS (
        SELECT 1 FROM block AS b, entry AS c
        WHERE b.entry = NEW.seq AND c.kind = 'campaign' AND c.key = b.campaign
            AND (b.phase = 'same') = (json_extract(c.body, '$.command') = 'self')
            AND (b.phase = 'compare') = (json_extract(c.body, '$.command') = 'compare')
            AND (b.phase <> 'compare' OR EXISTS (
                SELECT 1 FROM entry AS r WHERE r.kind = 'registration' AND r.key = json_extract(c.body, '$.registration') AND r.seq < c.seq)))) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB804 the registration is abandoned')
    WHERE (NOT EXISTS (
        SELECT 1 FROM block AS b, entry AS c, entry AS a
        WHERE b.entry = NEW.seq AND b.phase = 'compare' AND c.kind = 'campaign' AND c.key = b.campaign
            AND a.kind = 'abandon' AND a.key = json_extract(c.body, '$.registration'))) IS NOT TRUE;
    -- Arms in order, as the phase compares them.
    SELECT RAISE(ABORT, 'ATB610 the arms do not fit the phase')
    WHERE ((SELECT CASE b.phase
            WHEN 'screen' THEN a.roles GLOB 'parent candidate*' AND replace(a.roles, ' candidate', '') = 'parent'
            WHEN 'confirm' THEN a.roles = 'parent candidate'
            WHEN 'report' THEN a.roles IN ('head head_again head_slow compiler naive', 'head head_again head_slow compiler naive vendor')
            WHEN 'probe' THEN a.roles IN ('candidate compiler naive', 'candidate compiler naive vendor')
            WHEN 'compare' THEN a.roles = 'control treatment'
            WHEN 'same' THEN a.roles = 'control control_again' END
        FROM block AS b, (SELECT group_concat(role, ' ') AS roles FROM (SELECT role FROM arm WHERE entry = NEW.seq ORDER BY arm)) AS a
        WHERE b.entry = NEW.seq)
        AND NOT EXISTS (SELECT 1 FROM arm WHERE entry = NEW.seq AND role GLOB '* *')
        AND (SELECT count(DISTINCT source) = count(*) FROM arm WHERE entry = NEW.seq AND role = 'candidate')
        AND (SELECT count(DISTINCT source) <= 1 FROM arm WHERE entry = NEW.seq AND role IN ('head', 'head_again', 'head_slow'))
        AND (SELECT count(DISTINCT source) <= 1 FROM arm WHERE entry = NEW.seq AND role IN ('control', 'control_again'))
        AND (SELECT b.cells >= 1 FROM block AS b WHERE b.entry = NEW.seq)) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB206 an arm is not a candidate, parent or baseline of the campaign')
    WHERE (NOT EXISTS (
        SELECT 1 FROM arm AS a, block AS b
        WHERE a.entry = NEW.seq AND b.entry = NEW.seq AND CASE a.role
            WHEN 'candidate' THEN EXISTS (SELECT 1 FROM entry AS c WHERE c.kind = 'candidate' AND c.key = b.campaign || '/' || a.source)
            WHEN 'control' THEN EXISTS (SELECT 1 FROM entry AS c WHERE c.kind = 'candidate' AND c.key = b.campaign || '/' || a.source)
            WHEN 'control_again' THEN EXISTS (SELECT 1 FROM entry AS c WHERE c.kind = 'candidate' AND c.key = b.campaign || '/' || a.source)
            WHEN 'treatment' THEN EXISTS (SELECT 1 FROM entry AS c WHERE c.kind = 'candidate' AND c.key = b.campaign || '/' || a.source)
            WHEN 'compiler' THEN EXISTS (SELECT 1 FROM entry AS c WHERE c.kind = 'baseline' AND c.key = b.session || '/compiler' AND json_extract(c.body, '$.source') = a.source)
            WHEN 'naive' THEN EXISTS (SELECT 1 FROM entry AS c WHERE c.kind = 'baseline' AND c.key = b.session || '/naive' AND json_extract(c.body, '$.source') = a.source)
            WHEN 'vendor' THEN EXISTS (SELECT 1 FROM entry AS c WHERE c.kind = 'baseline' AND c.key = b.session || '/vendor' AND json_extract(c.body, '$.source') = a.source)
            ELSE a.source = ifnull(
                (SELECT json_extract(body, '$.candidate') FROM entry
                    WHERE kind = 'keep' AND json_extract(body, '$.campaign') = b.campaign ORDER BY seq DESC LIMIT 1),
                (SELECT json_extract(body, '$.source') FROM entry WHERE kind = 'baseline' AND json_extract(body, '$.role') = 'compiler'
                    AND json_extract(body, '$.campaign') = b.campaign ORDER BY seq LIMIT 1))
            END IS NOT TRUE)) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB803 the arms are not the registered ones')
    WHERE (SELECT b.phase FROM block AS b WHERE b.entry = NEW.seq) = 'compare' AND (EXISTS (
        SELECT 1 FROM block AS b, entry AS c, entry AS r
        WHERE b.entry = NEW.seq AND c.kind = 'campaign' AND c.key = b.campaign
            AND r.kind = 'registration' AND r.key = json_extract(c.body, '$.registration')
            AND json_extract(NEW.body, '$.arms[0].source') = json_extract(r.body, '$.arms[0].source')
            AND json_extract(NEW.body, '$.arms[1].source') = json_extract(r.body, '$.arms[1].source'))) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB808 the treatment is the control''s machine code')
    WHERE (SELECT b.phase FROM block AS b WHERE b.entry = NEW.seq) = 'compare'
        AND (json_extract(NEW.body, '$.arms[0].artefact') <> json_extract(NEW.body, '$.arms[1].artefact')) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB607 the block does not have the pairs of its phase')
    WHERE ((SELECT b.pairs FROM block AS b WHERE b.entry = NEW.seq) = (
        SELECT json_extract(r.body, '$.pairs') FROM block AS b, entry AS c, entry AS r
        WHERE b.entry = NEW.seq AND b.phase = 'compare' AND c.kind = 'campaign' AND c.key = b.campaign
            AND r.kind = 'registration' AND r.key = json_extract(c.body, '$.registration')
        UNION ALL
        SELECT l.value FROM block AS b, protocol_limit AS l
        WHERE b.entry = NEW.seq AND b.phase <> 'compare' AND l.protocol = b.protocol AND l.field = CASE
            WHEN b.phase = 'screen' THEN 'replication.pairs_screen'
            WHEN b.phase IN ('report', 'same') THEN 'replication.pairs_report'
            WHEN b.phase = 'probe' THEN 'replication.pairs_probe'
            WHEN b.number <= 1 THEN 'replication.pairs_confirm'
            WHEN b.number <= 4 THEN 'replication.pairs_confirm_2'
            WHEN b.number <= 9 THEN 'replication.pairs_confirm_5'
            ELSE 'replication.pairs_confirm_10' END)) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB611 the seeds are not distinct texts of 32 hexadecimal digits')
    WHERE ((SELECT count(DISTINCT value) = count(*) AND sum(length(value) = 32 AND value NOT GLOB '*[^0-9a-f]*') = count(*)
        FROM json_each(NEW.body, '$.seeds'))) IS NOT TRUE;
    -- Runs in pair order, each arm once per pair.
    SELECT RAISE(ABORT, 'ATB608 a pair does not run each arm exactly once')
    WHERE ((SELECT count(*) = b.pairs * b.arms AND count(DISTINCT r.pair * b.arms + r.arm) = count(*)
            AND sum(r.arm >= 0 AND r.arm < b.arms AND r.pair = r.run / b.arms) = count(*)
        FROM block AS b, run AS r WHERE b.entry = NEW.seq AND r.entry = NEW.seq)) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB605 calls per window are missing, outside the range, or differ within an arm')
    WHERE (NOT EXISTS (SELECT 1 FROM block AS b, run AS r WHERE b.entry = NEW.seq AND r.entry = NEW.seq AND r.cells <> b.cells)
        AND (SELECT min(c.k) >= 1 AND max(c.k) <= (SELECT l.value FROM block AS b, protocol_limit AS l
                WHERE b.entry = NEW.seq AND l.protocol = b.protocol AND l.field = 'kernel.calls_max')
            FROM run_cell AS c WHERE c.entry = NEW.seq)
        AND NOT EXISTS (SELECT 1 FROM run_cell WHERE entry = NEW.seq GROUP BY arm, cell HAVING min(k) <> max(k))) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB606 the number of warm-up windows is outside the range')
    WHERE ((SELECT min(c.warmup) >= (SELECT l.value FROM block AS b, protocol_limit AS l
                WHERE b.entry = NEW.seq AND l.protocol = b.protocol AND l.field = 'kernel.warmup_min')
            AND max(c.warmup) <= (SELECT l.value FROM block AS b, protocol_limit AS l
                WHERE b.entry = NEW.seq AND l.protocol = b.protocol AND l.field = 'kernel.warmup_max')
        FROM run_cell AS c WHERE c.entry = NEW.seq)) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB601 a cell does not have the protocol''s number of windows')
    WHERE ((SELECT min(json_array_length(c.windows)) = l.value AND max(json_array_length(c.windows)) = l.value
        FROM run_cell AS c, block AS b, protocol_limit AS l
        WHERE c.entry = NEW.seq AND b.entry = NEW.seq AND l.protocol = b.protocol AND l.field = 'kernel.windows')) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB602 a window time is not a positive integer of nanoseconds')
    WHERE (NOT EXISTS (SELECT 1 FROM run_cell AS c, json_each(c.windows) AS w
        WHERE c.entry = NEW.seq AND (w.type <> 'integer' OR typeof(w.atom) <> 'integer' OR w.atom < 1 OR w.atom > 1000000000000))) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB604 a value is not twice the median of its windows')
    WHERE (NOT EXISTS (
        SELECT 1 FROM (
            SELECT run, cell, value, w, n, row_number() OVER (PARTITION BY run, cell ORDER BY w) AS place
            FROM (SELECT c.run, c.cell, c.value, j.atom AS w, json_array_length(c.windows) AS n
                FROM run_cell AS c, json_each(c.windows) AS j WHERE c.entry = NEW.seq))
        WHERE place IN ((n + 1) / 2, (n + 2) / 2)
        GROUP BY run, cell HAVING sum(w) * CASE WHEN n % 2 = 1 THEN 2 ELSE 1 END <> value)) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB603 the median window is below the floor')
    WHERE ((SELECT min(c.value) >= 2000 * (SELECT l.value FROM block AS b, protocol_limit AS l
            WHERE b.entry = NEW.seq AND l.protocol = b.protocol AND l.field = 'kernel.window_floor_us')
        FROM run_cell AS c WHERE c.entry = NEW.seq)) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB514 a run states fewer output checks than the protocol asks for, or a failed one')
    WHERE (NOT EXISTS (
        SELECT 1 FROM run AS r, block AS b, entry AS t, protocol_limit AS w, protocol_limit AS s
        WHERE r.entry = NEW.seq AND b.entry = NEW.seq AND t.kind = 'task' AND t.key = b.task
            AND w.protocol = b.protocol AND w.field = 'kernel.windows'
            AND s.protocol = b.protocol AND s.field = 'correctness.sampled_' || json_extract(t.body, '$.unit') || 's'
            AND (r.scanned = (SELECT sum(c.warmup + w.value) FROM run_cell AS c WHERE c.entry = NEW.seq AND c.run = r.run)
                AND r.sampled >= r.scanned * s.value AND r.full_calls >= b.cells AND r.failed = 0) IS NOT TRUE)
        AND EXISTS (SELECT 1 FROM block AS b, entry AS t, protocol_limit AS w, protocol_limit AS s
            WHERE b.entry = NEW.seq AND t.kind = 'task' AND t.key = b.task
                AND w.protocol = b.protocol AND w.field = 'kernel.windows' AND s.protocol = b.protocol
                AND s.field = 'correctness.sampled_' || json_extract(t.body, '$.unit') || 's')) IS NOT TRUE;
    -- The cross-run coefficient of variation, squared so that no root is needed: var / mean^2 * (1 + 1 / (4 n))^2 <= cap^2.
    -- It caps the arms that a verdict can rest on: a SCREEN ranks by medians and decides nothing, the control arms of a REPORT judge the
    -- session, and a naive baseline whose fastest run is slower than the slowest one of the compiler baseline, in every cell, is not the
    -- fastest baseline however it scatters.
    SELECT RAISE(ABORT, 'ATB609 the cross-run coefficient of variation is over the cap')
    WHERE (NOT EXISTS (
        SELECT 1 FROM (
            SELECT arm, cell, count(*) AS n, max(mean) AS mean, sum((value - mean) * (value - mean)) / (count(*) - 1) AS variance
            FROM (SELECT arm, cell, value, avg(value) OVER (PARTITION BY arm, cell) AS mean FROM run_cell WHERE entry = NEW.seq)
            GROUP BY arm, cell) AS s, block AS b, protocol_limit AS l
        WHERE b.entry = NEW.seq AND l.protocol = b.protocol AND l.field = 'noise.cv_cap'
            AND (s.variance / (s.mean * s.mean) * (1.0 + 1.0 / (4.0 * s.n)) * (1.0 + 1.0 / (4.0 * s.n))
                <= CAST(l.value AS REAL) * CAST(l.value AS REAL)) IS NOT TRUE
            AND b.phase <> 'screen'
            AND (SELECT CASE a.role WHEN 'head_again' THEN 1 WHEN 'head_slow' THEN 1
                    WHEN 'naive' THEN (SELECT min(ifnull(naive > compiler, 0)) FROM (
                        SELECT min(CASE o.role WHEN 'naive' THEN 1.0 * c.value / c.k END) AS naive,
                            max(CASE o.role WHEN 'compiler' THEN 1.0 * c.value / c.k END) AS compiler
                        FROM run_cell AS c, arm AS o
                        WHERE c.entry = NEW.seq AND o.entry = NEW.seq AND o.arm = c.arm GROUP BY c.cell)) END
                FROM arm AS a WHERE a.entry = NEW.seq AND a.arm = s.arm) IS NOT TRUE)
        AND EXISTS (SELECT 1 FROM block AS b, protocol_limit AS l
            WHERE b.entry = NEW.seq AND l.protocol = b.protocol AND l.field = 'noise.cv_cap')) IS NOT TRUE;
    INSERT INTO seed SELECT value, NEW.seq FROM json_each(NEW.body, '$.seeds');
END;

CREATE TRIGGER seed_append BEFORE INSERT ON seed
BEGIN
    SELECT RAISE(ABORT, 'ATB207 the seed was used before')
    WHERE (NOT EXISTS (SELECT 1 FROM seed WHERE seed = NEW.seed)) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB206 the seed is not one of the last block')
    WHERE (NEW.entry = (SELECT max(seq) FROM entry) AND EXISTS (
        SELECT 1 FROM entry AS e, json_each(e.body, '$.seeds') AS s
        WHERE e.seq = NEW.entry AND e.kind = 'block' AND s.value = NEW.seed)) IS NOT TRUE;
END;

CREATE TRIGGER gate_append BEFORE INSERT ON gate
BEGIN
    SELECT RAISE(ABORT, 'ATB201 the row does not have the next sequence number')
    WHERE (NEW.seq = (SELECT ifnull(max(seq), 0) + 1 FROM gate)) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB202 the row does not continue the chain')
    WHERE (NEW.prev = ifnull((SELECT hash FROM gate WHERE seq = NEW.seq - 1),
        '0000000000000000000000000000000000000000000000000000000000000000')) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB203 the hash is not 64 lower-case hexadecimal digits')
    WHERE (length(NEW.hash) = 64 AND length(CAST(NEW.hash AS BLOB)) = 64 AND NEW.hash NOT GLOB '*[^0-9a-f]*') IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB209 time runs backwards')
    WHERE (NEW.at_ms > 0 AND NEW.at_ms >= ifnull((SELECT at_ms FROM gate WHERE seq = NEW.seq - 1), 0)) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB204 the kind is unknown') WHERE (NEW.kind IN ('decision', 'ruling')) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB205 the body is not one JSON object without white space')
    WHERE (CASE WHEN json_valid(NEW.body) THEN json_type(NEW.body) = 'object' AND json(NEW.body) = NEW.body END) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB205 the body escapes characters that canonical JSON does not escape, or escapes them otherwise')
    WHERE instr(NEW.body, '\') > 0 AND (
        SELECT text GLOB '*\/*' OR text GLOB '*\u[^0]*' OR text GLOB '*\u0[^0]*' OR text GLOB '*\u00[^01]*'
            OR text GLOB '*\u00[01][^0-9a-f]*' OR text GLOB '*\u000[089acd]*'
        FROM (SELECT replace(NEW.body, '\\', '') AS text)) IS NOT FALSE;
    SELECT RAISE(ABORT, 'ATB205 the keys of an object are not sorted, distinct and plain')
    WHERE EXISTS (
        SELECT 1 FROM (
            SELECT key, lag(key) OVER (PARTITION BY parent ORDER BY id) AS before FROM json_tree(NEW.body) WHERE typeof(key) = 'text')
        WHERE key <= before OR key GLOB '*[^a-z0-9_.]*');
    SELECT RAISE(ABORT, 'ATB205 a number is not a canonical integer of 64 bits')
    WHERE EXISTS (
        SELECT 1 FROM json_tree(NEW.body)
        WHERE (type = 'real' OR type = 'integer' AND (typeof(atom) <> 'integer' OR atom = 0 AND (NEW.body -> fullkey) <> '0'))
            AND path NOT GLOB '*.windows');
    SELECT RAISE(ABORT, 'ATB205 the body does not have the form of a gate decision or of a ruling')
    WHERE ((SELECT group_concat(key || ':' || type, ' ') FROM (SELECT key, type FROM json_each(NEW.body) ORDER BY key)) = CASE NEW.kind
            WHEN 'decision' THEN 'block:integer candidate:text code:text decision:text format:integer gate:text limit:text observed:text role:text source:text'
            WHEN 'ruling' THEN 'by:text decision:text format:integer gate:integer number:integer reason:text' END
        AND json_extract(NEW.body, '$.format') = 1
        AND CASE NEW.kind
            WHEN 'decision' THEN json_extract(NEW.body, '$.decision') IN ('pass', 'flag', 'quarantine', 'reject')
            WHEN 'ruling' THEN json_extract(NEW.body, '$.decision') IN ('release', 'reject') END) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB211 the key is not the key of the body')
    WHERE (NEW.key = CASE NEW.kind
        WHEN 'decision' THEN json_extract(NEW.body, '$.block') || '/' || json_extract(NEW.body, '$.gate') || '/' || json_extract(NEW.body, '$.candidate')
        WHEN 'ruling' THEN json_extract(NEW.body, '$.gate') || '/' || json_extract(NEW.body, '$.number') END) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB303 a row with this kind and key exists')
    WHERE (NOT EXISTS (SELECT 1 FROM gate WHERE kind = NEW.kind AND key = NEW.key)) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB206 the gate cites an arm that no block has')
    WHERE NEW.kind = 'decision' AND (EXISTS (SELECT 1 FROM arm WHERE entry = json_extract(NEW.body, '$.block')
        AND role = json_extract(NEW.body, '$.role') AND source = json_extract(NEW.body, '$.candidate'))) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB206 the ruling cites a decision that no gate made')
    WHERE NEW.kind = 'ruling' AND (EXISTS (
        SELECT 1 FROM gate WHERE kind = 'decision' AND seq = json_extract(NEW.body, '$.gate'))) IS NOT TRUE;
    -- What passed needs no ruling, and noise (ATB609) is measured again, never released.
    SELECT RAISE(ABORT, 'ATB215 the ruling does not say who and why, or does not follow')
    WHERE NEW.kind = 'ruling' AND (EXISTS (
            SELECT 1 FROM gate WHERE kind = 'decision' AND seq = json_extract(NEW.body, '$.gate')
                AND json_extract(body, '$.decision') IN ('flag', 'quarantine') AND json_extract(body, '$.code') <> 'ATB609')
        AND trim(json_extract(NEW.body, '$.by')) <> '' AND trim(json_extract(NEW.body, '$.reason')) <> ''
        AND json_extract(NEW.body, '$.number') = 1 + (
            SELECT count(*) FROM gate WHERE kind = 'ruling' AND json_extract(body, '$.gate') = json_extract(NEW.body, '$.gate'))) IS NOT TRUE;
END;

CREATE TRIGGER refusal_append BEFORE INSERT ON refusal
BEGIN
    SELECT RAISE(ABORT, 'ATB201 the row does not have the next sequence number')
    WHERE (NEW.seq = (SELECT ifnull(max(seq), 0) + 1 FROM refusal)) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB202 the row does not continue the chain')
    WHERE (NEW.prev = ifnull((SELECT hash FROM refusal WHERE seq = NEW.seq - 1),
        '0000000000000000000000000000000000000000000000000000000000000000')) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB203 the hash is not 64 lower-case hexadecimal digits')
    WHERE (length(NEW.hash) = 64 AND length(CAST(NEW.hash AS BLOB)) = 64 AND NEW.hash NOT GLOB '*[^0-9a-f]*') IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB209 time runs backwards')
    WHERE (NEW.at_ms > 0 AND NEW.at_ms >= ifnull((SELECT at_ms FROM refusal WHERE seq = NEW.seq - 1), 0)) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB204 the kind is unknown') WHERE (NEW.kind = 'refused') IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB205 the body is not one JSON object without white space')
    WHERE (CASE WHEN json_valid(NEW.body) THEN json_type(NEW.body) = 'object' AND json(NEW.body) = NEW.body END) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB205 the body escapes characters that canonical JSON does not escape, or escapes them otherwise')
    WHERE instr(NEW.body, '\') > 0 AND (
        SELECT text GLOB '*\/*' OR text GLOB '*\u[^0]*' OR text GLOB '*\u0[^0]*' OR text GLOB '*\u00[^01]*'
            OR text GLOB '*\u00[01][^0-9a-f]*' OR text GLOB '*\u000[089acd]*'
        FROM (SELECT replace(NEW.body, '\\', '') AS text)) IS NOT FALSE;
    SELECT RAISE(ABORT, 'ATB205 the keys of an object are not sorted, distinct and plain')
    WHERE EXISTS (
        SELECT 1 FROM (
            SELECT key, lag(key) OVER (PARTITION BY parent ORDER BY id) AS before FROM json_tree(NEW.body) WHERE typeof(key) = 'text')
        WHERE key <= before OR key GLOB '*[^a-z0-9_.]*');
    SELECT RAISE(ABORT, 'ATB205 a number is not a canonical integer of 64 bits')
    WHERE EXISTS (
        SELECT 1 FROM json_tree(NEW.body)
        WHERE (type = 'real' OR type = 'integer' AND (typeof(atom) <> 'integer' OR atom = 0 AND (NEW.body -> fullkey) <> '0'))
            AND path NOT GLOB '*.windows');
    SELECT RAISE(ABORT, 'ATB205 the body does not have the form of a refusal')
    WHERE ((SELECT group_concat(key || ':' || type, ' ') FROM (SELECT key, type FROM json_each(NEW.body) ORDER BY key))
        = 'code:text digest:text format:integer key:text kind:text refused:text'
        AND json_extract(NEW.body, '$.format') = 1
        AND json_extract(NEW.body, '$.code') GLOB 'ATB[0-9][0-9][0-9]') IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB211 the key is not the key of the body')
    WHERE (NEW.key = json_extract(NEW.body, '$.code') || '/' || json_extract(NEW.body, '$.digest')) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB303 a row with this kind and key exists')
    WHERE (NOT EXISTS (SELECT 1 FROM refusal WHERE kind = NEW.kind AND key = NEW.key)) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB210 a refusal for noise comes after its block was admitted')
    WHERE (NOT EXISTS (SELECT 1 FROM entry AS e
        WHERE json_extract(NEW.body, '$.code') IN ('ATB603', 'ATB609') AND json_extract(NEW.body, '$.kind') = 'block'
            AND e.kind = 'block' AND e.key = json_extract(NEW.body, '$.key'))) IS NOT TRUE;
END;
