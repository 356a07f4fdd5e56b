# Every target installs what it needs first, once, and again when setup.cfg or constraints.txt change.
PYTHON ?= python3
METHOD ?= lstm
EMB ?= random
VARIANT ?= frozen
SEEDS ?= 5
SUITE ?=
DATA ?=
RUN ?=
ARGS ?=

VENV := .venv
# Modules are compiled once, also where the environment forbids it: else each of the tests' processes compiles them again.
export PYTHONDONTWRITEBYTECODE :=
comma := ,
empty :=
space := $(empty) $(empty)

# A command installs the extras of setup.cfg that it needs; the tests need all of them.
EXTRAS := $(if $(filter lstm word_vectors static,$(METHOD)),$(filter elmo fasttext gensim,$(EMB:word2vec=gensim))) $(filter transformers fasttext,$(METHOD:transformer=transformers))
TESTS := $(VENV)/installed-test,lint,docs
installed_with = $(or $(wildcard $(TESTS)),$(VENV)/installed-$(or $(subst $(space),$(comma),$(strip $(1))),core))

.PHONY: help baseline mteb test test-all lint docs bench
help:
	@echo "make baseline [METHOD=lstm|transformer|random|constant|uniform|majority|overlap|svm|logistic|naive_bayes|fasttext|static|tree|forest|lead|word_vectors] [EMB=random|fasttext|glove|word2vec|elmo] [VARIANT=frozen|finetune|attention] [SUITE=name|path] [DATA=dir] [SEEDS=5] [ARGS=\"key=value …\"]"
	@echo "make mteb RUN=dir|average [DATA=dir] [ARGS=\"key=value …\"]"
	@echo "make test | make test-all | make lint | make docs | make bench [DATA=dir]"

$(VENV)/installed-%: setup.cfg pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "mtl needs Python 3.11 or newer; name one with PYTHON="; exit 2; }
	@echo "installing into $(VENV) (once; takes a few minutes)"
	@$(PYTHON) -m venv $(VENV)
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt --editable '.$(if $(filter core,$*),,[$*])'
	@touch $@

baseline: $(call installed_with,$(EXTRAS))
	@$(VENV)/bin/mtl baseline $(if $(SUITE),suite='$(SUITE)') \
		$(if $(filter lstm,$(METHOD)),embeddings='$(EMB)' variant='$(VARIANT)',method='$(METHOD)' \
		$(if $(findstring command,$(origin EMB)),embeddings='$(EMB)') \
		$(if $(findstring command,$(origin VARIANT)),variant='$(VARIANT)')) \
		$(if $(DATA),data_dir='$(DATA)') $(if $(filter-out file,$(origin SEEDS)),seeds='$(SEEDS)') $(ARGS)

mteb: $(call installed_with,mteb)
	@$(if $(RUN),,echo "name a run's folder, or average: make mteb RUN=runs/klej/fasttext-frozen"; exit 2;) \
		$(VENV)/bin/mtl mteb '$(RUN)' $(if $(DATA),data_dir='$(DATA)') $(ARGS)

test: $(TESTS)
	@$(VENV)/bin/python -m pytest --numprocesses auto --dist worksteal -m "not slow and not ray and not browser"

# All tests, most of them once: quick ones of the core in a copy without the wings, which one of the tests makes; make test has them beside the wings.
test-all: $(TESTS)
	@$(VENV)/bin/python -m pytest --numprocesses auto --dist loadgroup --once

lint: $(TESTS)
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/mypy

# Fails for a broken link or anchor, and for a page that no other page and no menu leads to.
docs: $(TESTS)
	@NO_MKDOCS_2_WARNING=1 OMP_NUM_THREADS=1 $(VENV)/bin/python -m mkdocs build --strict
	@echo "the site is in build/site"

bench: $(TESTS)
	@$(VENV)/bin/python benchmarks/startup.py
	@$(VENV)/bin/python benchmarks/encoder.py --runs 3 $(if $(DATA),--data '$(DATA)')
	@$(VENV)/bin/python benchmarks/bf16.py --hidden 128 --batch 32 --runs 1 --product 512
	@$(VENV)/bin/python benchmarks/stage1.py $(if $(DATA),--data '$(DATA)')
	@$(VENV)/bin/python benchmarks/stage2.py $(if $(DATA),--data '$(DATA)')
	@$(VENV)/bin/python benchmarks/scaling.py --out build/bench/scaling.svg
	@$(VENV)/bin/python benchmarks/elmo_layer.py --cells 512 --projection 128 --runs 3
	@$(VENV)/bin/python benchmarks/vector_loading.py --model build/bench/vectors.bin
	@$(VENV)/bin/python benchmarks/pretrain_steps.py
	@$(VENV)/bin/python benchmarks/report_size.py --runs 10
