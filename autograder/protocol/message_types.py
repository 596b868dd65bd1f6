"""The message types of the judge's verb, known to both ends."""

CALL, REPLY = "autograder_call", "autograder_reply"
