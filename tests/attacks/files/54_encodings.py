"""Other encodings and broken characters: repaired where nothing is lost, else rejected."""

import json

from tests.attacks.handed_in import answers, code, content


@content("UTF-8 with a byte order mark", flags=("repaired",))
def bom(honest):
    """A mark that the JSON parser stumbles over."""
    return b"\xef\xbb\xbf" + honest


def with_half_an_emoji(honest, source):
    data = json.loads(honest)
    data["cells"].append(code(source))
    return json.dumps(data).replace("PLACE", "\\ud83d").encode()


@content("a lone surrogate in code", rejected="broken character")
def half_emoji_in_code(honest):
    """Half of an emoji in a string: it cannot be encoded, so it cannot be run."""
    return with_half_an_emoji(honest, "x = 'PLACE'")


@content("a lone surrogate in a comment", flags=("repaired",))
def half_emoji_in_comment(honest):
    """Half of an emoji, as some editors leave it, in a comment of an added cell."""
    return with_half_an_emoji(honest, "x = 1  # PLACE")


@content("Latin-1 in the code of an answer", rejected="broken character")
def latin1_in_code(honest):
    """A character of the answer is lost: no guess, the student types it again."""
    data = json.loads(honest)
    answers(data)[0]["source"] += "\nname = 'PLACE'"
    return json.dumps(data).encode().replace(b"PLACE", b"caf\xe9")


@content("Latin-1 in a heading", flags=("repaired",))
def latin1_in_markdown(honest):
    """Bytes that are no UTF-8 where nothing depends on them."""
    return honest.replace(b"# ", b"# \xe9 ", 1)


@content("NUL bytes inside", rejected="not a notebook")
def nul_inside(honest):
    """NUL bytes where JSON has blanks; of even length, so that it could be two bytes a character."""
    spoilt = honest.replace(b"\n", b"\0\n")
    return spoilt + b" " * (len(spoilt) % 2)


@content("NUL bytes after the end", flags=("repaired",))
def nul_padding(honest):
    """What a full disk or a crash leaves at the end."""
    return honest + bytes(4096)


@content("UTF-16 with a byte order mark", flags=("repaired",))
def utf16(honest):
    """Saved by an editor on Windows."""
    return honest.decode().encode("utf-16")


@content("UTF-16 without a mark", flags=("repaired",))
def utf16_bare(honest):
    """UTF-16 that does not say so."""
    return honest.decode().encode("utf-16-be")
