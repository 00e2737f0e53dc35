import { DOCUMENT_OWNER_STEP } from './records/document-owner-step.ts';
import { AUDIT_STEP } from './audit/audit-step.ts';

/**
 * The migrations of the tables. A published step is never changed: existing databases ran it. The tables
 * are those of SQLite where possible. Ids are compared byte by byte, independent of the collation of the database.
 */
export const STEPS: readonly string[] = [
  `
  CREATE TABLE ~agents (
    id text COLLATE "C" PRIMARY KEY, workspace_id text COLLATE "C" NOT NULL, version int8 NOT NULL,
    created_at int8 NOT NULL, archived_at int8
  );
  CREATE INDEX agents_by_creation ON ~agents (workspace_id, created_at, id);
  CREATE TABLE ~agent_versions (
    agent_id text COLLATE "C" NOT NULL REFERENCES ~agents ON DELETE CASCADE, version int8 NOT NULL,
    updated_at int8 NOT NULL, data json NOT NULL,
    PRIMARY KEY (agent_id, version)
  );

  CREATE TABLE ~environments (
    id text COLLATE "C" PRIMARY KEY, workspace_id text COLLATE "C" NOT NULL, revision int8 NOT NULL,
    created_at int8 NOT NULL, updated_at int8 NOT NULL, archived_at int8, data json NOT NULL
  );
  CREATE INDEX environments_by_creation ON ~environments (workspace_id, created_at, id);

  -- The key is the month of the creation and a number: what belongs to a month lies together, and goes together.
  CREATE SEQUENCE ~session_keys AS int8 MAXVALUE 4294967295 CYCLE;
  CREATE TABLE ~sessions (
    key int8 PRIMARY KEY, id text COLLATE "C" NOT NULL UNIQUE, workspace_id text COLLATE "C" NOT NULL,
    agent_id text COLLATE "C" NOT NULL, agent_version int8 NOT NULL, environment_id text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL, revision int8 NOT NULL,
    created_at int8 NOT NULL, updated_at int8 NOT NULL, archived_at int8, data json NOT NULL
  );
  CREATE INDEX sessions_by_creation ON ~sessions (workspace_id, created_at, id);
  CREATE INDEX sessions_by_update ON ~sessions (workspace_id, updated_at);
  CREATE INDEX sessions_busy ON ~sessions (key) WHERE status IN ('running', 'rescheduling');

  -- What every append changes, apart from the sessions, which are large: with room for new versions of a row in its page.
  -- 'tail_seq' is where the rows of the log begin that are not put together yet, and 'tail_rows' how many they are.
  CREATE TABLE ~logs (
    session_key int8 PRIMARY KEY REFERENCES ~sessions ON DELETE CASCADE, session_id text COLLATE "C" NOT NULL UNIQUE,
    fence int8 NOT NULL DEFAULT 0, owner text COLLATE "C", expires_at int8 NOT NULL DEFAULT 0,
    head int8 NOT NULL DEFAULT 0, tail_seq int8 NOT NULL DEFAULT 1, tail_rows int8 NOT NULL DEFAULT 0,
    touched_at int8 NOT NULL DEFAULT 0
  ) WITH (fillfactor = 40);

  -- No reference to the sessions, which would be looked up with each append: deleting a session also deletes its rows.
  CREATE TABLE ~segments (
    session_key int8 NOT NULL, first_seq int8 NOT NULL, last_seq int8 NOT NULL, data bytea NOT NULL,
    PRIMARY KEY (session_key, first_seq)
  ) PARTITION BY RANGE (session_key);

  -- What each process has committed last, by which it knows what became of a commit whose answer was lost.
  CREATE TABLE ~commits (
    node text COLLATE "C" PRIMARY KEY, token text COLLATE "C" NOT NULL, heads int8[], used_at int8 NOT NULL
  ) WITH (fillfactor = 20);

  CREATE TABLE ~threads (
    session_key int8 NOT NULL REFERENCES ~sessions ON DELETE CASCADE, id text COLLATE "C" NOT NULL,
    parent_thread_id text COLLATE "C", status text COLLATE "C" NOT NULL,
    created_at int8 NOT NULL, updated_at int8 NOT NULL, archived_at int8, data json NOT NULL,
    PRIMARY KEY (session_key, id)
  );

  CREATE TABLE ~inputs (
    position int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    session_key int8 NOT NULL REFERENCES ~sessions ON DELETE CASCADE, id text COLLATE "C" NOT NULL,
    thread_id text COLLATE "C", time int8 NOT NULL, data json NOT NULL,
    UNIQUE (session_key, id)
  );

  CREATE TABLE ~approvals (
    session_key int8 NOT NULL REFERENCES ~sessions ON DELETE CASCADE, id text COLLATE "C" NOT NULL,
    workspace_id text COLLATE "C" NOT NULL, thread_id text COLLATE "C" NOT NULL, created_at int8 NOT NULL,
    resolved_at int8, resolution json, data json NOT NULL,
    PRIMARY KEY (session_key, id)
  );
  CREATE INDEX approvals_by_creation ON ~approvals (workspace_id, created_at, id);

  CREATE TABLE ~works (
    id text COLLATE "C" PRIMARY KEY, workspace_id text COLLATE "C" NOT NULL, environment_id text COLLATE "C" NOT NULL,
    session_key int8 NOT NULL REFERENCES ~sessions ON DELETE CASCADE, session_id text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL, revision int8 NOT NULL, created_at int8 NOT NULL,
    claimed_at int8, leased_until int8, data json NOT NULL
  );
  CREATE INDEX works_by_creation ON ~works (environment_id, created_at, id);
  CREATE INDEX works_open ON ~works (environment_id, created_at, id) WHERE state <> 'stopped';
  CREATE INDEX works_by_session ON ~works (session_key);

  CREATE TABLE ~idempotency_keys (
    workspace_id text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL, expires_at int8 NOT NULL,
    result json NOT NULL,
    PRIMARY KEY (workspace_id, key)
  );
  CREATE INDEX idempotency_keys_by_expiry ON ~idempotency_keys (expires_at);

  CREATE TABLE ~documents (
    kind text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, revision int8 NOT NULL, updated_at int8 NOT NULL,
    data json NOT NULL,
    PRIMARY KEY (kind, id)
  );

  -- Without an id while it is written.
  CREATE TABLE ~blobs (
    key int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id text COLLATE "C" UNIQUE, parts int8 NOT NULL,
    bytes int8 NOT NULL, touched_at int8 NOT NULL
  );
  CREATE TABLE ~blob_parts (
    blob_key int8 NOT NULL REFERENCES ~blobs ON DELETE CASCADE, part int8 NOT NULL, data bytea NOT NULL,
    PRIMARY KEY (blob_key, part)
  );
  -- Files are mostly packed already.
  ALTER TABLE ~blob_parts ALTER COLUMN data SET STORAGE EXTERNAL;

  -- Appends frames to any number of sessions in the given order. All callers sort them, so that locks cannot deadlock. A
  -- session with another fence is not changed, and the result has its fence. With a node the call is a whole commit: it
  -- succeeds only on the previous token, and stores the heads in case the answer is lost.
  -- A function, because its plans are cached on every connection, also behind a pooler.
  CREATE FUNCTION ~append_frames(
    given_ids text[], given_fences int8[], given_counts int8[],
    part_of int4[], part_first int8[], part_last int8[], part_at int4[], part_bytes int4[], given_data bytea,
    given_now int8, given_node text, given_before text, given_token text
  ) RETURNS TABLE (head int8, tail_rows int8, fence int8) LANGUAGE plpgsql AS $$
  #variable_conflict use_column
  DECLARE
    part int4 := 1;
    first_part int4;
    parts int4 := coalesce(cardinality(part_of), 0);
    log_key int8;
    made_heads int8[] := '{}';
  BEGIN
    FOR place IN 1 .. cardinality(given_ids) LOOP
      first_part := part;
      WHILE part <= parts AND part_of[part] = place LOOP
        part := part + 1;
      END LOOP;
      UPDATE ~logs l SET
        head = l.head + given_counts[place], tail_rows = l.tail_rows + part - first_part, touched_at = given_now
      WHERE l.session_id = given_ids[place] AND l.fence = given_fences[place]
      RETURNING l.session_key, l.head, l.tail_rows, NULL INTO log_key, head, tail_rows, fence;
      IF FOUND THEN
        FOR each IN first_part .. part - 1 LOOP
          INSERT INTO ~segments (session_key, first_seq, last_seq, data) VALUES (
            log_key, head - given_counts[place] + part_first[each], head - given_counts[place] + part_last[each],
            substring(given_data FROM part_at[each] FOR part_bytes[each])
          );
        END LOOP;
      ELSE
        SELECT l.fence INTO fence FROM ~logs l WHERE l.session_id = given_ids[place];
      END IF;
      made_heads := made_heads || head;
      RETURN NEXT;
    END LOOP;
    IF given_node IS NULL THEN
      RETURN;
    END IF;
    UPDATE ~commits c SET token = given_token, heads = made_heads, used_at = given_now
    WHERE c.node = given_node AND c.token = given_before;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the token is another one' USING ERRCODE = 'FL001';
    END IF;
  END $$;
  `,
  `
  -- The fence of the lease with which each row of a log was written. It is 0 for rows written when a session is created, before
  -- it has an owner, and for rows older than this column. Rows with different fences are never merged.
  ALTER TABLE ~segments ADD COLUMN fence int8 NOT NULL DEFAULT 0;

  -- As before, with the fence of the writer in each row: the one it was let in with, and not what the session has.
  CREATE OR REPLACE FUNCTION ~append_frames(
    given_ids text[], given_fences int8[], given_counts int8[],
    part_of int4[], part_first int8[], part_last int8[], part_at int4[], part_bytes int4[], given_data bytea,
    given_now int8, given_node text, given_before text, given_token text
  ) RETURNS TABLE (head int8, tail_rows int8, fence int8) LANGUAGE plpgsql AS $$
  #variable_conflict use_column
  DECLARE
    part int4 := 1;
    first_part int4;
    parts int4 := coalesce(cardinality(part_of), 0);
    log_key int8;
    made_heads int8[] := '{}';
  BEGIN
    FOR place IN 1 .. cardinality(given_ids) LOOP
      first_part := part;
      WHILE part <= parts AND part_of[part] = place LOOP
        part := part + 1;
      END LOOP;
      UPDATE ~logs l SET
        head = l.head + given_counts[place], tail_rows = l.tail_rows + part - first_part, touched_at = given_now
      WHERE l.session_id = given_ids[place] AND l.fence = given_fences[place]
      RETURNING l.session_key, l.head, l.tail_rows, NULL INTO log_key, head, tail_rows, fence;
      IF FOUND THEN
        FOR each IN first_part .. part - 1 LOOP
          INSERT INTO ~segments (session_key, first_seq, last_seq, fence, data) VALUES (
            log_key, head - given_counts[place] + part_first[each], head - given_counts[place] + part_last[each],
            given_fences[place], substring(given_data FROM part_at[each] FOR part_bytes[each])
          );
        END LOOP;
      ELSE
        SELECT l.fence INTO fence FROM ~logs l WHERE l.session_id = given_ids[place];
      END IF;
      made_heads := made_heads || head;
      RETURN NEXT;
    END LOOP;
    IF given_node IS NULL THEN
      RETURN;
    END IF;
    UPDATE ~commits c SET token = given_token, heads = made_heads, used_at = given_now
    WHERE c.node = given_node AND c.token = given_before;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the token is another one' USING ERRCODE = 'FL001';
    END IF;
  END $$;
  `,
  `
  -- Whether a row contains more than deltas; true for rows older than this column.
  ALTER TABLE ~segments ADD COLUMN has_events bool NOT NULL DEFAULT true;

  -- Where each run lies in its log. Of sessions that are older than this table the newest run is known, and not its place: 0.
  CREATE TABLE ~runs (
    session_key int8 NOT NULL REFERENCES ~sessions ON DELETE CASCADE, first_seq int8 NOT NULL, last_seq int8,
    started_at int8 NOT NULL, ended_at int8, id text COLLATE "C" NOT NULL, session_id text COLLATE "C" NOT NULL,
    workspace_id text COLLATE "C" NOT NULL, list_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (session_key, first_seq)
  );
  CREATE INDEX runs_by_id ON ~runs (session_key, id);
  CREATE INDEX runs_by_start ON ~runs (workspace_id, started_at, list_id);
  CREATE INDEX runs_open ON ~runs (workspace_id, started_at, list_id) WHERE ended_at IS NULL;
  INSERT INTO ~runs
    SELECT key, 0, NULL, (data->'run'->>'started_at')::int8, (data->'run'->>'ended_at')::int8, data->'run'->>'id', id,
      workspace_id, id || ' 0000000000000000'
    FROM ~sessions WHERE json_typeof(data->'run'->'id') = 'string'
      AND json_typeof(data->'run'->'started_at') = 'number'
      AND json_typeof(data->'run'->'ended_at') IN ('number', 'null');

  -- Those that wait are few among all that ever did.
  CREATE INDEX approvals_pending ON ~approvals (workspace_id, created_at, id) WHERE resolved_at IS NULL;

  -- Sessions of which that table does not say everything yet.
  CREATE TABLE ~unindexed (session_key int8 PRIMARY KEY REFERENCES ~sessions ON DELETE CASCADE);
  INSERT INTO ~unindexed SELECT key FROM ~sessions;

  CREATE TABLE ~checkpoints (
    session_key int8 NOT NULL REFERENCES ~sessions ON DELETE CASCADE, kind text COLLATE "C" NOT NULL, seq int8 NOT NULL,
    has_deltas bool NOT NULL, data bytea NOT NULL,
    PRIMARY KEY (session_key, kind, seq)
  );
  -- How often frames of a session were pruned.
  CREATE TABLE ~prunes (
    session_key int8 PRIMARY KEY REFERENCES ~sessions ON DELETE CASCADE, epoch int8 NOT NULL
  );

  -- As before, for nodes of the version before: they do not keep the index of runs, so it has to be made from the log again.
  CREATE OR REPLACE FUNCTION ~append_frames(
    given_ids text[], given_fences int8[], given_counts int8[],
    part_of int4[], part_first int8[], part_last int8[], part_at int4[], part_bytes int4[], given_data bytea,
    given_now int8, given_node text, given_before text, given_token text
  ) RETURNS TABLE (head int8, tail_rows int8, fence int8) LANGUAGE plpgsql AS $$
  #variable_conflict use_column
  DECLARE
    part int4 := 1;
    first_part int4;
    parts int4 := coalesce(cardinality(part_of), 0);
    log_key int8;
    made_heads int8[] := '{}';
  BEGIN
    FOR place IN 1 .. cardinality(given_ids) LOOP
      first_part := part;
      WHILE part <= parts AND part_of[part] = place LOOP
        part := part + 1;
      END LOOP;
      UPDATE ~logs l SET
        head = l.head + given_counts[place], tail_rows = l.tail_rows + part - first_part, touched_at = given_now
      WHERE l.session_id = given_ids[place] AND l.fence = given_fences[place]
      RETURNING l.session_key, l.head, l.tail_rows, NULL INTO log_key, head, tail_rows, fence;
      IF FOUND THEN
        INSERT INTO ~unindexed (session_key) VALUES (log_key) ON CONFLICT DO NOTHING;
        FOR each IN first_part .. part - 1 LOOP
          INSERT INTO ~segments (session_key, first_seq, last_seq, fence, data) VALUES (
            log_key, head - given_counts[place] + part_first[each], head - given_counts[place] + part_last[each],
            given_fences[place], substring(given_data FROM part_at[each] FOR part_bytes[each])
          );
        END LOOP;
      ELSE
        SELECT l.fence INTO fence FROM ~logs l WHERE l.session_id = given_ids[place];
      END IF;
      made_heads := made_heads || head;
      RETURN NEXT;
    END LOOP;
    IF given_node IS NULL THEN
      RETURN;
    END IF;
    UPDATE ~commits c SET token = given_token, heads = made_heads, used_at = given_now
    WHERE c.node = given_node AND c.token = given_before;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the token is another one' USING ERRCODE = 'FL001';
    END IF;
  END $$;

  -- The same for nodes that do, with what is known of each row.
  CREATE FUNCTION ~append_frames(
    given_ids text[], given_fences int8[], given_counts int8[],
    part_of int4[], part_first int8[], part_last int8[], part_at int4[], part_bytes int4[],
    part_events bool[], given_data bytea,
    given_now int8, given_node text, given_before text, given_token text
  ) RETURNS TABLE (head int8, tail_rows int8, fence int8) LANGUAGE plpgsql AS $$
  #variable_conflict use_column
  DECLARE
    part int4 := 1;
    first_part int4;
    parts int4 := coalesce(cardinality(part_of), 0);
    log_key int8;
    made_heads int8[] := '{}';
  BEGIN
    FOR place IN 1 .. cardinality(given_ids) LOOP
      first_part := part;
      WHILE part <= parts AND part_of[part] = place LOOP
        part := part + 1;
      END LOOP;
      UPDATE ~logs l SET
        head = l.head + given_counts[place], tail_rows = l.tail_rows + part - first_part, touched_at = given_now
      WHERE l.session_id = given_ids[place] AND l.fence = given_fences[place]
      RETURNING l.session_key, l.head, l.tail_rows, NULL INTO log_key, head, tail_rows, fence;
      IF FOUND THEN
        FOR each IN first_part .. part - 1 LOOP
          INSERT INTO ~segments (session_key, first_seq, last_seq, fence, has_events, data) VALUES (
            log_key, head - given_counts[place] + part_first[each], head - given_counts[place] + part_last[each],
            given_fences[place], part_events[each], substring(given_data FROM part_at[each] FOR part_bytes[each])
          );
        END LOOP;
      ELSE
        SELECT l.fence INTO fence FROM ~logs l WHERE l.session_id = given_ids[place];
      END IF;
      made_heads := made_heads || head;
      RETURN NEXT;
    END LOOP;
    IF given_node IS NULL THEN
      RETURN;
    END IF;
    UPDATE ~commits c SET token = given_token, heads = made_heads, used_at = given_now
    WHERE c.node = given_node AND c.token = given_before;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the token is another one' USING ERRCODE = 'FL001';
    END IF;
  END $$;
  `,
  `
  -- Only for these kinds: other documents may have text that the operator ->> refuses.
  ALTER TABLE ~documents ADD COLUMN workspace_id text COLLATE "C"
    GENERATED ALWAYS AS (CASE WHEN kind IN ('file', 'login') THEN data ->> 'workspaceId' END) STORED;
  CREATE INDEX documents_by_workspace ON ~documents (kind, workspace_id, id) WHERE workspace_id IS NOT NULL;
  `,
  `
  -- One row for each session, by which lists filter, sort and count. Sessions that are older get theirs in the background.
  CREATE TABLE ~summaries (
    session_key int8 PRIMARY KEY REFERENCES ~sessions ON DELETE CASCADE, session_id text COLLATE "C" NOT NULL,
    workspace_id text COLLATE "C" NOT NULL, state text COLLATE "C" NOT NULL, stalls_at int8,
    agent_name text COLLATE "C" NOT NULL, model text COLLATE "C" NOT NULL, created_at int8 NOT NULL,
    activity_at int8 NOT NULL, cost int8, tokens int8 NOT NULL, active_ms int8 NOT NULL,
    search text COLLATE "C" NOT NULL, data json NOT NULL
  );
  CREATE UNIQUE INDEX summaries_by_id ON ~summaries (workspace_id, session_id);
  CREATE INDEX summaries_by_activity ON ~summaries (workspace_id, activity_at, session_id);
  CREATE INDEX summaries_by_creation ON ~summaries (workspace_id, created_at, session_id);
  `,
  `
  -- PostgreSQL adds an entry to every index of a row when one of the indexed values changes, also one in the condition of an
  -- index. Each turn changes the status and the time of its session. So the hour of the change is indexed instead of the time,
  -- running sessions are in a table of their own, and new versions of a row have room in its page.
  ALTER TABLE ~sessions SET (fillfactor = 70);
  ALTER TABLE ~threads SET (fillfactor = 70);
  ALTER TABLE ~sessions ADD COLUMN updated_hour int8 NOT NULL GENERATED ALWAYS AS (updated_at / 3600000) STORED;
  CREATE INDEX sessions_by_update_hour ON ~sessions (workspace_id, updated_hour);
  DROP INDEX ~sessions_by_update;

  CREATE TABLE ~busy (session_key int8 PRIMARY KEY);
  INSERT INTO ~busy SELECT key FROM ~sessions WHERE status IN ('running', 'rescheduling');
  -- A trigger, so that nodes of the version before keep the table, too.
  CREATE FUNCTION ~note_busy() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP = 'DELETE' THEN
      DELETE FROM ~busy WHERE session_key = OLD.key;
    ELSIF NEW.status IN ('running', 'rescheduling') THEN
      INSERT INTO ~busy VALUES (NEW.key) ON CONFLICT DO NOTHING;
    ELSE
      DELETE FROM ~busy WHERE session_key = NEW.key;
    END IF;
    RETURN NULL;
  END $$;
  CREATE TRIGGER busy_when_made AFTER INSERT ON ~sessions FOR EACH ROW
    WHEN (NEW.status IN ('running', 'rescheduling')) EXECUTE FUNCTION ~note_busy();
  CREATE TRIGGER busy_when_changed AFTER UPDATE OF status ON ~sessions FOR EACH ROW
    WHEN (NEW.status <> OLD.status) EXECUTE FUNCTION ~note_busy();
  CREATE TRIGGER busy_when_deleted AFTER DELETE ON ~sessions FOR EACH ROW EXECUTE FUNCTION ~note_busy();
  DROP INDEX ~sessions_busy;
  `,
  DOCUMENT_OWNER_STEP,
  AUDIT_STEP,
];
