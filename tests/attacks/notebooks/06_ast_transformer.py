"""Asserts taken out of later cells."""

from tests.attacks.corpus import variant

ast_transformer = variant(
    "Register an AST transformer that takes every assert out of later cells.",
    small_graph='''
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
    nbgrader="5/5",
)
