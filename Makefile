# make            build the tools and the library into build/release
# make help       this list
# make demo       set-up, build, and a whole pipeline on real images
# make test       set-up, build, the tools as users meet them, unit tests by floor
# make times      the time of each test of the last run
# make test-studies  the tests that train each study, in some minutes
# make lint       format, rooms, headers, banned calls, scripts, man pages, clang
# make check      must pass before a commit: lint, test, test under asan
# make ci         CI: check, with all peers that foil is compared with, short
#                 studies, packages, tsan, AVX2 and plain x86-64, processors by
#                 an emulator, ranks in a Debian 13, clang, simulate, rules,
#                 fuzz-smoke and a small pipeline on real data
# make bench      speed as ratios to the peers, in one run (FILTER=name for one)
# make fuzz       fuzz the decoders: F=name for one, N=runs each
# make fuzz-smoke 1,000 runs of each
# make simulate   producer, relays and consumer, service and client in virtual
#                 time: N=schedules of each from SEED=n on; N=1 prints each event
# make rules      without any one rule of the protocol, some test fails
# make cover      lines and functions that the tests execute
# make html       the manual as pages with links, in build/release/html
# make install    PREFIX=/usr/local, LIBDIR=PREFIX/lib, DESTDIR= as usual
# make uninstall  remove exactly what was installed
# make deb        Debian packages of it, in build/deb, a folder to copy
# make fmt, clean
#
# B=name picks a build; each has a folder of its own: release debug asan tsan
# cover fuzz.  ISA=x86-64-v3 or x86-64 limits tests to that instruction set
# (foil(7)), including OpenBLAS.  V=1 shows the commands.  CC, CFLAGS, CPPFLAGS,
# LDFLAGS and PKG_CONFIG are yours.  DEVELOPER=1 makes warnings errors; lint, check
# and ci set it.  Without -jN it builds on all processors.
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS) $(shell echo "$$MAKEFLAGS")),0)
MAKEFLAGS += -j$(shell nproc)
endif

# Several goals of one command run one after the other, each in a make of its
# own: lint compiles the files of all again, and clean deletes them.
ifneq ($(and $(filter 0,$(MAKELEVEL)),$(word 2,$(MAKECMDGOALS)),\
       $(filter-out %/%,$(MAKECMDGOALS))),)
.PHONY: $(MAKECMDGOALS)
.NOTPARALLEL:
$(MAKECMDGOALS):
	+@$(MAKE) --no-print-directory $@
else

B       ?= release
BUILDS  := release debug asan tsan cover fuzz
ifeq ($(filter $(BUILDS),$(B)),)
$(error there is no build '$(B)'; B is one of: $(BUILDS))
endif
CC      ?= cc
NM      ?= nm
PREFIX  ?= /usr/local
LIBDIR  ?= $(PREFIX)/lib
OUT     := build/$(B)

# Rooms, lowest floor first: tests run in this order, so that the first
# failure is the deepest one.
ROOMS   := util num ranks wire image text flow data nn loss sample select stage eval run train

# Libraries; missing ones are reported before anything is compiled.
PKG_CONFIG  ?= pkg-config
LIB_CFLAGS  := $(shell PKG_CONFIG='$(PKG_CONFIG)' scripts/libraries cflags)
LIBS        := $(shell PKG_CONFIG='$(PKG_CONFIG)' scripts/libraries libs) -lm \
               $(if $(filter tsan,$(B)),-lgomp)

# The user may replace flags for optimisation and debugging, not for sanitizers.
CFLAGS_release := -O3 -g
CFLAGS_debug   := -Og -g3
CFLAGS_asan    := -O1 -g1
CFLAGS_tsan    := -O0 -g1
CFLAGS_cover   := -O0 -g
CFLAGS_fuzz    := -O1 -g
CFLAGS         ?= $(CFLAGS_$(B))

MODE_asan    := -fsanitize=address,undefined -fno-sanitize-recover=all \
                -fno-omit-frame-pointer
MODE_cover   := --coverage
MODE_fuzz    := -fsanitize=fuzzer-no-link,address,undefined
# tsan does not support gcc's OpenMP: it would report races in every barrier.
MODE_tsan    := -fsanitize=thread -fno-openmp -Wno-unknown-pragmas \
                -Wno-unused-variable
MODE_release  = -fstack-protector-strong $(FORTIFY)
MODE_debug    = $(MODE_release)
FORTIFY       = $(if $(filter-out -O0,$(filter -O%,$(CFLAGS))),\
                -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)

WARN    := -Wall -Wextra -Wpedantic -Wshadow -Wvla -Wundef -Wpointer-arith \
           -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings
WARN    += -Wno-psabi # notes on vectors of 16 floats, which are inlined
WARN    += $(if $(DEVELOPER),-Werror)

# One set of objects makes tools and library, so all are position-independent;
# without interposition that costs nothing.
INCLUDES     := -Iinclude
OWN_CPPFLAGS  = $(INCLUDES) -D_POSIX_C_SOURCE=200809L $(LIB_CFLAGS)
OWN_CFLAGS    = -std=c11 -fopenmp -fno-math-errno -ffp-contract=off -fPIC \
                -fno-semantic-interposition $(WARN) $(MODE_$(B))
OWN_LDFLAGS  := -Wl,-z,relro,-z,now,--as-needed
# A position-independent program under ASan has a relocation for each global, and two
# shared runtimes, both searched for leaks: twice the page faults at each start.
PROGRAM_asan := -no-pie $(if $(findstring clang,$(CC)),,-static-libasan \
                -static-libubsan)
PROGRAM       = $(or $(PROGRAM_$(B)),-pie)
COMPILER      = $(CC)
COMPILE       = $(COMPILER) $(OWN_CPPFLAGS) $(CPPFLAGS) $(OWN_CFLAGS) $(CFLAGS)
LINK          = $(COMPILER) $(OWN_CFLAGS) $(CFLAGS) $(PROGRAM) $(OWN_LDFLAGS) $(LDFLAGS)

# gcc for aarch64 before 14 crashes on some loops that search for a maximum, when
# it vectorises them: in this file, and in some of the tests.
OLD_ARM      := $(filter aarch64 4 5 6 7 8 9 10 11 12 13,$(shell \
                $(CC) -dumpmachine 2>/dev/null | cut -d- -f1; \
                $(CC) -dumpversion 2>/dev/null))
OLD_ARM      := $(filter-out aarch64,$(if $(filter aarch64,$(OLD_ARM)),$(OLD_ARM)))
NO_VECTORS   := $(OUT)/lib/num/eigen.o $(OUT)/tests/%.o

# $(call say,CC,file) before a command prints a short line instead of it.
say      = $(if $(V),,@printf '  %-4s %s\n' $(1) $(2) &&)

# Calls that lib/util replaces: lint refuses them.
BANNED  := \b(malloc|calloc|realloc|strdup|strcpy|strcat|sprintf|strtok|atoi|atof|rand|gets|system)\(

# A test that takes longer, in seconds, fails.
LIMIT   ?= $(if $(filter asan tsan,$(B)),1200,600)

# Like a processor with fewer instructions.
CORETYPE_x86-64    := Prescott
CORETYPE_x86-64-v3 := Haswell
ifdef ISA
export FOIL_ISA := $(ISA)
export OPENBLAS_CORETYPE := $(CORETYPE_$(ISA))
endif

# Number of parallel tests: three that mostly wait, and others.
JOBS    ?= $(shell echo $$(($$(nproc) + 4)))

LIB     := $(OUT)/libfoil.a
SHARED  := $(OUT)/libfoil.so.1
# Loops are compiled once for each instruction set: x_loops.c as x_loops_any.o ...
LEVELS  := any $(if $(filter x86_64%,$(shell $(CC) -dumpmachine 2>/dev/null)),avx2 avx512)
LOOPS   := $(wildcard lib/num/*_loops.c)
LIB_O   := $(patsubst %.c,$(OUT)/%.o,$(filter-out $(LOOPS),$(wildcard lib/*/*.c))) \
           $(foreach l,$(LEVELS),$(LOOPS:%.c=$(OUT)/%_$l.o))
# This replaces functions of the C library: for tools and tests, not for libfoil.
GATE    := $(OUT)/tools/shared/gate.o
TOOLS   := $(patsubst tools/%.c,$(OUT)/bin/%,$(wildcard tools/*.c)) \
           $(patsubst tools/%.sh,$(OUT)/bin/%,$(wildcard tools/*.sh))
# foil-train for ranks (foil-ranks(7)) is built if there is an MPI.
MPICC   ?= mpicc
MPI     := $(if $(shell command -v $(MPICC)),tools/foil-train/mpi.c)
TOOLS   += $(if $(MPI),$(OUT)/bin/foil-train-mpi)
TESTS   := $(foreach r,$(ROOMS) foil-*,\
           $(patsubst %.c,$(OUT)/%,$(wildcard tests/$(r)/test_*.c)))
# Starts each test, and ends its processes.
ALONE   := $(OUT)/tests/alone
# For shell tests: the program of conformance vectors, a forking Python, and a preloaded
# clock that jumps.
HELPERS := $(OUT)/tests/conformance $(OUT)/tests/forked \
           $(OUT)/tests/skewed_clock.so
FUZZERS := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
BENCHES := $(patsubst %.c,$(OUT)/%,$(wildcard tests/bench/bench_*.c))
STUDIES := $(shell grep -ls '^\# Trains a study' tests/cli/*.sh)
SHORT   := $(shell grep -ls '^\# Trains a study in a minute' tests/cli/*.sh)
WAITS   := $(patsubst %.c,$(OUT)/%,$(shell grep -lsw 'Mostly waits' \
           tests/cli/*.sh tests/*/test_*.c))
RELEASE := $(patsubst %.c,$(OUT)/%,$(shell grep -lsw 'Not for sanitizers' \
           tests/cli/*.sh tests/*/test_*.c))
CLI     := $(filter-out $(STUDIES),$(wildcard tests/cli/*.sh))
HEADERS := $(wildcard include/*/*.h)
SOURCES := $(HEADERS) $(wildcard lib/*/*.c lib/*/*.h tools/*.c tools/*/*.[ch] \
           tests/*.[ch] tests/*/*.[ch])
# Scripts of foil run; their first line has no shell.
PIPELINES := $(shell grep -lsx '\#!/usr/bin/env foil-run' pipelines/* pipelines/studies/*)
SCRIPTS := $(filter-out %.md $(patsubst %/,%,$(wildcard scripts/*/)),$(wildcard scripts/*)) \
           $(wildcard scripts/benchmarks/*.sh scripts/pictures/*.sh pipelines/*/*.sh \
           pipelines/by-hand $(filter-out %.sh,$(wildcard pipelines/bin/*)) tests/*.sh tests/cli/*.sh tools/*.sh) tools/foil.bash .ci/run
MAN     := $(wildcard tools/*.[157])

.PHONY: all help setup demo test times test-studies check ci lint fmt cover \
        fuzz fuzz-smoke simulate rules bench html install uninstall deb run-deb clean
.DELETE_ON_ERROR:
.SECONDARY:

all: $(TOOLS) $(if $(filter release debug,$(B)),$(SHARED))

help:
	@sed -n '/^#/!q; s/^# \{0,1\}//p' Makefile

# setup-LIST installs a list of scripts/setup; NOSETUP=1 skips that.
setup-%: FORCE
	@$(if $(NOSETUP),:,scripts/setup $*)
setup:
	@$(if $(NOSETUP),:,scripts/setup test lint)

# The commands for all objects: new flags rebuild them, and search for the
# libraries.
$(OUT)/flags: export FLAGS := $(COMPILE) $(LINK) $(LIBS)
$(OUT)/flags: FORCE
	@mkdir -p $(@D)
	@echo "$$FLAGS" | cmp -s - $@ || { CC='$(CC)' CPPFLAGS='$(CPPFLAGS)' \
	    PKG_CONFIG='$(PKG_CONFIG)' scripts/libraries check && \
	    echo "$$FLAGS" >$@; }
.PHONY: FORCE

# Each object x.o has a file x.d with its headers.
define compile
	@mkdir -p $(@D)
	$(call say,CC,$(@:$(OUT)/%.o=%)) $(COMPILE) -MMD -MP -c $< -o $@
endef
$(OUT)/%.o: %.c $(OUT)/flags
	$(compile)
$(OUT)/%_any.o: %.c $(OUT)/flags
	$(compile)
$(OUT)/%_avx2.o: %.c $(OUT)/flags
	$(compile)
$(OUT)/%_avx512.o: %.c $(OUT)/flags
	$(compile)

$(LIB): $(LIB_O)
	@rm -f $@
	$(call say,AR,$@) $(AR) rcs $@ $^

# The shared library exports the functions that the headers in include/ declare.
$(OUT)/libfoil.map: $(LIB) $(HEADERS)
	$(call say,MAP,$@) NM='$(NM)' CC='$(CC)' scripts/exports $^ >$@

$(SHARED): $(LIB) $(OUT)/libfoil.map
	$(call say,LD,$@) $(CC) $(OWN_CFLAGS) $(CFLAGS) -shared $(OWN_LDFLAGS) \
	    $(LDFLAGS) -Wl,-soname,$(@F),--version-script,$(OUT)/libfoil.map \
	    -Wl,--no-undefined,--whole-archive $(LIB) -Wl,--no-whole-archive \
	    $(LIBS) -o $@

# A tool is tools/foil-x.c, and the files in tools/foil-x/, if any.
parts    = $(patsubst %.c,$(OUT)/%.o,$(filter-out %/mpi.c,\
           $(wildcard tools/$(1)/*.c)))
tested   = $(if $(filter foil-%,$(1)),$(call parts,$(1)))
.SECONDEXPANSION:
$(OUT)/bin/%: $(OUT)/tools/%.o $$(call parts,$$*) $(GATE) $(LIB)
	@mkdir -p $(@D)
	$(call say,LD,$@) $(LINK) $^ $(LIBS) -o $@

# The same with other ranks, by the compiler of the MPI.
$(OUT)/bin/foil-train-mpi: $(OUT)/tools/foil-train.o \
                           $(filter-out %/alone.o,$(call parts,foil-train)) \
                           $(MPI:%.c=$(OUT)/%.o) $(GATE) $(LIB)
	@mkdir -p $(@D)
	$(call say,LD,$@) $(LINK) $^ $(LIBS) -o $@
$(OUT)/bin/foil-train-mpi $(MPI:%.c=$(OUT)/%.o): private COMPILER = \
    OMPI_CC='$(CC)' MPICH_CC='$(CC)' $(MPICC)

$(OUT)/bin/%: tools/%.sh
	@mkdir -p $(@D)
	$(call say,CP,$@) install -m 755 $< $@

# The page of foil-view is embedded in the program; dygraphs, of Debian, draws its
# curves.
DYGRAPHS := /usr/share/javascript/dygraphs
PAGE     := $(wildcard tools/foil-view/page/*) $(DYGRAPHS)/dygraph.min.js \
            $(DYGRAPHS)/dygraph.min.css
$(DYGRAPHS)/%: ;
$(OUT)/tools/foil-view-assets.o: $(PAGE)
$(OUT)/bin/foil-view $(patsubst %.c,$(OUT)/%,$(wildcard tests/foil-view/test_*.c)): \
    $(OUT)/tools/foil-view-assets.o
# foil-embed has the file that opens an exported encoder in PyTorch.
$(OUT)/tools/foil-embed-assets.o: tools/foil-embed/hubconf.py
$(OUT)/bin/foil-embed: $(OUT)/tools/foil-embed-assets.o
$(OUT)/tools/%-assets.o: scripts/embed $(OUT)/flags
	@mkdir -p $(@D)
	$(call say,EMBED,$@) scripts/embed $(filter-out $(OUT)/flags $<,$^) >$(@:.o=.c) && \
	    $(COMPILE) -c $(@:.o=.c) -o $@

# A test in tests/foil-x/ is linked with the parts of that tool.
$(OUT)/tests/%: $(OUT)/tests/%.o $$(call tested,$$(*D)) \
                $$(if $$(filter wire/test_ungated,$$*),,$(GATE)) $(LIB)
	$(call say,LD,$@) $(LINK) $^ $(LIBS) -o $@

# It is loaded into other programs, too, so it has no sanitizer.
$(OUT)/tests/%.so: tests/%.c $(OUT)/flags
	@mkdir -p $(@D)
	$(call say,LD,$@) $(CC) -std=c11 $(WARN) -O1 -fPIC -shared $< -o $@

$(OUT)/tests/%.o: INCLUDES += -Itests -Ilib
$(OUT)/tests/foil-%.o: INCLUDES += -Itools
$(OUT)/tests/fuzz/%: OWN_LDFLAGS += -fsanitize=fuzzer
# It defines functions of the C library that fortified headers define, too.
$(GATE) $(OUT)/tests/wire/test_ungated.o: FORTIFY :=
$(OUT)/tests/wire/test_ungated.o: INCLUDES += -Itools
# Most of the code that sanitizers run; -O3 takes four times as long to compile.
$(OUT)/lib/num/%.o: CFLAGS_asan := -O2 -g1
# Tests compile in half of the time of -O3; some compute.
$(OUT)/tests/%.o: CFLAGS_release := -O1 -g
$(OUT)/tests/bench/%.o $(OUT)/tests/sample/%.o: CFLAGS_release := -O3 -g
# Tools compute nothing; -O3 takes 7 seconds to unroll the loops of foil-view/hub.c.
$(OUT)/tools/%.o: CFLAGS_release := -O2 -g
$(OUT)/tests/%.o $(OUT)/tools/%.o: CFLAGS_asan := -O0 -g1
$(foreach r,num nn loss sample eval,$(OUT)/tests/$(r)/%.o): CFLAGS_asan := -O1 -g1
# Loops for one instruction set, chosen at run time.
$(OUT)/lib/num/%_loops_any.o: OWN_CFLAGS += -DLEVEL=any -DLANES_WIDE=4
$(OUT)/lib/num/%_loops_avx2.o: OWN_CFLAGS += -DLEVEL=avx2 -DLANES_WIDE=8 -mavx2 -mfma -mprfchw
$(OUT)/lib/num/%_loops_avx512.o: OWN_CFLAGS += -DLEVEL=avx512 -DLANES_WIDE=16 -mavx512f \
    -mavx512bw -mavx512dq -mavx512vl -mavx512cd -mfma -mprfchw
$(NO_VECTORS): OWN_CFLAGS += $(if $(OLD_ARM),-fno-tree-loop-vectorize)

# The set-up may install libraries that the build queries pkg-config for, so the
# build is a make of its own.
test: setup-test
	@$(MAKE) --no-print-directory run-tests

# Tests with a line "Mostly waits" start first, in three queues, while the others
# use the processors.
queues   = $(foreach q,$(shell scripts/queues 3 $(1)),--rules 'seq={$(q)}') \
           $(2:%=--rules 'seq=%')
in_order = $(call queues,$(filter $(WAITS),$(1)),$(filter-out $(WAITS),$(1)))

# Where tests write: into memory if 4 GB of it are free and it may contain programs;
# making and removing files on a disk takes longer than most tests.
SCRATCH  = $(or $(TMPDIR),$(shell \
           grep -q ' /dev/shm [^ ]* [^ ]*noexec' /proc/mounts || \
           df -k --output=avail,target /dev/shm 2>/dev/null \
           | awk '$$1 + 0 > 4e6 { print $$2 }'),/tmp)

# $(call prove,TEST...,FOLDER) runs them, and prints skipped checks.  A second run
# waits for the lock, since both write to that folder.
# The tests have nice 5, so that a planner or a follower that they wait for does not
# starve; at 15 kernels spend half of the time on ends of processes, at 5 none.
define prove
	@exec 9>$(OUT)/$(2).lock; flock -n 9 || { \
	    echo 'make: waiting for the end of other tests in $(OUT)' >&2; flock 9; }; \
	rm -rf $(OUT)/$(2) && mkdir -p $(OUT)/$(2) && \
	B=$(B) BIN=$(OUT)/bin ALONE=$(ALONE) TAP=$(OUT)/$(2) TMPDIR='$(SCRATCH)' \
	    LIMIT=$(LIMIT) \
	    OMP_NUM_THREADS=1 GOMP_SPINCOUNT=0 \
	    nice -n 5 prove -j $(JOBS) --timer --failures --comments \
	    $(call in_order,$(1)) -e scripts/test $(1) 9>&- && \
	scripts/check-skips $(OUT)/$(2) 9>&-
endef

.PHONY: run-tests run-units run-threads warnings
# Unit tests come last, since they are short and never wait: no processor is idle
# at the end.  ALSO has further tests.  A test with a line "Not for sanitizers" is
# skipped under them, since others run the same code.
SEEN    := $(filter-out $(if $(filter-out release,$(B)),$(RELEASE)),\
           $(ALSO) $(CLI) $(TESTS))
run-tests: programs
	$(call prove,$(SEEN),tap)
.PHONY: programs
programs: $(SEEN) $(HELPERS) $(ALONE) all $(if $(filter release,$(B)),$(BENCHES))

# Unit tests alone; of some rooms: ROOMS='num nn'.
run-units: $(TESTS) $(ALONE)
	$(call prove,$(TESTS),tap)

# Tests for one instruction set (ISA): kernels, the demo, a study, a recipe.
KERNELS := $(foreach r,util num image text data nn loss sample select eval,\
           $(filter $(OUT)/tests/$(r)/%,$(TESTS)))
.PHONY: run-bound
run-bound: $(KERNELS) $(HELPERS) $(ALONE) all
	$(call prove,$(addprefix tests/cli/,demo.sh recipes.sh filter.sh study-geometry.sh) \
	    $(filter-out $(OUT)/tests/sample/%,$(KERNELS)) \
	    $(filter-out $(RELEASE),$(filter $(OUT)/tests/sample/%,$(KERNELS))),tap-$(ISA))

# In parallel, since most of the time of each is a study in one process.  A processor
# without AVX-512 has x86-64-v3 anyway.
AVX512 := $(shell grep -m 1 -o avx512f /proc/cpuinfo)
BOUND := $(AVX512:%=bound-x86-64-v3) bound-x86-64
.PHONY: $(BOUND)
$(BOUND): bound-%:
	+@$(DEV) ISA=$* run-bound

# Processors by an emulator.
EMULATED := $(AVX512:%=emulate-Haswell-noTSX) emulate-Nehalem
.PHONY: $(EMULATED)
$(EMULATED): emulate-%:
	@mkdir -p $(OUT)/tap-$* && EMULATED=$* BIN=$(OUT)/bin ALONE=$(ALONE) \
	    TAP=$(OUT)/tap-$* prove -e scripts/test scripts/emulate

# Code with threads of its own: the watch for signals, the spare thread, the
# answers about keys, and foil-select's planner.
THREADED := $(OUT)/tests/util/test_stop $(OUT)/tests/util/test_lock \
            $(OUT)/tests/util/test_spare \
            $(OUT)/tests/stage/test_program_life \
            $(OUT)/tests/train/test_checkpoints \
            $(OUT)/tests/wire/test_zap \
            $(OUT)/tests/ranks/test_ranks \
            $(OUT)/tests/foil-select/test_planner
run-threads: $(THREADED) $(ALONE)
	$(call prove,$(THREADED),tap)

# The compiler's warnings for all sources: those with flags or a compiler of their own
# are compiled, like the library, the others only checked.
READ    := $(filter tools/%.c tests/%.c,$(filter-out %/shared/gate.c %/mpi.c,$(SOURCES)))
warnings: INCLUDES += -Itests -Ilib -Itools
warnings: $(LIB_O) $(GATE) $(MPI:%.c=$(OUT)/%.o)
	@printf '%s\n' $(READ) | xargs -P $$(nproc) -n 20 $(COMPILE) -fsyntax-only

# Tests of ranks alone, for another Open MPI: scripts/debian13 run-ranks
.PHONY: run-ranks run-ranked
run-ranks: setup-ranks
	@$(MAKE) --no-print-directory run-ranked
run-ranked: $(filter-out %-view %-tap %-embed %-eval %-runs,$(TOOLS)) $(ALONE)
	$(call prove,$(wildcard tests/cli/ranks*.sh tests/cli/slurm-*.sh),tap-ranks)

# The same in a Debian 13.  If it or its packages cannot be installed, that is
# reported and is no failure.
.PHONY: ranks-13
ranks-13:
	@timeout 900 scripts/debian13 setup-ranks >$(OUT)/debian13.log 2>&1 || { \
	    echo 'make: ranks by Open MPI 5 are not tested, for lack of a Debian 13:'; \
	    tail -n 3 $(OUT)/debian13.log; exit 0; }; \
	nice -n 5 scripts/debian13 -j$$(nproc) CFLAGS=-O1 run-ranked

test-studies: setup-test
	@$(MAKE) --no-print-directory run-studies

.PHONY: run-studies
run-studies: $(TOOLS) $(ALONE)
	$(call prove,$(STUDIES),tap-studies)

times:
	@awk '{ all += $$1 + $$2; printf "%8.1f %8.1f  %s\n", $$1 + $$2, $$3, $$4 } \
	    END { printf "%8.1f           all\n", all }' $(OUT)/tap/times | sort -rn

# The demo builds only the tools that it runs.
DEMO_TOOLS := $(addprefix $(OUT)/bin/,foil foil-run foil-data foil-select foil-augment \
              foil-train foil-embed foil-eval)
demo: setup-demo
	@$(MAKE) --no-print-directory $(DEMO_TOOLS)
	$(OUT)/bin/foil run demo

# A make for developers.
DEV := $(MAKE) --no-print-directory DEVELOPER=1

check: setup
	+@$(DEV) lint
	+@$(DEV) run-tests
	+@$(DEV) B=asan run-tests

# Most of these, and apt-get, use one processor, or wait, for a part of their time, so
# they run in parallel, one more than there are processors: first the longest, last
# those that use all processors.
CHECKS := ci-asan ranks-13 $(EMULATED) run-lint ci-smoke deb ci-clones ci-tsan ci-clang \
          $(BOUND) rules ci-simulate fuzz-smoke
ci:
	@scripts/setup test
	+@$(DEV) -j$$(($$(nproc) + 1)) ci-packages programs
	+@$(DEV) run-tests ALSO='$(filter-out %/study-geometry.sh,$(SHORT))' # BOUND has it
	+@$(DEV) -j$$(($$(nproc) + 1)) -Otarget $(CHECKS)

.PHONY: ci-packages ci-asan ci-tsan ci-clang ci-clones ci-simulate ci-smoke
ci-packages:
	@scripts/setup page lint fuzz peers deb machines
ci-asan:
	+@$(DEV) B=asan run-tests
ci-tsan:
	+@$(DEV) B=tsan run-threads
ci-clang:
	+@$(DEV) CC=clang OUT=build/clang CFLAGS=-O1 ROOMS='num nn loss' warnings run-units
ci-clones:
	@tests/clones.py --check $(LIB)
ci-simulate:
	+@$(DEV) simulate N=100000
ci-smoke:
	@mkdir -p $(OUT)/tap-smoke
	@BIN=$(OUT)/bin ALONE=$(ALONE) TAP=$(OUT)/tap-smoke \
	    prove -v -e scripts/test scripts/smoke
	@scripts/check-skips $(OUT)/tap-smoke

bench: setup-bench
	@$(MAKE) --no-print-directory run-bench

.PHONY: run-bench
run-bench: $(TOOLS) $(BENCHES)
	BIN=$(OUT)/bin BENCH=$(OUT)/tests/bench scripts/bench $(FILTER)

lint:
	@$(if $(NOSETUP),:,scripts/setup lint fuzz)
	+@$(DEV) run-lint
	+$(call say,LINT,clang) $(DEV) CC=clang OUT=build/clang CFLAGS=-O1 warnings

.PHONY: run-lint
run-lint: $(TOOLS) $(OUT)/tests/wire/messages
	$(call say,LINT,format) clang-format --dry-run -Werror $(SOURCES)
	$(call say,LINT,rooms) scripts/check-rooms
	$(call say,LINT,calls) ! grep -nE '$(BANNED)' \
	    $(filter-out lib/util/mem.c,$(wildcard lib/*/*.c)) \
	    $(wildcard tools/*.c tools/*/*.c) || { \
	    echo 'these calls are banned: Memory in lib/README.md 3'; exit 1; }
	$(call say,LINT,headers) BUILD='$(COMPILE)' \
	    scripts/check-headers
	$(call say,LINT,analysis) cppcheck -q -j 2 --enable=warning,portability \
	    --error-exitcode=1 --std=c11 --suppressions-list=.cppcheck \
	    -Iinclude lib tools
	$(call say,LINT,page) scripts/check-page
	$(call say,LINT,scripts) printf '%s\n' $(SCRIPTS) | \
	    xargs -P $$(nproc) -n 20 shellcheck -x && shellcheck -s sh $(PIPELINES)
	$(call say,LINT,types) mypy --config-file pipelines/python/pyproject.toml \
	    --cache-dir build/mypy pipelines/python/foil.py pipelines/python/foil_torch.py
	$(call say,LINT,manual) mandoc -T lint -W warning $(MAN)
	$(call say,LINT,synopses) BIN=$(OUT)/bin scripts/check-man
	$(call say,LINT,tables) BIN=$(OUT)/bin scripts/check-tables
	$(call say,LINT,links) scripts/check-links
	$(call say,LINT,messages) scripts/check-messages $(OUT)/tests/wire/messages
	$(call say,LINT,states) scripts/check-states
	$(call say,LINT,comments) scripts/check-comments
	$(call say,LINT,advice) scripts/check-words; scripts/check-names; scripts/check-sizes

fmt:
	@clang-format -i $(SOURCES)

cover:
	@$(if $(NOSETUP),:,scripts/setup test cover)
	$(MAKE) B=cover run-tests
	lcov -q -c -d build/cover -o build/cover/all.info
	lcov -q -e build/cover/all.info '*/lib/*' -o build/cover/lib.info
	lcov --list build/cover/lib.info

# Each target is a test: if one fails, the others still run, and it is named at
# the end.
F ?= $(FUZZERS)
N ?= 1000000
fuzz: setup-fuzz
	@$(MAKE) --no-print-directory B=fuzz CC=clang RUNS=$(N) run-fuzz

SIMULATIONS := $(addprefix $(OUT)/tests/flow/test_,simulation services)
simulate: $(SIMULATIONS)
	@for s in $(SIMULATIONS); do scripts/simulate $$s $(N) $(SEED) || exit; done

RULED   := $(addprefix $(OUT)/tests/flow/test_,simulation services producer \
               late relay consumer greeting peer_table request handover)
rules: $(RULED)
	@OUT=$(OUT) CC='$(CC)' tests/flow/rules.py

fuzz-smoke:
	@$(MAKE) --no-print-directory fuzz N=1000 SEED=1 CFLAGS='-O0 -g1'

.PHONY: run-fuzz
run-fuzz: $(F:%=$(OUT)/tests/fuzz/fuzz_%)
	@RUNS=$(RUNS) SEED=$(SEED) prove -j $(JOBS) --timer --failures --comments \
	    -e scripts/fuzz $^

html:
	@scripts/html $(OUT)/html

install: all
	@DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' LIBDIR='$(LIBDIR)' OUT=$(OUT) \
	    PKG_CONFIG='$(PKG_CONFIG)' scripts/install $(TOOLS)

uninstall:
	@DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' scripts/install --undo

deb: setup-deb
	@$(MAKE) --no-print-directory run-deb
run-deb: all
	@OUT=$(OUT) PKG_CONFIG='$(PKG_CONFIG)' scripts/deb $(TOOLS)

clean:
	rm -rf build

.PHONY: print-%
print-%:
	@echo $($*)

-include $(wildcard $(OUT)/*/*.d $(OUT)/*/*/*.d)

endif # one goal
