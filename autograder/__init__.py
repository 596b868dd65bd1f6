"""Grade notebooks: what instructors and CI run."""
