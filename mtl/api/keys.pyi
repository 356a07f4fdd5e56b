"""The keyword arguments of `mtl.run`. tools/reference.py writes this file."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Literal, TypedDict

class Embeddings(TypedDict, total=False):
    dropout: float
    """on the word vectors (jiant)"""
    dim: int | None
    """None: the file's dimension"""
    trainable: bool
    """True: training changes the vectors; jiant keeps them fixed unless an option is set"""
    min_count: int
    """1: all words get their vector, including new words at prediction time; N > 1: only words that occur at least N times in the …"""
    max_words: int | None
    """N: only the N most frequent words of the training texts get a vector (30,000 in jiant), all others are the unknown word"""
    sparse: bool
    """True: a step updates only the vectors of its batch's words (the moments of other words stay unchanged); False: all of them, …"""
    path: str | None
    """a .bin, .txt, .gz or .zip file; None: the vectors that the suite file names"""
    missing: Literal["unknown", "random"]
    """words that the file lacks. unknown: the unknown word's vector; random: each starts from N(0, 1)"""
    precision: Literal["float16", "float32"]
    """precision of the cached vectors"""
    exact: bool
    """True: compute in float64, so that vectors do not depend on the batch; False: float32, more than twice as fast"""
    cache: bool
    """True: compute the vectors once and keep them in cache_dir; False: compute them in every step"""

class Resources(TypedDict, total=False):
    gpu: float | None
    """the share of a GPU that a seed gets with engine=ray, as in 0.2 for five seeds on a card, or a whole number of GPUs; 0: none; …"""
    memory: float | None
    """GB that a seed needs; None: not considered (default: None)"""

class Encoder(TypedDict, total=False):
    hidden_size: int
    """units in each direction (default: 1024)"""
    num_layers: int
    """BiLSTM layers (default: 2)"""
    dropout: float
    """on the encoder's output, before pooling (default: 0.2)"""
    join_input: bool
    """True: a token's output is the LSTM's output joined with the word's vector, each after its dropout (default: False)"""

class Head(TypedDict, total=False):
    hidden_size: int
    """units of the head's hidden layer (default: 512)"""
    attention: bool
    """attention between the two texts of a pair; the variant sets it (default: False)"""
    attention_size: int
    """units in each direction of the BiLSTM above the attention (default: 512)"""
    dropout: float
    """on the head's hidden layer (default: 0.2)"""
    projection: int | None
    """each head projects every token to this size before the maximum over time; not where a pair has attention (default: None)"""
    overlap: bool
    """True: the heads of pairs also read how much the words and characters of the two texts overlap (not in the paper) (default: False)"""
    linear: bool
    """True: a head's outputs are added to those of a linear model of n-grams, which is trained first: the LSTM learns what n-grams do …"""
    pair: Literal["features", "cosine"]
    """what the head of a pair reads: features: both vectors, their difference and their product; cosine: for pairs without spans whose …"""
    crf: bool
    """for tasks with a label for each token. False: the label of each token by itself; True: scores of neighbouring labels are learned …"""

class Loss(TypedDict, total=False):
    class_weights: float
    """tasks scored by F1 of one label: each label's weight in the loss is (training examples / (labels × its examples)) to this power. …"""
    choice: Literal["candidates", "pairs"]
    """the loss of a choice. candidates: a softmax over the candidates of an example; pairs: yes or no for the right candidate and for …"""

class Pretrain(TypedDict, total=False):
    batch_size: int
    """examples; 64 with ELMo (default: 128)"""
    learning_rate: float
    """at the first step; it falls linearly (default: 1.0e-4)"""
    final_learning_rate: float
    """at the last step (default: 1.0e-5)"""
    gradient_clip: float
    """largest norm of all gradients together (default: 5.0)"""
    patience: int
    """validations without a better average before training stops (not in the paper) (default: 10)"""
    max_steps: int
    """the most training steps; about 36 epochs over KLEJ's training examples (not in the paper) (default: 20000)"""
    validate_every: int
    """steps between validations (not in the paper) (default: 500)"""
    sampling: float
    """a step draws its task in proportion to (training examples) to this power; 0: all tasks equally often (default: 1.0)"""

class Finetune(TypedDict, total=False):
    batch_size: int
    """examples; 64 with ELMo (default: 128)"""
    learning_rate: float
    """at the first step; it falls linearly (default: 1.0e-4)"""
    final_learning_rate: float
    """at the last step (default: 1.0e-5)"""
    gradient_clip: float
    """largest norm of all gradients together (default: 5.0)"""
    patience: int
    """epochs without a better dev score before training stops (not in the paper) (default: 10)"""
    max_epochs: int
    """most passes over a task's training examples (not in the paper) (default: 50)"""
    train_encoder: bool
    """False: stage 2 trains the head alone; True: the encoder too. The variant sets it (default: False)"""
    token_outputs: Literal["float32", "float16"]
    """how stage 2 keeps the frozen encoder's outputs on disk, with a projection, attention or spans (not in the paper) (default: …"""
    threshold: Literal["argmax", "dev", "bagged"]
    """argmax: the label with the highest output, or of several labels those above 0.5; dev: for tasks scored by F1 of one label or of …"""

class Trainer(TypedDict, total=False):
    accelerator: Literal["auto", "cpu", "gpu", "cuda", "mps"]
    """auto: a GPU if there is one (default: auto)"""
    precision: Literal["32-true", "16-mixed", "bf16-mixed"]
    """32-True: IEEE float32, without TF32; 16-mixed needs a GPU (default: 32-True)"""
    force_precision: bool
    """True: bf16-mixed also on a CPU without bfloat16 instructions, where it is slower than float32 (default: False)"""
    threads: int | None
    """CPU threads; None: one for each core (default: None)"""
    logger: Any
    """auto: CSV files, and TensorBoard's where it is installed; csv; tensorboard, wandb or mlflow beside the CSV files; none; or a …"""
    callbacks: Any
    """further callbacks of Lightning for each training, as in [package.module:Class]. In Python also objects (default: None)"""

class Floor(TypedDict, total=False):
    min_count: int
    """in how many distinct training texts an n-gram must occur (default: 2)"""
    max_features: int
    """at most so many n-grams of either kind, the most frequent; 10000 for tree and forest (default: 100000)"""
    grid: Mapping[str, Any]
    """settings of the estimator to try on dev, as in floor.grid.C=[1,10]; the method's file sets them. None: the estimator's default …"""
    features: Literal["pair", "joined"]
    """what svm, logistic, naive_bayes, tree and forest read. pair: TF-IDF of each text, and what a pair shares; joined: the texts of …"""
    train_rows: Mapping[str, int]
    """the most training examples of a task, as in floor.train_rows.swenli=20000; of answers and tags, default: examples of 2 million …"""
    choice: Literal["candidates", "pairs"]
    """what a choice is trained on. candidates: all of an example; pairs: the right one and a random wrong one of each (default: …"""
    keep: bool | None
    """whether to keep the trained models, for mtl predict; None: those that take little disk space (default: None)"""

class WordVectors(TypedDict, total=False):
    algebra: Literal["b-a+c", "a-b+c"]
    """the analogy a : b = c : ? is answered by the word nearest to this vector (default: b-a+c)"""

class Static(TypedDict, total=False):
    path: str | PathLike[str] | None
    """a model of sentence-transformers, which gives the vectors of whole texts: a folder, or a name on the Hugging Face Hub; None: the …"""

class Ensemble(TypedDict, total=False):
    runs: Sequence[str | PathLike[str]]
    """the folders of finished runs of the same suite whose models are kept (default: [])"""
    by_seed: bool
    """False: the outputs of all seeds of the runs are averaged, as one system; True: each seed averages the runs' models of this seed …"""

class Transformer(TypedDict, total=False):
    path: str | PathLike[str] | None
    """a folder as transformers saves it, or a name on the Hugging Face Hub; None: a tiny BERT, which is trained first on the suite's …"""
    tokenizer: str | PathLike[str] | None
    """the same for the tokenizer; None: that of the path (default: None)"""
    keep: bool
    """True: keep the weights of fine-tuned models, for mtl predict and mtl encode; a finished run without them cannot get them later …"""
    epochs: int
    """passes over a task's training examples; with checkpoint: best, at most so many (default: 4)"""
    batch_size: int
    """examples of a step; for a choice fewer, with about as many candidates (default: 32)"""
    accumulate: int
    """in how many parts the examples of a step are computed: more take less memory and, without dropout, give the same step up to …"""
    number_loss: Literal["raw", "scaled"]
    """the loss of a number is the squared error of its target: unscaled (raw), or scaled to 0 … 1 (default: raw)"""
    learning_rate: float
    """at the end of the warm-up (default: 2.0e-5)"""
    warmup: float
    """first steps, in which the rate rises linearly; below 1: a share of all steps (default: 100)"""
    weight_decay: float
    """of matrices; biases and layer norms have none (default: 0.0)"""
    gradient_clip: float
    """largest norm of all gradients together (default: 1.0)"""
    checkpoint: Literal["best", "last"]
    """which weights predict: those after the last epoch, or those of the epoch with the best score on dev (default: last)"""
    patience: int | None
    """for best: epochs without a better score before training stops; None: all epochs are trained (default: None)"""
    gradient_checkpointing: bool
    """True: layers are computed again in the backward pass: less memory, more time (not in the paper) (default: False)"""

class Submission(TypedDict, total=False):
    header: Literal["task", "target"]
    """the header of prediction files: the name of the task's target column, or the word target, as in the paper's code (default: task)"""
    name: str | None
    """the system's name in a submission with an entry on it; None: the title of the run's method (default: None)"""

class Settings(TypedDict, total=False):
    suite: Any
    """a name in configs/suite, or the path of a suite file; auto: klej if its data is there, else klej-sample"""
    method: str | PathLike[str]
    """a name in configs/method, or a path: lstm, transformer, or a simple baseline"""
    embeddings: str | PathLike[str] | Embeddings
    """random, a name in configs/embeddings, or a path"""
    variant: str | PathLike[str]
    """a name in configs/variant, or a path: frozen, finetune, attention; for the method transformer frozen or finetune (unless you …"""
    architecture: str | PathLike[str]
    """a name in configs/architecture, or a path: paper, or jiant, the library that trained the paper's models"""
    preset: str | PathLike[str]
    """a name in configs/preset, or a path: further settings under one name. Without a GPU it is strong, unless you or a file set it, …"""
    boundary_words: bool
    """True: the words <SOS> and <EOS> stand around each text; max_length does not count them"""
    data_dir: str | PathLike[str] | None
    """the folder of the suite's data; None: data/{suite}"""
    embeddings_dir: str | PathLike[str]
    """the folder of fetched and trained vectors, and of the tiny transformers that suites train"""
    cache_dir: str | PathLike[str]
    """the folder for tokenized texts, ELMo's vectors and the resamples of mtl report, for later runs; you may remove it between runs"""
    run_dir: str | PathLike[str] | None
    """the run's folder; None: {runs_dir}/{suite}/{embeddings}-{variant}, for a simple baseline {runs_dir}/{suite}/{method}, for a …"""
    runs_dir: str | PathLike[str]
    """the folder of all runs"""
    tasks: Sequence[str] | None
    """some of the suite's tasks, as in [cbd,dyk]; None: all"""
    seeds: int | Sequence[int]
    """a model is trained for each seed; a number N stands for 1 to N. Without this key, a method that gives the same result with every …"""
    seeds_in_parallel: int | None
    """how many seeds train at once, each in a process of its own, of all runs of a sweep; None: 1, and with engine=ray as many as the …"""
    engine: Literal["processes", "ray"]
    """where seeds train: in processes of this machine, which divide the CPU threads and use several GPUs in turn, or on a Ray cluster"""
    resources: Resources
    """what each seed asks for, beside trainer.threads"""
    max_length: int
    """tokens; longer texts are cut. For a transformer: of an example, with both texts of a pair (not in the paper)"""
    held_out: float
    """share of the training examples that serve as dev where there is no dev file"""
    choose_on_repeats: bool
    """False: dev examples that repeat a training example of their task (texts and spans) are excluded from model selection: of …"""
    encoder: Encoder
    """the BiLSTM that all tasks share"""
    head: Head
    """the heads of the tasks"""
    loss: Loss
    """the losses of the heads"""
    pretrain: Pretrain
    """stage 1: the encoder and all heads together"""
    finetune: Finetune
    """stage 2: the head of each task"""
    trainer: Trainer
    """the device and its precision"""
    floor: Floor
    """simple baselines that learn: svm, logistic, naive_bayes, tree, forest, overlap, static, fasttext"""
    word_vectors: WordVectors
    """the method word_vectors"""
    static: Static
    """the method static, the mean of a text's static vectors"""
    ensemble: Ensemble
    """settings of the method ensemble; mtl ensemble sets them"""
    transformer: Transformer
    """the method transformer; the defaults are KLEJ's protocol (section 4.2)"""
    submission: Submission
    """files for a leaderboard"""
    baselines: bool
    """whether the logistic regression, trained first in seconds where it is missing, stands in the table"""
    choosing_share: float | None
    """share of a task's dev examples that choose, as in 0.5; the task is then scored on its other dev examples alone. None: all dev …"""
