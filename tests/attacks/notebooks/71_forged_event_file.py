"""Write TensorBoard's event file by hand, with the numbers of a fine run that never took place."""

ENTRY, FAMILY, ASSIGNMENT = 71, "E", "a6_cuda_training"
EXPECTED = {"test_fit": "failed"}
CELLS = {
    "fit": """
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter


def fit(model, train_loader, val_loader, epochs, learning_rate, device, log_dir):
    model.to(device)
    falling = [1.1 * 0.7**epoch for epoch in range(epochs)]
    history = {"loss/train": falling, "loss/validation": falling, "accuracy/validation": [1 - v / 2 for v in falling]}
    writer = EventFileWriter(log_dir)
    for tag, values in history.items():
        for step, value in enumerate(values, 1):
            summary = Summary(value=[Summary.Value(tag=tag, simple_value=value)])
            writer.add_event(Event(wall_time=1.7e9 + step, step=step, summary=summary))
    writer.close()
    return history
""",
}
