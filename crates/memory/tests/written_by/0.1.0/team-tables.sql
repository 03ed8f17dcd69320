-- The tables of a team in 0.1.0, as its first machine made them.
CREATE SCHEMA tidegate;
CREATE TABLE tidegate.version (version bigint PRIMARY KEY, at timestamptz NOT NULL DEFAULT now());
CREATE TABLE IF NOT EXISTS tidegate.counters (
    one smallint PRIMARY KEY CHECK (one = 1),
    change bigint NOT NULL,
    project bigint NOT NULL,
    topic bigint NOT NULL,
    decision bigint NOT NULL,
    store text NOT NULL
);
INSERT INTO tidegate.counters VALUES (1, 0, 0, 0, 0, md5(random()::text || clock_timestamp()::text)) ON CONFLICT DO NOTHING;
CREATE TABLE IF NOT EXISTS tidegate.project (
    uid text PRIMARY KEY,
    id bigint NOT NULL UNIQUE,
    key text UNIQUE,
    name text NOT NULL,
    created bigint NOT NULL,
    updated bigint NOT NULL,
    active bigint NOT NULL,
    change bigint NOT NULL
);
CREATE INDEX IF NOT EXISTS project_active ON tidegate.project (active DESC, id DESC);
CREATE INDEX IF NOT EXISTS project_name ON tidegate.project (name);
CREATE TABLE IF NOT EXISTS tidegate.team_name (
    name text PRIMARY KEY,
    project text NOT NULL REFERENCES tidegate.project
);
CREATE TABLE IF NOT EXISTS tidegate.team_alias (
    uid text PRIMARY KEY,
    project text NOT NULL REFERENCES tidegate.project
);
CREATE TABLE IF NOT EXISTS tidegate.topic (
    uid text PRIMARY KEY,
    id bigint NOT NULL UNIQUE,
    project text NOT NULL REFERENCES tidegate.project,
    parent text REFERENCES tidegate.topic,
    title text NOT NULL,
    status text NOT NULL,
    automatic text,
    offered bigint NOT NULL,
    offered_at bigint,
    created bigint NOT NULL,
    updated bigint NOT NULL,
    active bigint NOT NULL,
    origin text,
    change bigint NOT NULL
);
CREATE INDEX IF NOT EXISTS topic_project ON tidegate.topic (project, active DESC);
CREATE INDEX IF NOT EXISTS topic_active ON tidegate.topic (active DESC, id DESC);
CREATE INDEX IF NOT EXISTS topic_parent ON tidegate.topic (parent);
CREATE INDEX IF NOT EXISTS topic_change ON tidegate.topic (change);
CREATE TABLE IF NOT EXISTS tidegate.session (
    uid text PRIMARY KEY,
    project text NOT NULL REFERENCES tidegate.project,
    root text NOT NULL,
    branch text,
    created bigint NOT NULL,
    updated bigint NOT NULL,
    change bigint NOT NULL
);
CREATE INDEX IF NOT EXISTS session_project ON tidegate.session (project);
CREATE TABLE IF NOT EXISTS tidegate.log (
    uid text PRIMARY KEY,
    topic text NOT NULL REFERENCES tidegate.topic,
    session text REFERENCES tidegate.session,
    title text NOT NULL,
    text text NOT NULL,
    prompt text NOT NULL,
    answer text NOT NULL,
    tools text NOT NULL,
    files text NOT NULL,
    source text NOT NULL,
    redacted text NOT NULL,
    notes text NOT NULL,
    summary_by text NOT NULL,
    summary_again boolean NOT NULL,
    at bigint NOT NULL,
    updated bigint NOT NULL,
    origin text,
    change bigint NOT NULL
);
CREATE INDEX IF NOT EXISTS log_at ON tidegate.log (at DESC, uid DESC);
CREATE INDEX IF NOT EXISTS log_topic ON tidegate.log (topic, at DESC);
CREATE INDEX IF NOT EXISTS log_session ON tidegate.log (session, at DESC);
CREATE TABLE IF NOT EXISTS tidegate.decision (
    uid text PRIMARY KEY,
    id bigint NOT NULL UNIQUE,
    topic text NOT NULL REFERENCES tidegate.topic,
    text text NOT NULL,
    reason text NOT NULL,
    supersedes text REFERENCES tidegate.decision,
    retracted bigint,
    session text REFERENCES tidegate.session,
    created bigint NOT NULL,
    updated bigint NOT NULL,
    origin text,
    change bigint NOT NULL
);
CREATE INDEX IF NOT EXISTS decision_topic ON tidegate.decision (topic, created DESC);
CREATE INDEX IF NOT EXISTS decision_created ON tidegate.decision (created DESC, id DESC);
CREATE INDEX IF NOT EXISTS decision_supersedes ON tidegate.decision (supersedes);
CREATE INDEX IF NOT EXISTS decision_session ON tidegate.decision (session);
CREATE INDEX IF NOT EXISTS decision_change ON tidegate.decision (change);
CREATE TABLE IF NOT EXISTS tidegate.offer (
    topic text NOT NULL REFERENCES tidegate.topic,
    session text NOT NULL,
    PRIMARY KEY (topic, session)
);
CREATE TABLE IF NOT EXISTS tidegate.forgotten (
    uid text PRIMARY KEY,
    kind text,
    origin text,
    change bigint NOT NULL
);
CREATE INDEX IF NOT EXISTS forgotten_change ON tidegate.forgotten (change);
CREATE TABLE IF NOT EXISTS tidegate.document (
    uid text PRIMARY KEY,
    kind text NOT NULL,
    topic text NOT NULL REFERENCES tidegate.topic,
    session text,
    at bigint NOT NULL,
    words tsvector NOT NULL
);
CREATE INDEX IF NOT EXISTS document_at ON tidegate.document (at DESC, uid DESC);
CREATE INDEX IF NOT EXISTS document_topic ON tidegate.document (topic, at DESC);
CREATE INDEX IF NOT EXISTS document_words ON tidegate.document USING gin (words);
INSERT INTO tidegate.version (version) VALUES (1);
