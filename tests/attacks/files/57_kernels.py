"""Other kernels: the kernel is the instructor's, whatever the file says."""

from tests.attacks.handed_in import notebook


@notebook("kernelspec and language say Julia")
def julia(notebook):
    kernel = {"name": "julia-1.10", "language": "julia"}
    notebook["metadata"] = {"kernelspec": kernel, "language_info": {"name": "julia"}}


@notebook("no kernelspec")
def no_kernelspec(notebook):
    """A notebook that names no kernel."""
    notebook["metadata"] = {}


@notebook("kernelspec of odd types")
def odd_kernelspec(notebook):
    """A kernel that is a command and a path."""
    notebook["metadata"] = {"kernelspec": {"name": "../../bin/sh -c id", "argv": ["sh"]}, "language_info": 7}
