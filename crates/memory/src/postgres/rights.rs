//! Who may do what, enforced by the server: version 2 of the tables.
//!
//! Members are logins in one group role per database. They own no table. A trigger writes the login into
//! `owner`, gives out ids and change numbers and limits times, whatever a client sends. Row security lets a
//! member change and delete only rows of which they are the owner. `counters` and `forgotten` are written by
//! triggers alone. The owner of the schema is the administrator: row security does not apply to them.
//!
//! Rows from version 1 have no owner (`''`): any member may take or delete them, as in version 1. Machines
//! deliver their rows again and so become their owner.

use std::fmt::Write as _;

/// Tables whose rows have an owner.
const OWNED: [&str; 5] = ["project", "session", "topic", "log", "decision"];

/// Tolerated clock difference of members, in milliseconds.
const AHEAD: u64 = 5 * 60_000;

/// In bytes, for a row of a member.
const LARGEST_ROW: usize = 2_000_000;

/// Repeatable.
pub(super) fn statements() -> String {
    let mut all = COLUMNS.to_owned();
    let mut others = String::new();
    for table in OWNED {
        let _ = write!(
            others,
            "{union}SELECT 1 FROM tidegate.{table} WHERE uid = NEW.uid AND TG_TABLE_NAME <> '{table}'",
            union = if others.is_empty() { "" } else { " UNION ALL " }
        );
    }
    let mut ids = String::new();
    for table in ["project", "topic", "decision"] {
        let _ = write!(
            ids,
            "IF TG_TABLE_NAME = '{table}' THEN
                IF trusted AND NEW.id IS NOT NULL
                    AND NOT EXISTS (SELECT 1 FROM tidegate.{table} WHERE id = NEW.id AND uid <> NEW.uid) THEN
                    UPDATE tidegate.counters SET {table} = greatest({table}, NEW.id) WHERE one = 1;
                ELSE
                    UPDATE tidegate.counters SET {table} = {table} + 1 WHERE one = 1 RETURNING {table} INTO NEW.id;
                END IF;
            END IF;\n"
        );
    }
    let latest = format!("floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint + {AHEAD}");
    let _ = write!(
        all,
        "CREATE OR REPLACE FUNCTION tidegate.stamp_row() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
        SET search_path = pg_catalog, pg_temp AS $$
        DECLARE
            trusted boolean := tidegate.is_administrator();
            latest bigint := {latest};
        BEGIN
            UPDATE tidegate.counters SET change = change + 1 WHERE one = 1 RETURNING change INTO NEW.change;
            IF TG_OP = 'UPDATE' THEN
                NEW.uid := OLD.uid;
                -- Not for references that the server itself removes.
                IF OLD.owner = '' AND pg_trigger_depth() = 1 AND NOT trusted THEN
                    NEW.owner := session_user;
                ELSE
                    NEW.owner := OLD.owner;
                END IF;
                IF TG_TABLE_NAME IN ('project', 'topic', 'decision') THEN
                    NEW.id := OLD.id;
                END IF;
            ELSE
                NEW.owner := session_user;
                -- Deletions go by uid alone.
                IF NOT trusted AND EXISTS ({others}) THEN
                    RAISE EXCEPTION 'another row has this uid' USING ERRCODE = 'unique_violation';
                END IF;
                {ids}
            END IF;
            IF NOT trusted THEN
                IF octet_length(NEW::text) > {LARGEST_ROW} THEN
                    RAISE EXCEPTION 'the row is too large' USING ERRCODE = 'program_limit_exceeded';
                END IF;
                NEW.updated := least(NEW.updated, latest);
                IF TG_TABLE_NAME = 'log' THEN
                    NEW.at := least(NEW.at, latest);
                ELSE
                    NEW.created := least(NEW.created, latest);
                END IF;
                IF TG_TABLE_NAME IN ('project', 'topic') THEN
                    NEW.active := least(NEW.active, latest);
                END IF;
                IF TG_TABLE_NAME = 'project' THEN
                    NEW.key := NULL;
                END IF;
                IF TG_TABLE_NAME = 'decision' THEN
                    IF NEW.retracted IS NOT NULL THEN
                        NEW.retracted := least(NEW.retracted, latest);
                    END IF;
                END IF;
            END IF;
            RETURN NEW;
        END $$;
        CREATE OR REPLACE FUNCTION tidegate.stamp_document() RETURNS trigger LANGUAGE plpgsql
        SET search_path = pg_catalog, pg_temp AS $$
        BEGIN
            IF NOT tidegate.is_administrator() THEN
                NEW.at := least(NEW.at, {latest});
            END IF;
            RETURN NEW;
        END $$;
        CREATE OR REPLACE FUNCTION tidegate.stamp_request() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
        SET search_path = pg_catalog, pg_temp AS $$
        BEGIN
            NEW.asked_by := session_user;
            NEW.at := floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint;
            SELECT found.kind, found.owner INTO NEW.kind, NEW.owner FROM (
                SELECT 'log' AS kind, owner FROM tidegate.log WHERE uid = NEW.uid
                UNION ALL SELECT 'decision', owner FROM tidegate.decision WHERE uid = NEW.uid
                UNION ALL SELECT 'topic', owner FROM tidegate.topic WHERE uid = NEW.uid) AS found;
            RETURN NEW;
        END $$;\n"
    );
    let mine = "owner = session_user OR owner = ''";
    for table in OWNED {
        let _ = write!(
            all,
            "DROP TRIGGER IF EXISTS stamp ON tidegate.{table};
            CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON tidegate.{table}
                FOR EACH ROW EXECUTE FUNCTION tidegate.stamp_row();
            DROP TRIGGER IF EXISTS remember ON tidegate.{table};
            CREATE TRIGGER remember BEFORE DELETE ON tidegate.{table}
                FOR EACH ROW EXECUTE FUNCTION tidegate.remember_deleted();
            ALTER TABLE tidegate.{table} ENABLE ROW LEVEL SECURITY;
            DROP POLICY IF EXISTS may_read ON tidegate.{table};
            CREATE POLICY may_read ON tidegate.{table} FOR SELECT USING (true);
            DROP POLICY IF EXISTS may_add ON tidegate.{table};
            CREATE POLICY may_add ON tidegate.{table} FOR INSERT WITH CHECK (owner = session_user);
            DROP POLICY IF EXISTS may_change ON tidegate.{table};
            CREATE POLICY may_change ON tidegate.{table} FOR UPDATE USING ({mine}) WITH CHECK (owner = session_user);
            DROP POLICY IF EXISTS may_delete ON tidegate.{table};
            CREATE POLICY may_delete ON tidegate.{table} FOR DELETE USING ({mine});\n"
        );
    }
    // Each search text belongs to the row of its kind: uids of two kinds may be equal.
    let of_kind = |table: &str| {
        format!(
            "document.kind = '{table}' AND EXISTS (SELECT 1 FROM tidegate.{table} AS row \
             WHERE row.uid = document.uid AND (row.owner = session_user OR row.owner = ''))"
        )
    };
    let owns = ["log", "decision", "topic"].map(of_kind).join(" OR ");
    let _ = write!(
        all,
        "DROP TRIGGER IF EXISTS stamp ON tidegate.document;
        CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON tidegate.document
            FOR EACH ROW EXECUTE FUNCTION tidegate.stamp_document();
        ALTER TABLE tidegate.document ENABLE ROW LEVEL SECURITY;
        DROP POLICY IF EXISTS may_read ON tidegate.document;
        CREATE POLICY may_read ON tidegate.document FOR SELECT USING (true);
        DROP POLICY IF EXISTS may_add ON tidegate.document;
        CREATE POLICY may_add ON tidegate.document FOR INSERT WITH CHECK ({owns});
        DROP POLICY IF EXISTS may_change ON tidegate.document;
        CREATE POLICY may_change ON tidegate.document FOR UPDATE USING ({owns}) WITH CHECK ({owns});\n"
    );
    all.push_str(NAMES_AND_REQUESTS);
    all
}

/// For the group of the members; repeatable. `group` is quoted.
pub(super) fn grants(group: &str) -> String {
    let owned = OWNED.map(|table| format!("tidegate.{table}")).join(", ");
    format!(
        "REVOKE ALL ON SCHEMA tidegate FROM PUBLIC;
        REVOKE ALL ON ALL TABLES IN SCHEMA tidegate FROM PUBLIC, {group};
        REVOKE ALL ON ALL FUNCTIONS IN SCHEMA tidegate FROM PUBLIC;
        GRANT USAGE ON SCHEMA tidegate TO {group};
        GRANT SELECT, INSERT, UPDATE, DELETE ON {owned} TO {group};
        GRANT SELECT, INSERT, UPDATE ON tidegate.document TO {group};
        GRANT SELECT, INSERT ON tidegate.team_name TO {group};
        GRANT SELECT ON tidegate.request TO {group};
        GRANT INSERT (uid), DELETE ON tidegate.request TO {group};
        GRANT SELECT ON tidegate.forgotten, tidegate.counters, tidegate.version TO {group};
        GRANT EXECUTE ON FUNCTION tidegate.begin_writing(), tidegate.is_administrator() TO {group};"
    )
}

/// References that the server can remove itself, and functions that do not depend on a list of tables.
const COLUMNS: &str = "
-- Searches would read the whole list of pending entries, once for each word, and one push in some hundred would write it.
ALTER INDEX tidegate.document_words SET (fastupdate = off);
-- It hardly gets smaller, and searches read very many of them.
ALTER TABLE tidegate.document ALTER COLUMN words SET STORAGE EXTERNAL;
ALTER TABLE tidegate.decision ADD COLUMN IF NOT EXISTS taken_by text;
ALTER TABLE tidegate.project ADD COLUMN IF NOT EXISTS owner text NOT NULL DEFAULT '';
ALTER TABLE tidegate.session ADD COLUMN IF NOT EXISTS owner text NOT NULL DEFAULT '';
ALTER TABLE tidegate.topic ADD COLUMN IF NOT EXISTS owner text NOT NULL DEFAULT '';
ALTER TABLE tidegate.log ADD COLUMN IF NOT EXISTS owner text NOT NULL DEFAULT '';
ALTER TABLE tidegate.decision ADD COLUMN IF NOT EXISTS owner text NOT NULL DEFAULT '';
ALTER TABLE tidegate.forgotten ADD COLUMN IF NOT EXISTS owner text NOT NULL DEFAULT '';
ALTER TABLE tidegate.topic DROP CONSTRAINT IF EXISTS topic_parent_fkey,
    ADD CONSTRAINT topic_parent_fkey FOREIGN KEY (parent) REFERENCES tidegate.topic ON DELETE SET NULL;
ALTER TABLE tidegate.decision DROP CONSTRAINT IF EXISTS decision_supersedes_fkey,
    ADD CONSTRAINT decision_supersedes_fkey FOREIGN KEY (supersedes) REFERENCES tidegate.decision ON DELETE SET NULL,
    DROP CONSTRAINT IF EXISTS decision_session_fkey,
    ADD CONSTRAINT decision_session_fkey FOREIGN KEY (session) REFERENCES tidegate.session ON DELETE SET NULL;
ALTER TABLE tidegate.log DROP CONSTRAINT IF EXISTS log_session_fkey,
    ADD CONSTRAINT log_session_fkey FOREIGN KEY (session) REFERENCES tidegate.session ON DELETE SET NULL;
ALTER TABLE tidegate.team_name DROP CONSTRAINT IF EXISTS team_name_project_fkey,
    ADD CONSTRAINT team_name_project_fkey FOREIGN KEY (project) REFERENCES tidegate.project ON DELETE CASCADE;
-- A member may put a search text of theirs under any topic; that must not keep its owner from deleting it.
ALTER TABLE tidegate.document DROP CONSTRAINT IF EXISTS document_topic_fkey,
    ADD CONSTRAINT document_topic_fkey FOREIGN KEY (topic) REFERENCES tidegate.topic ON DELETE CASCADE;
ALTER TABLE tidegate.offer DROP CONSTRAINT IF EXISTS offer_topic_fkey,
    ADD CONSTRAINT offer_topic_fkey FOREIGN KEY (topic) REFERENCES tidegate.topic ON DELETE CASCADE;
CREATE INDEX IF NOT EXISTS team_name_project ON tidegate.team_name (project);
DROP TABLE IF EXISTS tidegate.team_alias;
CREATE TABLE IF NOT EXISTS tidegate.request (
    uid text NOT NULL,
    kind text NOT NULL,
    owner text NOT NULL,
    asked_by text NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (uid, asked_by)
);
CREATE INDEX IF NOT EXISTS request_owner ON tidegate.request (owner);
CREATE OR REPLACE FUNCTION tidegate.is_administrator() RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
    SELECT pg_has_role(session_user, (SELECT nspowner FROM pg_namespace WHERE nspname = 'tidegate'), 'MEMBER')
$$;
CREATE OR REPLACE FUNCTION tidegate.begin_writing() RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM 1 FROM tidegate.counters WHERE one = 1 FOR UPDATE;
END $$;
CREATE OR REPLACE FUNCTION tidegate.remember_deleted() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    number bigint;
BEGIN
    UPDATE tidegate.counters SET change = change + 1 WHERE one = 1 RETURNING change INTO number;
    INSERT INTO tidegate.forgotten (uid, kind, owner, change) VALUES (OLD.uid, TG_TABLE_NAME, OLD.owner, number)
        ON CONFLICT (uid) DO NOTHING;
    DELETE FROM tidegate.document WHERE uid = OLD.uid AND kind = TG_TABLE_NAME;
    DELETE FROM tidegate.request WHERE uid = OLD.uid;
    RETURN OLD;
END $$;
";

const NAMES_AND_REQUESTS: &str = "
ALTER TABLE tidegate.team_name ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS may_read ON tidegate.team_name;
CREATE POLICY may_read ON tidegate.team_name FOR SELECT USING (true);
DROP POLICY IF EXISTS may_add ON tidegate.team_name;
CREATE POLICY may_add ON tidegate.team_name FOR INSERT WITH CHECK (EXISTS (SELECT 1 FROM tidegate.project AS row
    WHERE row.uid = team_name.project AND (row.owner = session_user OR row.owner = '')));
DROP TRIGGER IF EXISTS stamp ON tidegate.request;
CREATE TRIGGER stamp BEFORE INSERT ON tidegate.request FOR EACH ROW EXECUTE FUNCTION tidegate.stamp_request();
ALTER TABLE tidegate.request ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS may_read ON tidegate.request;
CREATE POLICY may_read ON tidegate.request FOR SELECT USING (owner = session_user OR asked_by = session_user);
DROP POLICY IF EXISTS may_ask ON tidegate.request;
CREATE POLICY may_ask ON tidegate.request FOR INSERT WITH CHECK (asked_by = session_user);
DROP POLICY IF EXISTS may_end ON tidegate.request;
CREATE POLICY may_end ON tidegate.request FOR DELETE USING (owner = session_user OR asked_by = session_user);
";
