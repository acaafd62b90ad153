-- Every table is append-only.
CREATE TRIGGER entry_update BEFORE UPDATE ON entry BEGIN SELECT RAISE(ABORT, 'ATB301 a row may not be changed'); END;
CREATE TRIGGER entry_delete BEFORE DELETE ON entry BEGIN SELECT RAISE(ABORT, 'ATB302 a row may not be deleted'); END;
CREATE TRIGGER gate_update BEFORE UPDATE ON gate BEGIN SELECT RAISE(ABORT, 'ATB301 a row may not be changed'); END;
CREATE TRIGGER gate_delete BEFORE DELETE ON gate BEGIN SELECT RAISE(ABORT, 'ATB302 a row may not be deleted'); END;
CREATE TRIGGER refusal_update BEFORE UPDATE ON refusal BEGIN SELECT RAISE(ABORT, 'ATB301 a row may not be changed'); END;
CREATE TRIGGER refusal_delete BEFORE DELETE ON refusal BEGIN SELECT RAISE(ABORT, 'ATB302 a row may not be deleted'); END;
CREATE TRIGGER seed_update BEFORE UPDATE ON seed BEGIN SELECT RAISE(ABORT, 'ATB301 a row may not be changed'); END;
CREATE TRIGGER seed_delete BEFORE DELETE ON seed BEGIN SELECT RAISE(ABORT, 'ATB302 a row may not be deleted'); END;
