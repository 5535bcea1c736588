-- Store format 3: an index by which the runs of a namespace are found without a look at others. Hosts of format 2 do not need it.
CREATE INDEX runs_of_namespace ON runs (namespace, number);
