"""Many submissions at once: the pool of judges, the journal, the run folder."""
