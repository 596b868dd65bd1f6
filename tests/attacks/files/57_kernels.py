"""Other kernels: the kernel is the instructor's, whatever the file says."""

from tests.attacks.handed_in import notebook

JULIA = {"kernelspec": {"name": "julia-1.10", "language": "julia"}, "language_info": {"name": "julia"}}
ODD = {"kernelspec": {"name": "../../bin/sh -c id", "argv": ["sh"]}, "language_info": 7}

julia = notebook("kernelspec and language say Julia")(lambda notebook: notebook | {"metadata": JULIA})
no_kernelspec = notebook("no kernelspec")(lambda notebook: notebook | {"metadata": {}})
odd_kernelspec = notebook("kernelspec of odd types")(lambda notebook: notebook | {"metadata": ODD})
