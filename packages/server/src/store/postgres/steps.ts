/**
 * The tables, step by step. A step that was published is never changed: there are databases out there that ran it. They
 * are those of SQLite where nothing speaks against it. Ids are compared byte by byte, whatever the database's language is.
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

  -- No reference to the sessions, which would be looked up with each append: who deletes a session deletes its rows too.
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

  -- Appends frames to any number of sessions, in the order that is given: everybody gives them sorted, so nobody waits in a
  -- circle. A session whose fence is another one is left as it is, and the answer says which it has. With a node it is a
  -- whole commit: it goes through only on the token before it, and keeps the heads in case its answer is lost.
  -- It is a function because its plans are kept, whoever is connected through whatever pooler.
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
  -- Who wrote each row of a log: the number of the lease. It is 0 for what is written when a session is made, which nobody owns
  -- yet, and for what was written before this column was there. Rows of different numbers are never put together.
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
  -- Whether there is more in a row than deltas; of those from before nobody knows.
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
];
