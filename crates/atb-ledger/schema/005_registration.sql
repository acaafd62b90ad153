-- Registered comparisons: the rules of their own rows, and of the campaigns and sessions that run them. What blocks must hold stands with
-- the other rules of blocks in 003_rules.sql. Each trigger here is the only one after the insertion of its kind, so no order is relied on.

CREATE TRIGGER entry_registration AFTER INSERT ON entry WHEN NEW.kind = 'registration'
BEGIN
    SELECT RAISE(ABORT, 'ATB111 the registration cites a protocol that the ledger does not hold')
    WHERE (EXISTS (SELECT 1 FROM entry WHERE kind = 'protocol' AND key = json_extract(NEW.body, '$.protocol'))) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB206 the registration cites a task that the ledger does not hold')
    WHERE (EXISTS (SELECT 1 FROM entry WHERE kind = 'task' AND key = json_extract(NEW.body, '$.task'))) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB801 the registration asks for what no run gives')
    WHERE (json_extract(NEW.body, '$.readout') = 'median-window' AND json_extract(NEW.body, '$.ladder') = 'paired-interval'
        AND json_extract(NEW.body, '$.delivery') = 'artefacts-differ' AND json_extract(NEW.body, '$.stop_rule') = 'fixed'
        AND json_array_length(NEW.body, '$.shapes') >= 1
        AND json_array_length(NEW.body, '$.arms') = 2
        AND json_extract(NEW.body, '$.arms[0].role') = 'control' AND json_extract(NEW.body, '$.arms[1].role') = 'treatment'
        AND json_extract(NEW.body, '$.arms[0].kind') IN ('file', 'naive', 'compiler', 'vendor')
        AND json_extract(NEW.body, '$.arms[1].kind') IN ('file', 'naive', 'compiler', 'vendor')
        AND json_extract(NEW.body, '$.arms[0].source') <> json_extract(NEW.body, '$.arms[1].source')) IS NOT TRUE;
    -- Pairs within range, levels as the protocol writes them, and a confidence that the least pairs can reach: 2 / 2^n <= 1 - confidence.
    SELECT RAISE(ABORT, 'ATB801 the ladder of the registration is impossible, or not its protocol''s')
    WHERE (EXISTS (
        SELECT 1 FROM protocol_limit AS d, protocol_limit AS c, protocol_limit AS e, protocol_limit AS m
        WHERE d.protocol = json_extract(NEW.body, '$.protocol') AND d.field = 'statistics.delta'
            AND d.value = json_extract(NEW.body, '$.delta')
            AND c.protocol = d.protocol AND c.field = 'statistics.confidence' AND c.value = json_extract(NEW.body, '$.confidence')
            AND e.protocol = d.protocol AND e.field = 'statistics.confidence_equivalence'
            AND e.value = json_extract(NEW.body, '$.confidence_equivalence')
            AND m.protocol = d.protocol AND m.field = 'replication.min_usable_pairs'
            AND json_extract(NEW.body, '$.min_pairs') >= m.value
            AND json_extract(NEW.body, '$.pairs') BETWEEN json_extract(NEW.body, '$.min_pairs') AND 200
            AND (1 << (min(json_extract(NEW.body, '$.min_pairs'), 40) - 1)) * (1.0 - CAST(c.value AS REAL)) >= 1.0)) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB806 the A/A block is not of this machine, task, shapes and protocol, or older than 7 days')
    WHERE (EXISTS (
        SELECT 1 FROM entry AS a, block AS b, entry AS s, entry AS c
        WHERE a.seq = json_extract(NEW.body, '$.same') AND b.entry = a.seq AND a.seq < NEW.seq AND b.phase = 'same'
            AND b.task = json_extract(NEW.body, '$.task') AND b.protocol = json_extract(NEW.body, '$.protocol')
            AND s.kind = 'session' AND s.key = b.session
            AND json_extract(s.body, '$.machine.fingerprint') = json_extract(NEW.body, '$.machine')
            AND c.kind = 'campaign' AND c.key = b.campaign
            AND json_extract(c.body, '$.shapes') = json_extract(NEW.body, '$.shapes')
            AND NEW.at_ms - a.at_ms <= 604800000)) IS NOT TRUE;
    -- The effect itself is recomputed from the samples by `atb verify`.
    SELECT RAISE(ABORT, 'ATB805 the minimum detectable effect is larger than delta, and that was not accepted')
    WHERE (json_extract(NEW.body, '$.mde') GLOB '[0-9]*.[0-9]*' AND json_extract(NEW.body, '$.mde') NOT GLOB '*[^0-9.]*'
        AND length(replace(json_extract(NEW.body, '$.mde'), '.', '')) = length(json_extract(NEW.body, '$.mde')) - 1
        AND (CAST(json_extract(NEW.body, '$.mde') AS REAL) <= CAST(json_extract(NEW.body, '$.delta') AS REAL)
            OR json_extract(NEW.body, '$.underpowered') GLOB 'accept: ?*')) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB807 an open registration asks the same question')
    WHERE (NOT EXISTS (
        SELECT 1 FROM entry AS r
        WHERE r.kind = 'registration' AND r.seq < NEW.seq
            AND json_extract(r.body, '$.task') = json_extract(NEW.body, '$.task')
            AND json_extract(r.body, '$.protocol') = json_extract(NEW.body, '$.protocol')
            AND json_extract(r.body, '$.shapes') = json_extract(NEW.body, '$.shapes')
            AND json_extract(r.body, '$.arms[0].source') = json_extract(NEW.body, '$.arms[0].source')
            AND json_extract(r.body, '$.arms[1].source') = json_extract(NEW.body, '$.arms[1].source')
            AND NOT EXISTS (SELECT 1 FROM entry AS a WHERE a.kind = 'abandon' AND a.key = r.key)
            AND NOT EXISTS (SELECT 1 FROM entry AS c, entry AS x
                WHERE c.kind = 'campaign' AND json_extract(c.body, '$.registration') = r.key
                    AND x.kind = 'close' AND x.key = c.key))) IS NOT TRUE;
END;

CREATE TRIGGER entry_abandon AFTER INSERT ON entry WHEN NEW.kind = 'abandon'
BEGIN
    SELECT RAISE(ABORT, 'ATB206 the ledger does not hold the registration that is abandoned')
    WHERE (EXISTS (SELECT 1 FROM entry WHERE kind = 'registration' AND key = NEW.key)) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB804 the registration is finished')
    WHERE (NOT EXISTS (SELECT 1 FROM entry AS c, entry AS x
        WHERE c.kind = 'campaign' AND json_extract(c.body, '$.registration') = NEW.key
            AND x.kind = 'close' AND x.key = c.key)) IS NOT TRUE;
END;

CREATE TRIGGER entry_campaign AFTER INSERT ON entry WHEN NEW.kind = 'campaign'
BEGIN
    SELECT RAISE(ABORT, 'ATB802 a comparison, and nothing else, cites a registration before it')
    WHERE (CASE json_extract(NEW.body, '$.command')
        WHEN 'compare' THEN EXISTS (SELECT 1 FROM entry WHERE kind = 'registration' AND key = json_extract(NEW.body, '$.registration'))
        ELSE json_extract(NEW.body, '$.registration') = '' END) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB804 the registration is abandoned, or has its comparison')
    WHERE json_extract(NEW.body, '$.command') = 'compare' AND (
        NOT EXISTS (SELECT 1 FROM entry WHERE kind = 'abandon' AND key = json_extract(NEW.body, '$.registration'))
        AND NOT EXISTS (SELECT 1 FROM entry WHERE kind = 'campaign' AND seq < NEW.seq
            AND json_extract(body, '$.registration') = json_extract(NEW.body, '$.registration'))) IS NOT TRUE;
    SELECT RAISE(ABORT, 'ATB803 task, protocol, shapes or pairs are not the registered ones')
    WHERE json_extract(NEW.body, '$.command') = 'compare' AND (EXISTS (
        SELECT 1 FROM entry AS r
        WHERE r.kind = 'registration' AND r.key = json_extract(NEW.body, '$.registration')
            AND json_extract(r.body, '$.task') = json_extract(NEW.body, '$.task')
            AND json_extract(r.body, '$.protocol') = json_extract(NEW.body, '$.protocol')
            AND json_extract(r.body, '$.shapes') = json_extract(NEW.body, '$.shapes')
            AND json_extract(r.body, '$.pairs') = json_extract(NEW.body, '$.iterations'))) IS NOT TRUE;
END;

CREATE TRIGGER entry_session AFTER INSERT ON entry WHEN NEW.kind = 'session'
BEGIN
    SELECT RAISE(ABORT, 'ATB803 the machine or the program is not the registered one')
    WHERE (NOT EXISTS (
        SELECT 1 FROM entry AS c, entry AS r
        WHERE c.kind = 'campaign' AND c.key = json_extract(NEW.body, '$.campaign')
            AND r.kind = 'registration' AND r.key = json_extract(c.body, '$.registration')
            AND (json_extract(r.body, '$.machine') = json_extract(NEW.body, '$.machine.fingerprint')
                AND json_extract(r.body, '$.harness') = json_extract(NEW.body, '$.harness')) IS NOT TRUE)) IS NOT TRUE;
END;
