from tests.attacks.corpus import variant

ast_transformer = variant(
    "Register an AST transformer that takes every assert out of later cells.",
    with_wrong='''
import ast
class Remove(ast.NodeTransformer):
    """Asserts, and calls of the course's checks."""
    def visit_Assert(self, node): return ast.copy_location(ast.Pass(), node)
    def visit_Expr(self, node):
        return ast.copy_location(ast.Pass(), node) if "checks" in ast.dump(node) else node
get_ipython().ast_transformers.append(Remove())''',
)
