"""Wrong answers to `backward`."""

from autograder.bank import Wrong

RECURSIVE = """
def backward(tensor, gradient=None, retain_graph=False):
    if gradient is None:
        if tensor.data.size > 1:
            raise RuntimeError("not a single number")
        gradient = np.ones(tensor.shape)
    order, seen = [], set()
    def visit(t):
        if id(t) not in seen:
            seen.add(id(t))
            for s in t.inputs:
                if s.requires_grad:
                    visit(s)
            order.append(t)
    visit(tensor)
    total = {id(t): 0 for t in order}
    total[id(tensor)] = gradient
    for t in order[::-1]:
        g = total[id(t)]
        if t.vjp is None:
            if t.requires_grad:
                t.grad = np.array(g) if t.grad is None else t.grad + g
            continue
        for s, n in t.saved:
            if s.version[0] != n:
                raise RuntimeError("changed")
        for s, part in zip(t.inputs, t.vjp(g)):
            if s.requires_grad:
                total[id(s)] = total[id(s)] + part
        if not retain_graph:
            def spent(gradient):
                raise RuntimeError("spent")
            t.inputs, t.saved, t.vjp = (), (), spent
"""

PATHS = """
def backward(tensor, gradient=None, retain_graph=False):
    if gradient is None:
        if tensor.data.size > 1:
            raise RuntimeError("not a single number")
        gradient = np.ones(tensor.shape)
    stack, met = [(tensor, gradient)], []
    while stack:
        t, g = stack.pop()
        if t.vjp is None:
            if t.requires_grad:
                t.grad = np.array(g) if t.grad is None else t.grad + g
        else:
            if not all(s.version[0] == n for s, n in t.saved):
                raise RuntimeError("changed")
            met.append(t)
            stack.extend(pair for pair in zip(t.inputs, t.vjp(g)) if pair[0].requires_grad)
    def spent(gradient):
        raise RuntimeError("spent")
    if not retain_graph:
        for t in met:
            t.inputs, t.saved, t.vjp = (), (), spent
"""

IN_ORDER = """
import collections


def backward(tensor, gradient=None, retain_graph=False):
    if gradient is None:
        if tensor.data.size != 1:
            raise RuntimeError("several numbers")
        gradient = np.ones(tensor.shape)
    order, found, line = [], {id(tensor)}, collections.deque([tensor])
    while line:
        t = line.popleft()
        order.append(t)
        for s in t.inputs:
            if s.requires_grad and id(s) not in found:
                found.add(id(s))
                line.append(s)
    total = {id(tensor): gradient}
    for t in order:
        g = total.pop(id(t))
        if t.vjp is None:
            if t.requires_grad:
                t.grad = np.array(g) if t.grad is None else t.grad + g
            continue
        for s, n in t.saved:
            if s.version[0] != n:
                raise RuntimeError("changed")
        for s, part in zip(t.inputs, t.vjp(g)):
            if s.requires_grad:
                total[id(s)] = total.get(id(s), 0) + part
        if not retain_graph:
            def spent(gradient):
                raise RuntimeError("spent")
            t.inputs, t.saved, t.vjp = (), (), spent
"""

IN_PLACE = """
def backward(tensor, gradient=None, retain_graph=False):
    if gradient is None:
        if tensor.data.size != 1:
            raise RuntimeError("several numbers")
        gradient = np.ones(tensor.shape)
    # White tensors are new, gray ones wait for their inputs, black ones are done.
    color, done, stack = {}, [], [tensor]
    while stack:
        t = stack[-1]
        if id(t) not in color:
            color[id(t)] = "gray"
            stack += [s for s in t.inputs if s.requires_grad and id(s) not in color]
        else:
            stack.pop()
            if color[id(t)] == "gray":
                color[id(t)] = "black"
                done.append(t)
    total = {id(tensor): np.array(gradient, dtype=float)}
    while done:
        t = done.pop()
        g = total.pop(id(t))
        if t.vjp is None:
            if t.requires_grad:
                t.grad = np.array(g) if t.grad is None else t.grad + g
            continue
        if any(s.version[0] != n for s, n in t.saved):
            raise RuntimeError("changed")
        for s, part in zip(t.inputs, t.vjp(g)):
            if s.requires_grad and id(s) in total:
                total[id(s)] += part
            elif s.requires_grad:
                total[id(s)] = part
        if not retain_graph:
            def spent(gradient):
                raise RuntimeError("spent")
            t.inputs, t.saved, t.vjp = (), (), spent
"""

WHEN_PUSHED = """
def arranged(tensor):
    order, seen, stack = [], {id(tensor)}, [(tensor, False)]
    while stack:
        t, finished = stack.pop()
        if finished:
            order.append(t)
            continue
        stack.append((t, True))
        for s in t.inputs:
            if s.requires_grad and id(s) not in seen:
                seen.add(id(s))
                stack.append((s, False))
    return order[::-1]


def backward(tensor, gradient=None, retain_graph=False):
    if gradient is None:
        if tensor.data.size != 1:
            raise RuntimeError("several numbers")
        gradient = np.ones(tensor.shape)
    order = arranged(tensor)
    total = {id(t): np.zeros(t.shape) for t in order}
    total[id(tensor)] = np.array(gradient, dtype=float)
    for t in order:
        if getattr(t, "spent", False):
            raise RuntimeError("spent")
    for t in order:
        g = total[id(t)]
        if t.vjp is None:
            t.grad = np.array(g) if t.grad is None else t.grad + g
            continue
        if any(s.version[0] != n for s, n in t.saved):
            raise RuntimeError("changed")
        for s, part in zip(t.inputs, t.vjp(g)):
            if s.requires_grad:
                total[id(s)] = total[id(s)] + part
    if not retain_graph:
        for t in order:
            t.spent = t.vjp is not None
            t.inputs, t.saved, t.vjp = (), (), None
"""

BASES = {
    "kahn": """
def backward(tensor, gradient=None, retain_graph=False):
    if gradient is None:
        if tensor.data.size > 1:
            raise RuntimeError("not a single number")
        gradient = np.ones(tensor.shape)
    # Count who waits for whom, then take whoever waits for nobody (Kahn).
    users, found, todo = {}, {id(tensor)}, [tensor]
    while todo:
        for t in todo.pop().inputs:
            users[id(t)] = users.get(id(t), 0) + 1
            if id(t) not in found:
                found.add(id(t))
                todo.append(t)
    arriving = {id(tensor): gradient.astype(float)}
    ready = [tensor]
    while ready:
        t = ready.pop()
        g = arriving.pop(id(t))
        if t.vjp is None:
            if t.requires_grad:
                t.grad = g.copy() if t.grad is None else t.grad + g
            continue
        if any(s.version[0] != n for s, n in t.saved):
            raise RuntimeError("changed in place")
        back = t.vjp(g)
        inputs = t.inputs
        if not retain_graph:
            def gone(gradient):
                raise RuntimeError("used already")
            t.vjp, t.inputs, t.saved = gone, (), ()
        for parent, part in zip(inputs, back):
            if id(parent) in arriving:
                arriving[id(parent)] = arriving[id(parent)] + part
            else:
                arriving[id(parent)] = part
            users[id(parent)] -= 1
            if users[id(parent)] == 0:
                ready.append(parent)
""",
}


WRONG = [
    Wrong("wrong_backward_constants_unwatched", "Versions of tensors that require no gradients are not looked at.")
    .expect(test_backward="partial:versions-of-constants-not-compared")
    .breaks("If a tensor in `saved` no longer has the version")
    .edit("s.version[0] != n for", "s.version[0] != n and s.requires_grad for"),
    Wrong("wrong_backward_overwritten", "A later use replaces the gradient of an earlier one.")
    .expect(test_backward="partial:gradients-overwritten")
    .breaks("with the sum of the gradients from all uses")
    .edit("arriving[id(parent)] = arriving[id(parent)] + part", "arriving[id(parent)] = part"),
    Wrong("wrong_backward_leaf_overwritten", "Every pass starts .grad anew.")
    .expect(test_backward="partial:leaf-overwritten")
    .breaks("What was there before is added to")
    .edit("t.grad = g.copy() if t.grad is None else t.grad + g", "t.grad = g.copy()"),
    Wrong("wrong_backward_gradient_ignored", "Always starts from ones.")
    .expect(test_backward="failed:gradient-ignored")
    .breaks("`gradient`: the gradient of the loss with respect to `tensor`")
    .edit("gradient.astype(float)", "np.ones(tensor.shape)"),
    Wrong("wrong_backward_results_get_gradients", "Writes .grad into every tensor on the way.")
    .expect(test_backward="partial:results-get-gradients")
    .breaks("No other tensor gets a `.grad`")
    .edit("        if any(s.version[0]", "        t.grad = g\n        if any(s.version[0]"),
    Wrong("wrong_backward_piles_up", "Results add up their gradients over passes.")
    .expect(test_backward="partial:results-pile-up")
    .breaks("and the next backward pass works")
    .edit(
        "        if any(s.version[0]",
        "        t.total = g = g + getattr(t, 'total', 0)\n        if any(s.version[0]",
    ),
    Wrong("wrong_backward_constants", "Constants get gradients, too.")
    .expect(test_backward="partial:constants-get-gradients")
    .breaks("No other tensor gets a `.grad`")
    .edit("            if t.requires_grad:\n                t.grad", "            if True:\n                t.grad"),
    Wrong("wrong_backward_paths", "Walks every path.")
    .expect(test_backward="partial:every-path-walked")
    .breaks("One backward pass calls each `vjp` once")
    .whole(PATHS),
    Wrong("wrong_backward_breadth_first", "Depth-first from the result, each tensor when it is met.")
    .expect(test_backward="partial:order-not-topological")
    .whole("""
def backward(tensor, gradient=None, retain_graph=False):
    if gradient is None:
        if tensor.data.size > 1:
            raise RuntimeError("not a single number")
        gradient = np.ones(tensor.shape)
    order, seen, stack = [], [], [tensor]
    met = set()
    while stack:
        t = stack.pop()
        if id(t) not in met:
            met.add(id(t))
            order.append(t)
            stack += [s for s in t.inputs if s.requires_grad]
    total = {id(tensor): gradient}
    for t in order:
        g = total.pop(id(t))
        if t.vjp is None:
            if t.requires_grad:
                t.grad = np.array(g) if t.grad is None else t.grad + g
            continue
        for s, n in t.saved:
            if s.version[0] != n:
                raise RuntimeError("changed")
        for s, part in zip(t.inputs, t.vjp(g)):
            if s.requires_grad:
                total[id(s)] = total.get(id(s), 0) + part
        if not retain_graph:
            def spent(gradient):
                raise RuntimeError("spent")
            t.inputs, t.saved, t.vjp = (), (), spent
"""),
    Wrong("wrong_backward_shares", "The first gradient of a leaf is stored as it came.")
    .expect(test_backward="partial:leaf-shares-its-gradient")
    .breaks("The array is the leaf's own")
    .edit("gradient.astype(float)", "gradient")
    .edit("t.grad = g.copy() if t.grad is None else t.grad + g", "t.grad = g if t.grad is None else t.grad + g"),
    Wrong("wrong_backward_adds_in_place", "+= on an array that another leaf has, too.")
    .expect(test_backward="partial:leaf-adds-in-place")
    .breaks("The array is the leaf's own")
    .edit("gradient.astype(float)", "gradient")
    .edit(
        "t.grad = g.copy() if t.grad is None else t.grad + g",
        "if t.grad is None:\n                    t.grad = g\n                else:\n                    t.grad += g",
    ),
    Wrong("wrong_backward_recursion", "Visits the graph by calling itself.")
    .expect(test_backward="partial:recursion")
    .breaks("A chain of 50,000 operations works")
    .whole(RECURSIVE),
    Wrong(
        "wrong_backward_no_visited", "Lists a tensor once for every path, and passes on all of its gradient each time."
    )
    .expect(test_backward="partial")
    .whole(RECURSIVE.replace("if id(t) not in seen:", "if True:")),
    Wrong("wrong_backward_not_forgotten", "retain_graph makes no difference: nothing is forgotten.")
    .expect(test_backward="partial:graph-not-forgotten")
    .breaks("A later backward pass that reaches such a result raises")
    .edit("if not retain_graph:", "if retain_graph is None:"),
    Wrong("wrong_backward_always_forgotten", "retain_graph makes no difference: everything is forgotten.")
    .expect(test_backward="partial:graph-always-forgotten")
    .breaks("With `retain_graph=True` nothing is forgotten")
    .edit("if not retain_graph:", "if tensor is not None:"),
    Wrong("wrong_backward_used_is_leaf", "A used result looks like a leaf.")
    .expect(test_backward="partial:used-result-taken-for-a-leaf")
    .breaks("A later backward pass that reaches such a result raises")
    .edit("t.vjp, t.inputs, t.saved = gone, (), ()", "t.vjp, t.inputs, t.saved = None, (), ()"),
    Wrong("wrong_backward_vjp_kept", "Refuses a second use by a mark, and keeps the vjp.")
    .expect(test_backward="partial:vjp-kept-in-memory")
    .breaks("so that the memory is free even while a result is still in use")
    .edit("t.vjp, t.inputs, t.saved = gone, (), ()", "t.was, t.vjp, t.inputs, t.saved = t.vjp, gone, (), ()"),
    Wrong("wrong_backward_saved_kept", "Keeps the saved tensors.")
    .expect(test_backward="partial:saved-kept-in-memory")
    .breaks("so that the memory is free even while a result is still in use")
    .edit("t.vjp, t.inputs, t.saved = gone, (), ()", "t.vjp, t.inputs = gone, ()"),
    Wrong("wrong_backward_versions", "Versions are not compared.")
    .expect(test_backward="partial:versions-not-compared")
    .breaks("no longer has the version that was noted")
    .edit("any(s.version[0] != n for s, n in t.saved)", "t.inputs is None"),
    Wrong("wrong_backward_several", "Several numbers are summed without being asked.")
    .expect(test_backward="partial:several-numbers-taken-for-a-loss")
    .breaks("If it holds several, raise")
    .edit("tensor.data.size > 1", "tensor.data is None"),
    Wrong("wrong_backward_shape_of_one", "Takes a number of shape () alone.")
    .expect(test_backward="partial:single-number-refused")
    .breaks("it holds one number, and the gradient is 1")
    .edit("tensor.data.size > 1", "tensor.shape != ()"),
    Wrong("wrong_backward_returns", "Returns the gradients, and leaves none.")
    .expect(test_backward="failed")
    .breaks("It returns nothing, and leaves gradients in the leaves")
    .edit("t.grad = g.copy() if t.grad is None else t.grad + g", "users[t] = g")
    .edit(
        "            users[id(parent)] -= 1", "            users[id(parent)] -= 1  # a dict of counts, and of gradients"
    ),
    Wrong("wrong_backward_first_input", "Only the first input gets a gradient.")
    .expect(test_backward="failed")
    .breaks("Every leaf that requires gradients and from which `tensor` was computed")
    .edit("zip(inputs, back)", "zip(inputs[:1], back)"),
    Wrong("wrong_backward_by_distance", "Breadth first from the result, each tensor when it is met.")
    .expect(test_backward="partial:order-by-distance")
    .breaks("with the sum of the gradients from all uses")
    .whole(IN_ORDER),
    Wrong("wrong_backward_by_distance_leaves_last", "Breadth first, and leaves are given their sums at the end.")
    .expect(test_backward="partial:order-by-distance-leaves-last")
    .breaks("with the sum of the gradients from all uses")
    .whole(IN_ORDER.replace("for t in order:", "for t in sorted(order, key=lambda t: t.vjp is None):")),
    Wrong("wrong_backward_met_at_once_leaves_last", "Depth first, and leaves are given their sums at the end.")
    .expect(test_backward="partial:order-not-topological-leaves-last")
    .whole(IN_ORDER.replace("popleft", "pop").replace("in order:", "in sorted(order, key=lambda t: t.vjp is None):")),
    Wrong("wrong_backward_shares_new_arrays", "Copied is what a vjp hands on, and not what it returns anew.")
    .expect(test_backward="partial:leaves-share-a-new-array")
    .breaks("The array is the leaf's own")
    .edit("arriving[id(parent)] = part", "arriving[id(parent)] = part.copy() if np.shares_memory(part, g) else part")
    .edit("t.grad = g.copy() if t.grad is None else t.grad + g", "t.grad = g if t.grad is None else t.grad + g"),
    Wrong("wrong_backward_met_at_once", "Depth first, and a tensor counts as seen when it is put on the stack.")
    .expect(test_backward="partial:order-not-topological-marked-early")
    .whole(IN_ORDER.replace("popleft", "pop")),
    Wrong("wrong_backward_sums_in_place", "A second gradient is added into the array that a vjp has returned.")
    .expect(test_backward="partial:summed-in-place")
    .breaks("with the sum of the gradients from all uses")
    .whole(IN_PLACE),
    Wrong("wrong_backward_sums_into_the_start", "The same, and the gradient that was passed is not copied either.")
    .expect(test_backward="partial:summed-in-place")
    .whole(IN_PLACE.replace("np.array(gradient, dtype=float)", "gradient")),
    Wrong("wrong_backward_sums_along_iterators", "The same, in another order: the path holds an iterator per tensor.")
    .expect(test_backward="partial:summed-in-place")
    .base("right_iterators")
    .edit("g = sum(parts.pop(id(t)), np.zeros(t.shape))", "[g] = parts.pop(id(t))")
    .edit(
        "                    parts.setdefault(id(s), []).append(part)",
        """                    if id(s) in parts:
                        parts[id(s)][0] += part
                    else:
                        parts[id(s)] = [part]""",
    ),
    Wrong("wrong_backward_sums_as_counted", "The same, with Kahn's order.")
    .expect(test_backward="partial:summed-in-place")
    .edit("arriving[id(parent)] = arriving[id(parent)] + part", "arriving[id(parent)] += part"),
    Wrong("wrong_backward_leaves_share", "The given gradient is copied, the first gradient of a leaf is not.")
    .expect(test_backward="partial:leaves-share-a-gradient")
    .breaks("The array is the leaf's own")
    .edit("t.grad = g.copy() if t.grad is None else t.grad + g", "t.grad = g if t.grad is None else t.grad + g"),
    Wrong("wrong_backward_leaves_grow_together", "The given gradient is copied, and += is used on the others.")
    .expect(test_backward="partial:leaf-adds-in-place-after-a-copy")
    .breaks("The array is the leaf's own")
    .edit(
        "t.grad = g.copy() if t.grad is None else t.grad + g",
        "if t.grad is None:\n                    t.grad = g\n                else:\n                    t.grad += g",
    ),
    Wrong("wrong_backward_asks_the_result_alone", "Only the tensor that the pass starts from is asked for its past.")
    .expect(test_backward="partial:used-part-not-noticed")
    .breaks("A later backward pass that reaches such a result raises")
    .edit(
        "    if gradient is None:",
        "    if hasattr(tensor, 'spent'):\n        raise RuntimeError('used already')\n    if gradient is None:",
    )
    .edit("t.vjp, t.inputs, t.saved = gone, (), ()", "t.vjp, t.inputs, t.saved, t.spent = None, (), (), True"),
    Wrong(
        "wrong_backward_marks_when_pushed", "Marks a tensor when it is pushed, and lists it when its inputs are done."
    )
    .expect(test_backward="partial:order-marked-when-pushed")
    .breaks("with the sum of the gradients from all uses")
    .whole(WHEN_PUSHED),
    Wrong("wrong_backward_marks_when_pushed_last_first", "The same, from the last input on.")
    .expect(test_backward="partial:order-marked-when-pushed-from-the-end")
    .whole(WHEN_PUSHED.replace("in t.inputs:\n            if", "in reversed(t.inputs):\n            if")),
    Wrong("wrong_backward_keeps_without_saved", "A kept graph loses its saved tensors.")
    .expect(test_backward="partial:kept-graph-forgets-saved")
    .breaks("With `retain_graph=True` nothing is forgotten")
    .edit("        inputs = t.inputs\n", "        inputs, t.saved = t.inputs, ()\n"),
    Wrong("wrong_backward_checks_once", "The same: the pairs are gone after the comparison.")
    .expect(test_backward="partial:kept-graph-forgets-saved")
    .base("right_iterators")
    .edit(
        '                raise RuntimeError("changed")\n',
        '                raise RuntimeError("changed")\n            del t.saved[:]\n',
    ),
    Wrong("wrong_backward_one_number_starts_from_one", "If the tensor holds one number, the pass starts from 1.")
    .expect(test_backward="partial:gradient-of-one-number-ignored")
    .breaks("the gradient of the loss with respect to `tensor`")
    .edit("    if gradient is None:", "    if gradient is None or np.size(tensor.data) == 1:"),
    Wrong("wrong_backward_inputs_kept", "Forgets the functions and what was saved, and keeps the inputs.")
    .expect(test_backward="partial:inputs-kept-in-memory")
    .breaks("so that the memory is free even while a result is still in use")
    .edit("t.vjp, t.inputs, t.saved = gone, (), ()", "t.vjp, t.saved = gone, ()"),
    Wrong("wrong_backward_compares_late", "Compares the versions after it has called the function.")
    .expect(test_backward="partial:vjp-called-before-the-comparison")
    .breaks("in place of calling that `vjp`")
    .edit("        if any(s.version", "        back = t.vjp(g)\n        if any(s.version")
    .edit("        back = t.vjp(g)\n        inputs", "        inputs"),
    Wrong("wrong_backward_returns_what_is_left", "Returns the gradients that it has not delivered: an empty dict.")
    .expect(test_backward="partial:backward-returns")
    .breaks("It returns nothing, and leaves gradients in the leaves")
    .edit("                ready.append(parent)", "                ready.append(parent)\n    return arriving"),
    Wrong("wrong_backward_compares_the_start", "Only what the tensor itself has saved is compared.")
    .expect(test_backward="partial:versions-of-results-alone-compared")
    .breaks("no longer has the version that was noted")
    .edit("        if any(s.version[0] != n", "        if t is tensor and any(s.version[0] != n"),
    Wrong("wrong_backward_raises_the_limit", "Recursion, under a limit that it raises itself.")
    .expect(test_backward="partial:recursion")
    .breaks("with Python's recursion limit as it is")
    .whole(
        RECURSIVE.replace("    visit(tensor)", "    import sys\n    sys.setrecursionlimit(200_000)\n    visit(tensor)")
    ),
]
