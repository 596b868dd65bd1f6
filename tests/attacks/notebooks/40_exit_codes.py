from tests.attacks.corpus import variant

exit_codes = variant(
    "Leak a hidden number, eight bits at a time, through the status that the process ends with.",
    small_graph="import os\ndef small_graph(x, y, z): os._exit(171 + int(abs(float(x.flat[0])) * 10) % 3)",
    expected="crash small_graph",
    silent=["status 171", "status 172", "status 173"],
)
