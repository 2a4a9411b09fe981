# make            build the tools into build/release/bin
# make demo       set-up, build, and the whole pipeline on real images
# make test       set-up, build, unit tests by floor, the tools as users meet them
# make lint       format, rooms, headers, banned calls, scripts, man pages
# make check      what must pass before a commit: lint, test, test under asan
# make ci         what CI runs: check, with all that foil is compared with, then
#                 fuzz-smoke and a small pipeline on real data
# make bench      speed as ratios to the peers, in one run (FILTER=name for one)
# make fuzz       feed the decoders noise: F=name for one, N=runs each
# make fuzz-smoke 1,000 runs of each
# make cover      lines and functions that the tests reach
# make install    PREFIX=/usr/local, DESTDIR= as usual
# make fmt, clean
#
# B=name picks a build; each has a folder of its own: release debug asan cover.
# V=1 shows the commands that build.
B       ?= release
BUILDS  := release debug asan cover fuzz
ifeq ($(filter $(BUILDS),$(B)),)
$(error there is no build '$(B)'; B is one of: $(BUILDS))
endif
CC      ?= cc
PREFIX  ?= /usr/local
OUT     := build/$(B)

# Rooms, lowest floor first: tests run in this order, so that the first
# failure is the deepest one.
ROOMS   := util num wire flow data nn loss sample select eval train

# oneDNN and libarchive bring no usable .pc of their own in Debian 12.  The
# OpenMP build of OpenBLAS is named by its folder: Debian's alternative may
# point at the pthread build, which fights with oneDNN's threads.
# msgpack's C library is called msgpack-c since Debian 13.
MSGPACK := $(shell pkg-config --exists msgpack-c 2>/dev/null && echo msgpack-c \
           || echo msgpack)
PKGS    := libzmq $(MSGPACK) jansson libxxhash libjpeg libpng zlib
BLAS    := /usr/lib/$(shell $(CC) -print-multiarch 2>/dev/null)/openblas-openmp
LDLIBS  := -L$(BLAS) -Wl,-rpath,$(BLAS) -lopenblas -ldnnl -larchive \
           $(shell pkg-config --libs $(PKGS) 2>/dev/null) -fopenmp -lm

CFLAGS_release := -O3 -g
CFLAGS_debug   := -Og -g3
CFLAGS_asan    := -O1 -g -fsanitize=address,undefined \
                  -fno-sanitize-recover=all -fno-omit-frame-pointer
CFLAGS_cover   := -O0 -g --coverage
CFLAGS_fuzz    := -O1 -g -fsanitize=fuzzer-no-link,address,undefined

WARN    := -Wall -Wextra -Wpedantic -Wshadow -Wvla -Wundef -Wpointer-arith \
           -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings -Werror
WARN    += -Wno-psabi # notes on vectors of 16 floats, which are inlined
CPPFLAGS += -Iinclude -D_POSIX_C_SOURCE=200809L
PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
CFLAGS  += -std=c11 -fopenmp -fno-math-errno $(WARN) $(CFLAGS_$(B)) $(PKG_CFLAGS)

# $(call say,CC,file) before a command prints a short line in place of it.
say      = $(if $(V),,@printf '  %-4s %s\n' $(1) $(2) &&)

# Calls with a better way in lib/util: lint refuses them.
BANNED  := \b(malloc|calloc|realloc|strdup|strcpy|strcat|sprintf|strtok|atoi|atof|rand|gets|system)\(

# Packages that only some targets want: what foil is compared with, and what
# builds fuzz targets.
PEERS   := python3-torch python3-torchvision python3-pil python3-sklearn
FUZZER  := clang libclang-rt-14-dev

# How many tests run at a time.
JOBS    ?= 2

LIB     := $(OUT)/libfoil.a
LIB_O   := $(patsubst %.c,$(OUT)/%.o,$(wildcard lib/*/*.c))
TOOLS   := $(patsubst tools/%.c,$(OUT)/bin/%,$(wildcard tools/*.c)) \
           $(patsubst tools/%.sh,$(OUT)/bin/%,$(wildcard tools/*.sh))
TESTS   := $(foreach r,$(ROOMS) foil-*,\
           $(patsubst %.c,$(OUT)/%,$(wildcard tests/$(r)/test_*.c)))
CONFORM := $(patsubst %.c,$(OUT)/%,$(wildcard tests/conformance.c))
FUZZERS := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
BENCHES := $(patsubst %.c,$(OUT)/%,$(wildcard tests/bench/bench_*.c))
CLI     := $(wildcard tests/cli/*.sh)
HEADERS := $(wildcard include/*/*.h)
SOURCES := $(HEADERS) $(wildcard lib/*/*.c lib/*/*.h tools/*.c tools/*/*.[ch] \
           tests/*.[ch] tests/*/*.[ch])
SCRIPTS := $(filter-out scripts/benchmarks,$(wildcard scripts/*)) \
           $(wildcard scripts/benchmarks/*.sh pipelines/*.sh tests/*.sh tests/cli/*.sh \
           tools/*.sh) .ci/run
MAN     := $(wildcard tools/*.[157])

.PHONY: all setup demo test check ci lint fmt cover fuzz fuzz-smoke bench install clean
.DELETE_ON_ERROR:
.SECONDARY:

all: $(TOOLS)

setup:
	@scripts/setup

# Each object leaves a .d beside it: the headers it was made from.
$(OUT)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call say,CC,$<) $(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

$(LIB): $(LIB_O)
	@rm -f $@
	$(call say,AR,$@) $(AR) rcs $@ $^

# A tool is one file, tools/foil-x.c, and what is in tools/foil-x/ if anything.
parts    = $(patsubst %.c,$(OUT)/%.o,$(wildcard tools/$(1)/*.c))
tested   = $(if $(filter foil-%,$(1)),$(call parts,$(1)))
.SECONDEXPANSION:
$(OUT)/bin/%: $(OUT)/tools/%.o $$(call parts,$$*) $(LIB)
	@mkdir -p $(@D)
	$(call say,LD,$@) $(CC) $(CFLAGS) $^ $(LDFLAGS) $(LDLIBS) -o $@

$(OUT)/bin/%: tools/%.sh
	@mkdir -p $(@D)
	$(call say,CP,$@) install -m 755 $< $@

# A test in tests/foil-x/ is of the parts of that tool, and linked with them.
$(OUT)/tests/%: $(OUT)/tests/%.o $$(call tested,$$(*D)) $(LIB)
	$(call say,LD,$@) $(CC) $(CFLAGS) $^ $(LDFLAGS) $(LDLIBS) -o $@

$(OUT)/tests/%.o: CPPFLAGS += -Itests -Ilib
$(OUT)/tests/foil-%.o: CPPFLAGS += -Itools
$(OUT)/tests/fuzz/%: LDFLAGS += -fsanitize=fuzzer

# The set-up comes first and may bring the very libraries that the build asks
# pkg-config for, so the build is a make of its own.
test: setup
	@$(MAKE) --no-print-directory run-tests

.PHONY: run-tests
run-tests: $(TESTS) $(CONFORM) $(TOOLS) $(BENCHES)
	@rm -rf $(OUT)/tap && mkdir -p $(OUT)/tap
	@B=$(B) BIN=$(OUT)/bin TAP=$(OUT)/tap OMP_NUM_THREADS=1 prove -j $(JOBS) \
	    --timer --failures --comments -e scripts/test $(TESTS) $(CLI)
	@scripts/check-skips $(OUT)/tap

demo: setup
	@$(MAKE) --no-print-directory all
	$(OUT)/bin/foil run demo

check: setup
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory run-tests
	@$(MAKE) --no-print-directory B=asan run-tests

ci:
	@scripts/setup $(FUZZER) $(PEERS)
	@$(MAKE) --no-print-directory run-tests
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory B=asan run-tests
	@$(MAKE) --no-print-directory fuzz-smoke
	@mkdir -p $(OUT)/tap-smoke
	@BIN=$(OUT)/bin TAP=$(OUT)/tap-smoke prove -v -e scripts/test scripts/smoke
	@scripts/check-skips $(OUT)/tap-smoke

bench:
	@scripts/setup $(PEERS)
	@$(MAKE) --no-print-directory run-bench

.PHONY: run-bench
run-bench: $(TOOLS) $(BENCHES)
	BIN=$(OUT)/bin BENCH=$(OUT)/tests/bench scripts/bench $(FILTER)

lint: $(TOOLS)
	$(call say,LINT,format) clang-format --dry-run -Werror $(SOURCES)
	$(call say,LINT,rooms) scripts/check-rooms
	$(call say,LINT,calls) ! grep -nE '$(BANNED)' \
	    $(filter-out lib/util/mem.c,$(wildcard lib/*/*.c)) \
	    $(wildcard tools/*.c tools/*/*.c)
	$(call say,LINT,headers) BUILD='$(CC) $(CPPFLAGS) $(CFLAGS)' \
	    scripts/check-headers
	$(call say,LINT,analysis) cppcheck -q -j 2 --enable=warning,portability \
	    --error-exitcode=1 --std=c11 --suppressions-list=.cppcheck \
	    -Iinclude lib tools
	$(call say,LINT,scripts) shellcheck -x $(SCRIPTS)
	$(call say,LINT,manual) mandoc -T lint -W warning $(MAN)
	$(call say,LINT,synopses) BIN=$(OUT)/bin scripts/check-man
	$(call say,LINT,tables) BIN=$(OUT)/bin scripts/check-tables

fmt:
	clang-format -i $(SOURCES)

cover:
	@scripts/setup lcov
	$(MAKE) B=cover run-tests
	lcov -q -c -d build/cover -o build/cover/all.info
	lcov -q -e build/cover/all.info '*/lib/*' -o build/cover/lib.info
	lcov --list build/cover/lib.info

# Each target is a test: one that fails does not keep the others from running,
# and is named at the end.
F ?= $(FUZZERS)
N ?= 1000000
fuzz:
	@scripts/setup $(FUZZER)
	@$(MAKE) --no-print-directory B=fuzz CC=clang RUNS=$(N) run-fuzz

fuzz-smoke:
	@$(MAKE) --no-print-directory fuzz N=1000 SEED=1

.PHONY: run-fuzz
run-fuzz: $(F:%=$(OUT)/tests/fuzz/fuzz_%)
	@RUNS=$(RUNS) SEED=$(SEED) prove -j $(JOBS) --timer --failures --comments \
	    -e scripts/fuzz $^

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/foil
	install $(TOOLS) $(DESTDIR)$(PREFIX)/bin
	cp -R pipelines $(DESTDIR)$(PREFIX)/share/foil
	for m in $(MAN); do install -D -m 644 $$m \
	    $(DESTDIR)$(PREFIX)/share/man/man$${m##*.}/$${m##*/}; done

clean:
	rm -rf build

.PHONY: print-%
print-%:
	@echo $($*)

-include $(wildcard $(OUT)/*/*.d $(OUT)/*/*/*.d)
