-- The store that commit abe8449d23a6 made (version 1 of the tables): two runs, a finding that went, one node. Never edit.
CREATE TABLE public.episodes (
    number integer NOT NULL,
    series text NOT NULL,
    finding text NOT NULL,
    opened integer NOT NULL,
    last integer NOT NULL,
    gone integer
);
CREATE SEQUENCE public.episodes_number_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.episodes_number_seq OWNED BY public.episodes.number;
CREATE TABLE public.events (
    number integer NOT NULL,
    at character varying(32) NOT NULL,
    kind text NOT NULL,
    subject text NOT NULL,
    who text NOT NULL,
    reason text NOT NULL,
    before text NOT NULL,
    after text NOT NULL,
    forced boolean NOT NULL
);
CREATE SEQUENCE public.events_number_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.events_number_seq OWNED BY public.events.number;
CREATE TABLE public.fabricctl_schema (
    version integer NOT NULL,
    site text NOT NULL
);
CREATE TABLE public.findings (
    series text NOT NULL,
    id text NOT NULL,
    kind text NOT NULL,
    subject text NOT NULL,
    headline text NOT NULL,
    expected text NOT NULL,
    found text NOT NULL,
    fix text NOT NULL,
    devices text NOT NULL,
    place text NOT NULL
);
CREATE TABLE public.node_identities (
    number integer NOT NULL,
    node text NOT NULL,
    kind text NOT NULL,
    value text NOT NULL,
    part text NOT NULL,
    source text NOT NULL,
    since character varying(32) NOT NULL,
    confirmed character varying(32) NOT NULL,
    until character varying(32)
);
CREATE SEQUENCE public.node_identities_number_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.node_identities_number_seq OWNED BY public.node_identities.number;
CREATE TABLE public.nodes (
    name text NOT NULL,
    state text NOT NULL,
    version integer NOT NULL,
    since character varying(32) NOT NULL,
    who text NOT NULL,
    reason text NOT NULL
);
CREATE TABLE public.runs (
    number integer NOT NULL,
    series text NOT NULL,
    made character varying(32) NOT NULL,
    who text NOT NULL,
    command text NOT NULL,
    word text NOT NULL,
    plan text NOT NULL,
    plan_digest text NOT NULL,
    sources text NOT NULL,
    "only" text NOT NULL,
    counts text NOT NULL,
    doubts text NOT NULL,
    findings integer NOT NULL,
    fingerprint text NOT NULL
);
CREATE SEQUENCE public.runs_number_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.runs_number_seq OWNED BY public.runs.number;
ALTER TABLE ONLY public.episodes ALTER COLUMN number SET DEFAULT nextval('public.episodes_number_seq'::regclass);
ALTER TABLE ONLY public.events ALTER COLUMN number SET DEFAULT nextval('public.events_number_seq'::regclass);
ALTER TABLE ONLY public.node_identities ALTER COLUMN number SET DEFAULT nextval('public.node_identities_number_seq'::regclass);
ALTER TABLE ONLY public.runs ALTER COLUMN number SET DEFAULT nextval('public.runs_number_seq'::regclass);
INSERT INTO public.episodes VALUES (1, 'fabric compute', 'F-000000000001', 1, 1, 2);
INSERT INTO public.episodes VALUES (2, 'fabric compute', 'F-000000000002', 1, 2, NULL);
INSERT INTO public.events VALUES (1, '2026-03-01T08:00:00.000000+00:00', 'node.identity', 'gpu001', 'anna', 'new', '', 'mlx5_0 GUID 0xb8cef60300b4c3f2 (operator)', false);
INSERT INTO public.fabricctl_schema VALUES (1, 'hall');
INSERT INTO public.findings VALUES ('fabric compute', 'F-000000000001', 'missing', 'leaf1/1 - spine1/1', 'leaf1/1 - spine1/1: no link', 'a cable', 'down', 'plug in', '["leaf1","spine1"]', '{"links":[[["leaf1",1],["spine1",1]]],"devices":[]}');
INSERT INTO public.findings VALUES ('fabric compute', 'F-000000000002', 'missing', 'leaf2/1 - spine1/2', 'leaf2/1 - spine1/2: no link', 'a cable', 'down', 'plug in', '["leaf2","spine1"]', '{"links":[[["leaf2",1],["spine1",2]]],"devices":[]}');
INSERT INTO public.node_identities VALUES (1, 'gpu001', 'guid', '0xb8cef60300b4c3f2', 'mlx5_0', 'operator', '2026-03-01T08:00:00.000000+00:00', '2026-03-01T08:00:00.000000+00:00', NULL);
INSERT INTO public.nodes VALUES ('gpu001', 'planned', 2, '2026-03-01T08:00:00.000000+00:00', 'anna', 'new');
INSERT INTO public.runs VALUES (1, 'fabric compute', '2026-03-01T08:00:00.000000+00:00', 'anna@ufm1', 'verify-cabling', 'findings', 'site.yaml', 'd0', '[["seen.txt","0"]]', '', '{"intended":100}', '[]', 2, 'fabric compute 0 [1, 2]');
INSERT INTO public.runs VALUES (2, 'fabric compute', '2026-03-01T09:00:00.000000+00:00', 'anna@ufm1', 'verify-cabling', 'findings', 'site.yaml', 'd0', '[["seen.txt","1"]]', '', '{"intended":100}', '[]', 1, 'fabric compute 1 [2]');
SELECT pg_catalog.setval('public.episodes_number_seq', 2, true);
SELECT pg_catalog.setval('public.events_number_seq', 1, true);
SELECT pg_catalog.setval('public.node_identities_number_seq', 1, true);
SELECT pg_catalog.setval('public.runs_number_seq', 2, true);
ALTER TABLE ONLY public.episodes
    ADD CONSTRAINT episodes_pkey PRIMARY KEY (number);
ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (number);
ALTER TABLE ONLY public.fabricctl_schema
    ADD CONSTRAINT fabricctl_schema_pkey PRIMARY KEY (version);
ALTER TABLE ONLY public.findings
    ADD CONSTRAINT findings_pkey PRIMARY KEY (series, id);
ALTER TABLE ONLY public.node_identities
    ADD CONSTRAINT node_identities_pkey PRIMARY KEY (number);
ALTER TABLE ONLY public.nodes
    ADD CONSTRAINT nodes_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.runs
    ADD CONSTRAINT runs_pkey PRIMARY KEY (number);
CREATE INDEX episodes_of_finding ON public.episodes USING btree (series, finding);
CREATE INDEX events_by_time ON public.events USING btree (at);
CREATE INDEX events_of_subject ON public.events USING btree (subject, number);
CREATE INDEX findings_by_id ON public.findings USING btree (id);
CREATE INDEX identities_of_node ON public.node_identities USING btree (node);
CREATE UNIQUE INDEX one_holder ON public.node_identities USING btree (kind, value) WHERE (until IS NULL);
CREATE UNIQUE INDEX one_open_episode ON public.episodes USING btree (series, finding) WHERE (gone IS NULL);
CREATE INDEX runs_of_series ON public.runs USING btree (series, number);
ALTER TABLE ONLY public.episodes
    ADD CONSTRAINT episodes_gone_fkey FOREIGN KEY (gone) REFERENCES public.runs(number);
ALTER TABLE ONLY public.episodes
    ADD CONSTRAINT episodes_last_fkey FOREIGN KEY (last) REFERENCES public.runs(number);
ALTER TABLE ONLY public.episodes
    ADD CONSTRAINT episodes_opened_fkey FOREIGN KEY (opened) REFERENCES public.runs(number);
ALTER TABLE ONLY public.episodes
    ADD CONSTRAINT episodes_series_finding_fkey FOREIGN KEY (series, finding) REFERENCES public.findings(series, id);
ALTER TABLE ONLY public.node_identities
    ADD CONSTRAINT node_identities_node_fkey FOREIGN KEY (node) REFERENCES public.nodes(name);
