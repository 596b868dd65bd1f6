"""Wrong answers to `run_training`."""

from autograder.bank import Wrong

BASES = {
    "one_by_one": """
def run_training(graph, nodes, batches):
    session = v1.Session(graph=graph)
    try:
        session.run(nodes["init"])

        def one(batch):
            feed = dict((nodes[key], batch[key]) for key in batch)
            loss = session.run(nodes["loss"], feed_dict=feed)
            session.run([nodes["train"]], feed_dict=feed)
            return loss.item()

        losses = [one(batch) for batch in batches]
        return losses, session.run(nodes["w"])
    finally:
        session.close()
""",
    "within_the_graph": """
def run_training(graph, nodes, batches):
    losses = []
    with graph.as_default(), v1.Session() as session:
        nodes["init"].run()
        for batch in batches:
            feed = {}
            for name in batch:
                feed[nodes[name].name] = batch[name]
            losses.append(nodes["loss"].eval(feed).tolist())
            nodes["train"].run(feed_dict=feed)
        return losses, session.run(nodes["w"])
""",
    "callable": """
def run_training(graph, nodes, batches):
    session = v1.Session(graph=graph)
    session.run(fetches=nodes["init"])
    losses, w = [], session.run(nodes["w"])
    for batch in batches:
        names = sorted(batch)
        fetches = nodes["loss"], nodes["train"]
        calls = [session.make_callable(node, feed_list=[nodes[name] for name in names]) for node in fetches]
        losses += [float([call(*map(batch.get, names)) for call in calls][0])]
        w = session.run(nodes["w"])
    return losses, w
""",
}

WRONG = [
    Wrong("wrong_no_init", "Nothing is initialized.")
    .expect(test_run_training="failed:session-without-init")
    .base("within_the_graph")
    .edit('        nodes["init"].run()\n', ""),
    Wrong("wrong_init_each_time", "Every batch begins with init.")
    .expect(test_run_training="failed:session-begins-anew")
    .breaks("initialized once, before the first batch")
    .edit("            feed = dict(", '            session.run(nodes["init"])\n            feed = dict('),
    Wrong("wrong_session_each_time", "Every batch has a session of its own.")
    .expect(test_run_training="failed:session-begins-anew")
    .whole("""def run_training(graph, nodes, batches):
    losses = []
    for batch in batches:
        with v1.Session(graph=graph) as session:
            session.run(nodes["init"])
            feed = {nodes[k]: v for k, v in batch.items()}
            losses.append(float(session.run(nodes["loss"], feed)))
            session.run(nodes["train"], feed)
            w = session.run(nodes["w"])
    return losses, w"""),
    Wrong("wrong_default_session", "The session is on the default graph.")
    .expect(test_run_training="failed:session-of-another-graph")
    .edit("v1.Session(graph=graph)", "v1.Session(graph=v1.get_default_graph())"),
    Wrong("wrong_grows", "Reading w adds a node.")
    .expect(test_run_training="partial:session-changes-the-graph")
    .breaks("Nothing is added to the graph")
    .base("within_the_graph")
    .edit('session.run(nodes["w"])', 'session.run(tf.identity(nodes["w"]))'),
    Wrong("wrong_loss_after", "The loss is asked for after the step.")
    .expect(test_run_training="failed:session-loss-after-the-step")
    .breaks("the loss of each batch, before its step")
    .edit('            loss = session.run(nodes["loss"], feed_dict=feed)\n', "")
    .edit("            return loss.item()", '            return session.run(nodes["loss"], feed).item()'),
    Wrong("wrong_one_run", "Loss and step are fetched together.")
    .expect(test_run_training="partial:session-loss-and-step-in-one-run")
    .breaks("the loss of each batch, before its step")
    .edit('loss = session.run(nodes["loss"]', 'loss, _ = session.run([nodes["loss"], nodes["train"]]')
    .edit('            session.run([nodes["train"]], feed_dict=feed)\n', ""),
    Wrong("wrong_one_callable", "One callable makes the step and gives the loss.")
    .expect(test_run_training="partial:session-loss-and-step-in-one-run")
    .base("callable")
    .edit('fetches = nodes["loss"], nodes["train"]', 'fetches = [(nodes["loss"], nodes["train"])]')
    .edit("for call in calls][0])", "for call in calls][0][0])"),
    Wrong("wrong_two_names", "Only x and y are fed.")
    .expect(test_run_training="partial:session-feeds-x-and-y-alone")
    .breaks("All that it names is fed")
    .edit("for key in batch)", 'for key in ("x", "y"))'),
    Wrong("wrong_feeds_stay", "One dict of feeds for all batches.")
    .expect(test_run_training="partial:session-feeds-of-earlier-batches")
    .breaks("All that it names is fed")
    .base("within_the_graph")
    .edit(
        "        for batch in batches:\n            feed = {}\n",
        "        feed = {}\n        for batch in batches:\n",
    ),
    Wrong("wrong_feeds_updated", "The dict of feeds is updated.")
    .expect(test_run_training="partial:session-feeds-of-earlier-batches")
    .edit("        def one(batch):\n", "        feed = {}\n\n        def one(batch):\n")
    .edit(
        "feed = dict((nodes[key], batch[key]) for key in batch)",
        "feed.update({nodes[key]: batch[key] for key in batch})",
    ),
    Wrong("wrong_losses_of_numpy", "The losses are what the session returns.")
    .expect(test_run_training="failed:session-losses-not-floats")
    .breaks("`losses` is a list of Python floats")
    .edit("return loss.item()", "return loss"),
    Wrong("wrong_losses_evaluated", "The losses are what eval returns.")
    .expect(test_run_training="failed:session-losses-not-floats")
    .base("within_the_graph")
    .edit("eval(feed).tolist()", "eval(feed)"),
    Wrong("wrong_w_as_a_list", "w is a list.")
    .expect(test_run_training="failed")
    .breaks("`w` is the value of the variable after the last step, an array")
    .edit('return losses, session.run(nodes["w"])', 'return losses, session.run(nodes["w"]).tolist()'),
    Wrong("wrong_trains_twice", "The step is fetched in both runs.")
    .expect(test_run_training="failed:session-trains-twice")
    .breaks("For each batch, in order, `train` runs once")
    .edit(
        "            return loss.item()",
        '            session.run(nodes["train"], feed)\n            return loss.item()',
    ),
    Wrong("wrong_never_trains", "The step is never fetched.")
    .expect(test_run_training="failed:session-never-trains")
    .edit('            session.run([nodes["train"]], feed_dict=feed)\n', ""),
    Wrong("wrong_w_before", "w is read before the last step.")
    .expect(test_run_training="failed")
    .breaks("is the value of the variable after the last step")
    .base("callable")
    .edit('        w = session.run(nodes["w"])\n', ""),
    Wrong("wrong_order_of_results", "The two results are exchanged.")
    .expect(test_run_training="failed")
    .breaks("and returns the tuple `(losses, w)`")
    .edit('return losses, session.run(nodes["w"])', 'return session.run(nodes["w"]), losses'),
    Wrong("wrong_feeds_positions", "The batch is fed by its order.")
    .expect(test_run_training="failed")
    .breaks("Each batch is a dict")
    .edit("dict((nodes[key], batch[key]) for key in batch)", 'dict(zip((nodes["y"], nodes["x"]), batch.values()))'),
]
