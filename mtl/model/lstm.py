"""A bidirectional LSTM over sequences of unlike length."""

from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from mtl.recurrence.lstm import PackedBiLSTMLayer


class BiLSTM(nn.LSTM):
    """Stacked bidirectional LSTM without dropout between its layers.

    Parameters are named and shaped as those of `torch.nn.LSTM(bidirectional=True)`: either loads the other's state.
    On the CPU it runs on `mtl.recurrence`, which trains faster the longer the texts
    (docs/performance.md); on a GPU on cuDNN.
    """

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 2) -> None:
        """hidden_size: units per direction; the output is twice as wide."""
        super().__init__(input_size, hidden_size, num_layers, bidirectional=True, batch_first=True)

    def forward(self, inputs: Tensor, lengths: Tensor) -> Tensor:  # type: ignore[override]
        """inputs (batch, time, input_size), lengths (batch,) in steps, at least 1 -> (batch, time, 2 * hidden_size).

        What stands past a sequence's length is never read, and zero in the output.
        """
        packed = pack_padded_sequence(inputs, lengths.cpu(), batch_first=True, enforce_sorted=False)
        outputs = self._on_cpu(packed) if inputs.device.type == "cpu" else super().forward(packed)[0]
        return pad_packed_sequence(outputs, batch_first=True, total_length=inputs.shape[1])[0]

    def _on_cpu(self, packed: PackedSequence) -> PackedSequence:
        data, sizes = packed.data.T, packed.batch_sizes.tolist()
        for forward, backward in zip(self.all_weights[::2], self.all_weights[1::2], strict=True):
            data = PackedBiLSTMLayer.apply(data, sizes, *forward, *backward)
        return packed._replace(data=data.T.contiguous())
