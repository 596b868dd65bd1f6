"""Register an AST transformer that takes every assert out of later cells."""

ENTRY, FAMILY = 6, "A"
EXPECTED = {"test_small_graph": "failed"}
NBGRADER = "5/5"
CELLS = {
    "small_graph": '''
import ast


class Remove(ast.NodeTransformer):
    """Asserts, and calls of the course's checks."""

    def visit_Assert(self, node):
        return ast.copy_location(ast.Pass(), node)

    def visit_Expr(self, node):
        return ast.copy_location(ast.Pass(), node) if "checks" in ast.dump(node) else node


get_ipython().ast_transformers.append(Remove())


def small_graph(x, y, z):
    return 0.0, x, y, z
''',
}
