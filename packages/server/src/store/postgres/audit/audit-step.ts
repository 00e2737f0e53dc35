/** The tables of the audit log, and the function that appends to it. */
export const AUDIT_STEP = `
  CREATE TABLE ~audit_entries (
    workspace_id text COLLATE "C" NOT NULL, seq int8 NOT NULL, time int8 NOT NULL, hash text COLLATE "C" NOT NULL,
    data text COLLATE "C" NOT NULL, PRIMARY KEY (workspace_id, seq)
  );
  -- The newest entry of each workspace, and the last one that retention has removed.
  CREATE TABLE ~audit_chains (
    workspace_id text COLLATE "C" PRIMARY KEY, seq int8 NOT NULL, hash text COLLATE "C" NOT NULL,
    start_seq int8 NOT NULL, start_hash text COLLATE "C" NOT NULL
  );
  CREATE FUNCTION ~refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION 'entries of the audit log are not changed';
  END $$;
  CREATE TRIGGER audit_entries_stay BEFORE UPDATE ON ~audit_entries FOR EACH ROW EXECUTE FUNCTION ~refuse_audit_change();
  -- The hashes are those of toEntryHash. The row of a chain is locked until the commit, which keeps its entries in one line.
  CREATE FUNCTION ~append_audit(workspaces text[], entries text[], at int8) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    last record;
    hashed text;
  BEGIN
    FOR i IN 1 .. cardinality(entries) LOOP
      INSERT INTO ~audit_chains VALUES (workspaces[i], 0, repeat('0', 64), 0, repeat('0', 64)) ON CONFLICT DO NOTHING;
      SELECT chain.seq + 1 AS seq, chain.hash INTO last FROM ~audit_chains AS chain
        WHERE chain.workspace_id = workspaces[i] FOR UPDATE;
      hashed := encode(sha256(convert_to(
        concat_ws(E'\\n', last.hash, workspaces[i], last.seq::text, at::text, entries[i]), 'UTF8')), 'hex');
      INSERT INTO ~audit_entries VALUES (workspaces[i], last.seq, at, hashed, entries[i]);
      UPDATE ~audit_chains AS chain SET seq = last.seq, hash = hashed WHERE chain.workspace_id = workspaces[i];
    END LOOP;
  END $$;
  `;
