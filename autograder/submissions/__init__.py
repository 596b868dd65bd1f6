"""From the files of a class to submissions: found, repaired or rejected with a reason, matched; nothing is run."""
