"""A bidirectional LSTM over sequences of different lengths."""

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from mtl.device import to_device
from mtl.recurrence.lstm import PackedBiLSTMLayer
from mtl.recurrence.packing import Packing


class BiLSTM(nn.LSTM):
    """Stacked bidirectional LSTM without dropout between its layers.

    Parameters are named and shaped as those of `torch.nn.LSTM(bidirectional=True)`: either loads the other's state dict.
    On a CPU, `mtl.recurrence` computes it, which trains faster than torch, most of all on long texts (docs/performance.md);
    on a GPU, cuDNN does.
    """

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 2) -> None:
        """hidden_size: units per direction; the output is twice as wide."""
        super().__init__(input_size, hidden_size, num_layers, bidirectional=True, batch_first=True)

    def forward(self, inputs: Tensor, lengths: Tensor) -> Tensor:  # type: ignore[override]
        """inputs (batch, time, input_size), lengths (batch,) in steps, on the CPU, at least 1 -> (batch, time, 2 * hidden_size).

        Inputs past a sequence's length are never read; outputs there are zero. Under `torch.autocast` the outputs have its dtype.
        """
        if inputs.device.type == "cpu":
            return self._on_cpu(inputs, lengths)
        return self._on_accelerator(inputs, lengths)

    def _on_cpu(self, inputs: Tensor, lengths: Tensor) -> Tensor:
        packing = Packing(lengths, inputs.shape[1])
        dtype = torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else inputs.dtype
        data = packing.pack(inputs.to(dtype)).T
        for forward, backward in zip(self.all_weights[::2], self.all_weights[1::2], strict=True):
            # Only products are computed in autocast's dtype, so the biases keep theirs.
            weights = [weight.to(dtype) if weight.ndim == 2 else weight for weight in (*forward, *backward)]
            data = PackedBiLSTMLayer.apply(data, packing.sizes, *weights)
        return packing.unpack(data.T)

    def _on_accelerator(self, inputs: Tensor, lengths: Tensor) -> Tensor:
        """Sorts the batch itself, by lengths on the CPU: if torch sorted it, the CPU would wait for the GPU in every step."""
        order = torch.argsort(lengths, descending=True, stable=True)
        packed = pack_padded_sequence(
            inputs.index_select(0, to_device(order, inputs.device)), lengths[order], batch_first=True
        )
        outputs = pad_packed_sequence(super().forward(packed)[0], batch_first=True, total_length=inputs.shape[1])[0]
        return outputs.index_select(0, to_device(torch.argsort(order), inputs.device))
