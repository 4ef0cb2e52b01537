# Every command that this course needs. `make` alone lists them.
# Debian or Ubuntu with Python 3.11 or later, python3-venv and git; nothing else.

PYTHON ?= python3
ADDRESS ?= 127.0.0.1:8000
# Stages of `make test` to run; empty: all (python3 -m tools.stages shows their names).
STAGES ?=
# Files for `make fix`; empty: all that readers read.
FILES ?=
# A page, or one of its sections: NAME='peft/lora#alpha'; of a language: NAME=Español CODE=es.
NAME ?=
# Where `make newest` and `make outside` write what failed; what `make issue` reads, for the issue of this title.
REPORT ?=
TITLE ?=
CODE ?=
# UNCHANGED=1: what changed was a typo, the other languages need not follow.
UNCHANGED ?=
SITE := .venv/bin/python
# BLESS=1: you looked at the pictures that `make looks` took, and they are right.
BLESS ?=
export NO_MKDOCS_2_WARNING := 1

.DEFAULT_GOAL := help
.PHONY: help looks python serve build check test format clean fix status diff confirm newest outside issue addresses new

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "error: Python 3.11 or later is needed, and $(PYTHON) is not" >&2; \
	  echo "  mend: install one (sudo apt install python3.11 python3.11-venv), then make PYTHON=python3.11 $(MAKECMDGOALS)" >&2; \
	  exit 1; }

serve: python ## read the course here, the pages follow each change (ADDRESS=127.0.0.1:8000)
	@$(PYTHON) -m tools.environment site
	@$(SITE) -m tools.serve $(ADDRESS)

build: python ## build into site/; a failed build leaves the last good one there
	@$(PYTHON) -m tools.environment site
	@$(SITE) -m tools.build_site

check: python ## the quick checks: format, lint, data files, unit tests
	@$(PYTHON) -m tools.stages lint unit

test: python ## every check there is, installing what they need
	@$(PYTHON) -m tools.stages $(STAGES)

format: python ## rewrite Python in the one format
	@$(PYTHON) -m tools.environment dev
	@$(SITE) -m ruff format . && $(SITE) -m ruff check --fix .

fix: python ## mend spaces, marks and digits in texts, where no judgement is needed (FILES=…)
	@$(PYTHON) -m tools.environment site
	@PYTHONPATH=hooks $(SITE) -m dabt fix $(FILES)

status: python ## what to translate or to review next, in each language
	@$(PYTHON) -m tools.environment site
	@PYTHONPATH=hooks $(SITE) -m dabt status

diff: python ## which words changed in what is to review (NAME=peft/lora)
	@$(PYTHON) -m tools.environment site
	@PYTHONPATH=hooks $(SITE) -m tools.translation_diff $(if $(NAME),"$(NAME)")

confirm: python ## you read it in each language: they teach the same (NAME='peft/lora#alpha')
	@$(PYTHON) -m tools.environment site
	@PYTHONPATH=hooks $(SITE) -m dabt confirm $(if $(UNCHANGED),--unchanged) $(if $(NAME),"$(NAME)")

new: python ## add a language (CODE=es NAME=Español)
	@$(PYTHON) -m tools.environment site
	@PYTHONPATH=hooks $(SITE) -m dabt new "$(CODE)" --name "$(NAME)"

addresses: python ## add new pages and sections to the list of addresses that never vanish
	@$(PYTHON) -m tools.environment site
	@PYTHONPATH=hooks $(SITE) -m dabt addresses

newest: python ## run the programs on the newest libraries instead of the pinned ones (REPORT=file)
	@$(PYTHON) -m tools.newest $(if $(REPORT),--report "$(REPORT)")

outside: python ## do the links to other sites still lead somewhere? asks the network (REPORT=file)
	@$(PYTHON) -m tools.environment dev
	@PYTHONPATH=hooks $(SITE) -m tools.outside_links $(if $(REPORT),--report "$(REPORT)")

issue: python ## bring the one issue of a subject in line with a report (TITLE=… REPORT=file)
	@$(PYTHON) -m tools.standing_issue "$(TITLE)" "$(REPORT)"

looks: python ## compare pages with the pictures of them that somebody looked at (BLESS=1: keep the new ones)
	@$(PYTHON) -m tools.environment dev
	@$(SITE) -m tools.browser
	@PYTHONPATH=hooks $(SITE) -m tools.looks $(if $(BLESS),--bless)

clean: ## remove what was built and every cache; the environments stay
	rm -rf site .build .pytest_cache .ruff_cache .rumdl_cache .hypothesis test-results
	find . -name __pycache__ -not -path './.venv*' -prune -exec rm -rf {} +
