"""Other encodings and broken characters: repaired where nothing is lost, else rejected."""

import json

from tests.attacks.handed_in import answers, code, content


def with_half_an_emoji(source):
    def added(honest):
        data = json.loads(honest)
        data["cells"].append(code(source))
        return json.dumps(data).replace("PLACE", "\\ud83d").encode()

    return added


FIXED = {"flags": ("repaired",)}
# It cannot be encoded, so it cannot be run.
half_emoji_in_code = content("a lone surrogate in code", rejected="broken character")(with_half_an_emoji("x = 'PLACE'"))
half_emoji_in_comment = content("a lone surrogate in a comment", **FIXED)(with_half_an_emoji("x = 1  # PLACE"))
# Bytes that are no UTF-8 where nothing depends on them.
latin1_in_markdown = content("Latin-1 in a heading", **FIXED)(lambda honest: honest.replace(b"# ", b"# \xe9 ", 1))
# What a full disk or a crash leaves at the end.
nul_padding = content("NUL bytes after the end", **FIXED)(lambda honest: honest + bytes(4096))
bom = content("UTF-8 with a byte order mark", **FIXED)(lambda honest: b"\xef\xbb\xbf" + honest)
utf16 = content("UTF-16 with a byte order mark", **FIXED)(lambda honest: honest.decode().encode("utf-16"))
utf16_bare = content("UTF-16 without a mark", **FIXED)(lambda honest: honest.decode().encode("utf-16-be"))


# A character of the answer is lost: no guess, the student types it again.
@content("Latin-1 in the code of an answer", rejected="broken character")
def latin1_in_code(honest):
    data = json.loads(honest)
    answers(data)[0]["source"] += "\nname = 'PLACE'"
    return json.dumps(data).encode().replace(b"PLACE", b"caf\xe9")


# Of even length, so that it could be two bytes a character.
@content("NUL bytes inside", rejected="not a notebook")
def nul_inside(honest):
    spoiled = honest.replace(b"\n", b"\0\n")
    return spoiled + b" " * (len(spoiled) % 2)
