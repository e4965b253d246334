-- The store that commit abe8449d23a6 made (version 1 of the tables): two runs, a finding that went, one node. Never edit.
BEGIN TRANSACTION;
CREATE TABLE episodes (
	number INTEGER NOT NULL,
	series TEXT NOT NULL,
	finding TEXT NOT NULL,
	opened INTEGER NOT NULL,
	last INTEGER NOT NULL,
	gone INTEGER,
	PRIMARY KEY (number),
	FOREIGN KEY(series, finding) REFERENCES findings (series, id),
	FOREIGN KEY(opened) REFERENCES runs (number),
	FOREIGN KEY(last) REFERENCES runs (number),
	FOREIGN KEY(gone) REFERENCES runs (number)
);
INSERT INTO "episodes" VALUES(1,'fabric compute','F-000000000001',1,1,2);
INSERT INTO "episodes" VALUES(2,'fabric compute','F-000000000002',1,2,NULL);
CREATE TABLE events (
	number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
	at VARCHAR(32) NOT NULL,
	kind TEXT NOT NULL,
	subject TEXT NOT NULL,
	who TEXT NOT NULL,
	reason TEXT NOT NULL,
	"before" TEXT NOT NULL,
	"after" TEXT NOT NULL,
	forced BOOLEAN NOT NULL
);
INSERT INTO "events" VALUES(1,'2026-03-01T08:00:00.000000+00:00','node.identity','gpu001','anna','new','','mlx5_0 GUID 0xb8cef60300b4c3f2 (operator)',0);
CREATE TABLE fabricctl_schema (
	version INTEGER NOT NULL,
	site TEXT NOT NULL,
	PRIMARY KEY (version)
);
INSERT INTO "fabricctl_schema" VALUES(1,'hall');
CREATE TABLE findings (
	series TEXT NOT NULL,
	id TEXT NOT NULL,
	kind TEXT NOT NULL,
	subject TEXT NOT NULL,
	headline TEXT NOT NULL,
	expected TEXT NOT NULL,
	found TEXT NOT NULL,
	fix TEXT NOT NULL,
	devices TEXT NOT NULL,
	place TEXT NOT NULL,
	PRIMARY KEY (series, id)
);
INSERT INTO "findings" VALUES('fabric compute','F-000000000001','missing','leaf1/1 - spine1/1','leaf1/1 - spine1/1: no link','a cable','down','plug in','["leaf1","spine1"]','{"links":[[["leaf1",1],["spine1",1]]],"devices":[]}');
INSERT INTO "findings" VALUES('fabric compute','F-000000000002','missing','leaf2/1 - spine1/2','leaf2/1 - spine1/2: no link','a cable','down','plug in','["leaf2","spine1"]','{"links":[[["leaf2",1],["spine1",2]]],"devices":[]}');
CREATE TABLE node_identities (
	number INTEGER NOT NULL,
	node TEXT NOT NULL,
	kind TEXT NOT NULL,
	value TEXT NOT NULL,
	part TEXT NOT NULL,
	source TEXT NOT NULL,
	since VARCHAR(32) NOT NULL,
	confirmed VARCHAR(32) NOT NULL,
	until VARCHAR(32),
	PRIMARY KEY (number),
	FOREIGN KEY(node) REFERENCES nodes (name)
);
INSERT INTO "node_identities" VALUES(1,'gpu001','guid','0xb8cef60300b4c3f2','mlx5_0','operator','2026-03-01T08:00:00.000000+00:00','2026-03-01T08:00:00.000000+00:00',NULL);
CREATE TABLE nodes (
	name TEXT NOT NULL,
	state TEXT NOT NULL,
	version INTEGER NOT NULL,
	since VARCHAR(32) NOT NULL,
	who TEXT NOT NULL,
	reason TEXT NOT NULL,
	PRIMARY KEY (name)
);
INSERT INTO "nodes" VALUES('gpu001','planned',2,'2026-03-01T08:00:00.000000+00:00','anna','new');
CREATE TABLE runs (
	number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
	series TEXT NOT NULL,
	made VARCHAR(32) NOT NULL,
	who TEXT NOT NULL,
	command TEXT NOT NULL,
	word TEXT NOT NULL,
	"plan" TEXT NOT NULL,
	plan_digest TEXT NOT NULL,
	sources TEXT NOT NULL,
	only TEXT NOT NULL,
	counts TEXT NOT NULL,
	doubts TEXT NOT NULL,
	findings INTEGER NOT NULL,
	fingerprint TEXT NOT NULL
);
INSERT INTO "runs" VALUES(1,'fabric compute','2026-03-01T08:00:00.000000+00:00','anna@ufm1','verify-cabling','findings','site.yaml','d0','[["seen.txt","0"]]','','{"intended":100}','[]',2,'fabric compute 0 [1, 2]');
INSERT INTO "runs" VALUES(2,'fabric compute','2026-03-01T09:00:00.000000+00:00','anna@ufm1','verify-cabling','findings','site.yaml','d0','[["seen.txt","1"]]','','{"intended":100}','[]',1,'fabric compute 1 [2]');
CREATE INDEX runs_of_series ON runs (series, number);
CREATE INDEX findings_by_id ON findings (id);
CREATE INDEX events_of_subject ON events (subject, number);
CREATE INDEX events_by_time ON events (at);
CREATE UNIQUE INDEX one_open_episode ON episodes (series, finding) WHERE gone IS NULL;
CREATE INDEX episodes_of_finding ON episodes (series, finding);
CREATE INDEX identities_of_node ON node_identities (node);
CREATE UNIQUE INDEX one_holder ON node_identities (kind, value) WHERE until IS NULL;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('runs',2);
INSERT INTO "sqlite_sequence" VALUES('events',1);
COMMIT;
